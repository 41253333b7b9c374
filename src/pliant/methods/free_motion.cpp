#include "pliant/methods/free_motion.hpp"

#include "pliant/dynamics/strain_limit.hpp"

namespace pliant {
namespace {

Integrator integrator(std::string_view word)
{
    if (word == "verlet") return Integrator::verlet;
    if (word == "symplectic-euler") return Integrator::symplectic_euler;
    return Integrator::backward_euler;
}

constexpr MethodOption options[] = {
    {.path = "time.integrator",
     .kind = OptionKind::choice,
     .words = "backward-euler symplectic-euler verlet",
     .fallback = "backward-euler",
     .meaning = "How free motion is integrated; the explicit ones take as many stable sub-steps as they need.",
     .elsewhere = Elsewhere::refused,
     .set = setter<FreeMotionOptions>(
         [](FreeMotionOptions& o, const OptionValue& v) { o.integrator = integrator(v.word); })},
};

} // namespace

MethodInfo free_motion_method()
{
    return {
        .name = "none",
        .about = "no contact at all; bodies pass through each other",
        .promise = [](const MethodOptions&) { return Promise{}; },
        .why_not = why_not_without_forces,
        .options = options,
        .default_options = []() -> std::any { return FreeMotionOptions(); },
        .columns = FreeMotionReport::member_names,
        .empty_memory = []() -> Record { return FreeMotionMemory(); },
        .make = [](const World& world, const MethodOptions& o) -> std::unique_ptr<Method> {
            return std::make_unique<FreeMotion>(world, o.get<FreeMotionOptions>());
        },
    };
}

FreeMotion::FreeMotion(const World& world, const FreeMotionOptions& options_in)
    : options_(options_in), system_(world.model), explicit_(world.model, options_in.integrator)
{}

StepReport FreeMotion::step(World& world, Real dt)
{
    StepReport report;
    FreeMotionReport& own = report.own.use<FreeMotionReport>();
    const Model& model = world.model;
    State& state = world.state;
    if (options_.integrator != Integrator::backward_euler) {
        const ScopedTimer timer(report.profile, "integrate");
        const Real end = state.time + dt;
        report.substeps = take_stable_substeps(model, state, dt, 1, [&](Real h, bool last) {
            explicit_.substep(model, state, h);
            if (inner_states == InnerStates::kept && !last)
                report.inner.push_back({state.time, state.position, state.orientation});
        });
        state.time = end; // the sum of the sub-steps up to rounding
        ++state.step;
        return report;
    }
    {
        const ScopedTimer timer(report.profile, "assemble");
        system_.assemble(model, state, dt);
    }
    FreeMotionMemory& memory = state.memory.use<FreeMotionMemory>();
    Vec3s v;
    std::vector<Index> turns = memory.free_turns; // an interrupted step changes nothing
    {
        const ScopedTimer timer(report.profile, "solve");
        extrapolate(state.velocity, memory.free_change, dt, memory.last_step, v);
        const std::vector<char> all(static_cast<std::size_t>(system_.parts()), 1);
        const CgResult cg = system_.solve(options_.linear_tolerance, all, turns, v);
        own.linear_iterations = cg.iterations;
        own.linear_residual = cg.residual;
    }
    memory.free_change.resize(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) memory.free_change[i] = v[i] - state.velocity[i];
    memory.last_step = dt;
    for (Index& t : turns) t = std::max(0, t - 1);
    memory.free_turns = std::move(turns);
    {
        const ScopedTimer timer(report.profile, "strain");
        limit_strain(model, state, dt, v);
    }
    advance(model, state, v, dt);
    ++state.step;
    return report;
}

} // namespace pliant
