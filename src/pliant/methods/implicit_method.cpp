// The row of method "implicit" in the table of methods.

#include "pliant/methods/implicit.hpp"
#include "pliant/methods/implicit_memory.hpp"
#include "pliant/methods/path_options.hpp"

namespace pliant {
namespace {

using O = ImplicitOptions;
using V = OptionValue;

SolverKind solver_kind(std::string_view word)
{
    if (word == "ica-paper") return SolverKind::ica_paper;
    if (word == "anticipation") return SolverKind::anticipation;
    if (word == "augmented-lagrangian") return SolverKind::augmented_lagrangian;
    if (word == "local") return SolverKind::local;
    if (word == "ica") return SolverKind::ica;
    return SolverKind::automatic;
}

// clang-format off
constexpr MethodOption options[] = {
    {.path = "contact.friction-cone", .kind = OptionKind::choice, .words = "pyramid exact", .fallback = "pyramid",
     .meaning = "`pyramid`: friction is limited along two axes, the first along the sliding direction; `exact`: Coulomb's disc.",
     .set = setter<O>([](O& o, const V& v) { o.solver.cone = v.word == "exact" ? FrictionCone::exact : FrictionCone::pyramid; })},
    {.path = "contact.solver", .kind = OptionKind::choice, .words = "auto augmented-lagrangian ica ica-paper anticipation local", .fallback = "auto",
     .meaning = "`auto`: `augmented-lagrangian` for parts with cloth, unless they have more nodes of solids than of cloth; `ica` for the others; `augmented-lagrangian`: nonlinear conjugate gradients with multigrid, limits of strain included; `ica`: iterative constraint anticipation, accelerated; `ica-paper`: the same as published, with its own rule for stopping; `anticipation`: full constraint anticipation with a direct factorisation, for small scenes; `local`: pushes only the nodes in contact, by their masses, as responses do that are unaware of the dynamics: it keeps bodies apart but adds energy, and is there for comparison.",
     .set = setter<O>([](O& o, const V& v) { o.solver.kind = solver_kind(v.word); })},
    {.path = "contact.tolerance", .kind = OptionKind::number, .range = {0, 1, true, true}, .fallback = "1e-3",
     .meaning = "Residual, free of units, at which the contact solver stops.",
     .set = setter<O>([](O& o, const V& v) { o.solver.tolerance = v.number; })},
    {.path = "contact.max-iterations", .kind = OptionKind::integer, .range = between(1, 1e6), .fallback = "100",
     .meaning = "Iterations after which the contact solver hands over its best answer; continuous detection then decides whether the step is safe. Where much weight lies on cloth, `augmented-lagrangian` takes up to three times as many.",
     .set = setter<O>([](O& o, const V& v) { o.solver.max_iterations = static_cast<int>(v.number); })},
    {.path = "contact.linearisations", .kind = OptionKind::integer, .range = between(1, 20), .fallback = "4",
     .meaning = "How often the elastic forces of a solid may be linearised in a step: again where it came to, as long as its elastic energy is not the one that was solved for. 1 is the paper's.",
     .set = setter<O>([](O& o, const V& v) { o.linearisations = static_cast<int>(v.number); })},
    {.path = "contact.max-rounds", .kind = OptionKind::integer, .range = between(1, 100), .fallback = "5",
     .meaning = "Rounds of constraint manifold refinement before a step is halved.",
     .set = setter<O>([](O& o, const V& v) { o.max_rounds = static_cast<int>(v.number); })},
    {.path = "contact.max-halvings", .kind = OptionKind::integer, .range = between(0, 10), .fallback = "2",
     .meaning = "Halvings of a step before zones of impact take over.",
     .set = setter<O>([](O& o, const V& v) { o.max_halvings = static_cast<int>(v.number); })},
    ccd_option<O>,
    pinch_option<O>,
    culling_option<O>,
};
// clang-format on

} // namespace

MethodInfo implicit_method()
{
    return {
        .name = "implicit",
        .about = "implicit contact with Coulomb friction; nothing ever passes through anything, unless `pinch: "
                 "release` says so",
        .promise = [](const MethodOptions& o) { return Promise{keeps_apart(o.get<O>())}; },
        .why_not = why_not_without_forces,
        .options = options,
        .default_options = []() -> std::any { return O(); },
        .columns = ImplicitReport::member_names,
        .empty_memory = []() -> Record { return ImplicitMemory(); },
        .make = [](const World& world, const MethodOptions& o) -> std::unique_ptr<Method> {
            return std::make_unique<ImplicitContact>(world, o.get<O>());
        },
    };
}

} // namespace pliant
