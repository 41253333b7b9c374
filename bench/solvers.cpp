// The contact solvers: constraint anticipation (CA, a direct factorisation per body) beside its iterative version (ICA)
// as contacts grow, on many small bodies (the letters) and on one body of 10,000 nodes; a constrained beside an
// unconstrained solve; a Gauss-Seidel sweep beside streaming its bytes; and whole scenes on one and two threads.

#include "timing.hpp"

#include "pliant/dynamics/system.hpp"
#include "pliant/linalg/graph.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/methods/implicit_memory.hpp"
#include "pliant/methods/implicit_options.hpp"
#include "pliant/scene/scene.hpp"
#include "pliant/world/builder.hpp"

#include <cmath>
#include <cstdio>
#include <set>
#include <string>

using namespace pliant;

namespace {

Scene scene_named(const std::string& name, const std::vector<std::string>& overrides = {})
{
    return load_scene(std::string(PLIANT_SOURCE_DIR) + "/scenes/" + name + ".yaml", overrides);
}

Real stage(const StepReport& report, const std::string& name)
{
    Real sum = 0;
    for (const auto& [stage_name, seconds] : report.profile.stages())
        if (stage_name == name) sum += seconds;
    return sum;
}

int rounds_of(const StepReport& r)
{
    return std::max(1, r.own.get<ImplicitReport>().rounds);
}

/// What one contact solve took, against the number of its rows.
struct Sample {
    Real contacts, ica, ca;
};

/// Slope of log(time) over log(contacts), by least squares.
template <class Time>
Real exponent(const std::vector<Sample>& samples, Time&& time)
{
    Real n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (const Sample& s : samples) {
        const Real x = std::log(s.contacts), y = std::log(time(s));
        n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

void print(const char* what, const std::vector<Sample>& samples)
{
    std::printf("\n%s: one contact solve, without friction\n%10s %12s %12s %8s\n", what, "contacts", "CA ms", "ICA ms",
                "CA/ICA");
    for (const Sample& s : samples)
        std::printf("%10.0f %12.2f %12.2f %8.2f\n", s.contacts, s.ca * 1e3, s.ica * 1e3, s.ca / s.ica);
    std::printf("time grows like contacts^%.2f (CA) and contacts^%.2f (ICA; goal: 1.2)\n",
                exponent(samples, [](const Sample& s) { return s.ca; }),
                exponent(samples, [](const Sample& s) { return s.ica; }));
}

/// Times the same step with both solvers from the same state, per contact solve.
Sample compare(const World& world, const ImplicitOptions& options, Real dt, StepReport* first = nullptr)
{
    Sample sample{0, 0, 0};
    for (SolverKind kind : {SolverKind::ica, SolverKind::anticipation}) {
        ImplicitOptions o = options;
        o.solver.kind = kind;
        if (kind == SolverKind::anticipation) o.solver.max_iterations = 1000;
        World copy = world;
        const StepReport report = make_method(copy, o)->step(copy, dt);
        const Real seconds = stage(report, "contact solve") / rounds_of(report);
        if (kind == SolverKind::ica) {
            sample.contacts = report.contact_count;
            sample.ica = seconds;
            if (first) *first = report;
        } else {
            sample.ca = seconds;
        }
    }
    return sample;
}

void letters()
{
    const Scene scene = scene_named("letters", {"contact.friction=0"});
    World world = build_world(scene);
    const auto method = make_method(world, scene.method);
    std::vector<Sample> samples;
    const int steps = 100;
    for (int step = 1; step <= steps; ++step) {
        method->step(world, scene.step);
        if (step >= 8 && step % 6 == 2)
            samples.push_back(compare(world, scene.method.get<ImplicitOptions>(), scene.step));
    }
    std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.contacts < b.contacts; });
    print("letters", samples);
}

void letters_at_rest()
{
    const Scene scene = scene_named("letters");
    World world = build_world(scene);
    const auto method = make_method(world, scene.method);
    for (int step = 1; step <= 150; ++step) method->step(world, scene.step);
    Real free = 0, contact = 0, total = 0;
    const int steps = 10;
    const auto start = std::chrono::steady_clock::now();
    for (int step = 1; step <= steps; ++step) {
        const StepReport report = method->step(world, scene.step);
        free += stage(report, "free solve") / steps;
        contact += stage(report, "contact solve") / rounds_of(report) / steps;
    }
    total = std::chrono::duration<Real>(std::chrono::steady_clock::now() - start).count() / steps;
    std::printf("\nletters at rest: unconstrained solve %.1f ms, constrained solve %.1f ms: %.2f times (goal: 4); "
                "whole step %.0f ms\n",
                free * 1e3, contact * 1e3, (free + contact) / free, total * 1e3);
}

/// One block of 10,000 nodes on the floor, the shape chosen so that more or fewer of them touch it.
void one_body()
{
    std::vector<Sample> samples;
    for (const std::array<Index, 3>& cells : {std::array<Index, 3>{6, 203, 6}, {9, 99, 9}, {15, 38, 15}}) {
        WorldBuilder builder;
        FrictionTable friction;
        friction.value = 0;
        builder.set_friction(friction);
        SolidMaterial material;
        material.young = 1e6;
        material.density = 1000;
        BodyOptions options;
        options.name = "block";
        const Real edge = 0.02;
        options.place.translation = {0, 0.5 * edge * cells[1] + 0.001, 0};
        builder.add_solid(make_tet_box({edge * cells[0], edge * cells[1], edge * cells[2]}, cells), material, options);
        options = {};
        options.name = "floor";
        builder.add_plane({}, options);
        World world = builder.build();
        ImplicitOptions method_options;
        method_options.solver.tolerance = 1e-2;
        const auto method = make_method(world, method_options);
        for (int step = 0; step < 3; ++step) method->step(world, 0.01);
        samples.push_back(compare(world, method_options, 0.01));
    }
    print("one body of 10,000 nodes", samples);
}

void sweep()
{
    WorldBuilder builder;
    BodyOptions options;
    options.name = "block";
    builder.add_solid(make_tet_box({1, 1, 1}, {50, 50, 50}), {}, options);
    const World world = builder.build();
    LinearSystem system(world.model);
    system.assemble(world.model, world.state, 0.01);
    const std::vector<Index> part = connected_parts(system.A().pattern());
    const SweepOrder order =
        make_sweep_order(color_chunks(system.A().pattern()), part, std::vector<char>(part.size(), 1));
    Vec3s x(world.state.position.size(), Vec3::Zero());
    for (int threads : {1, 2}) {
        set_thread_count(threads);
        const Real seconds = best_seconds(
            [&] { gauss_seidel_sweep(system.A(), system.diagonal_inverse(), order, false, system.b(), x); });
        const Real stream = stream_seconds(system.A().bytes());
        std::printf("Gauss-Seidel sweep of %d blocks, %.0f MB, %d thread%s: %.1f ms, %.2f times streaming its bytes "
                    "(goal: 2)\n",
                    system.A().rows(), system.A().bytes() / 1e6, threads, threads == 1 ? "" : "s", seconds * 1e3,
                    seconds / stream);
    }
    set_thread_count(0);
}

/// Average milliseconds a step over part of a scene.
Real scene_ms(const std::string& name, int skip, int steps, int threads, std::uint64_t& hash)
{
    set_thread_count(threads);
    const Scene scene = scene_named(name);
    World world = build_world(scene);
    const auto method = make_method(world, scene.method);
    for (int step = 0; step < skip; ++step) method->step(world, scene.step);
    const auto start = std::chrono::steady_clock::now();
    for (int step = 0; step < steps; ++step) method->step(world, scene.step);
    const Real seconds = std::chrono::duration<Real>(std::chrono::steady_clock::now() - start).count();
    set_thread_count(0);
    hash = world.state.hash();
    return seconds / steps * 1e3;
}

void scenes()
{
    struct Case {
        const char* name;
        int skip, steps;
        Real goal;
    };
    std::printf("\n%-20s %8s %12s %12s %8s %10s\n", "scene", "steps", "1 thread ms", "2 threads ms", "ratio",
                "goal ms");
    for (const Case& c : {Case{"falling-cloth", 100, 300, 20}, Case{"cloth-over-sphere", 100, 300, 12},
                          Case{"letters", 20, 40, 250}, Case{"layers", 100, 40, 400}}) {
        std::uint64_t one = 0, two = 0;
        const Real single = scene_ms(c.name, c.skip, c.steps, 1, one);
        const Real both = scene_ms(c.name, c.skip, c.steps, 2, two);
        std::printf("%-20s %8d %12.1f %12.1f %8.2f %10.0f%s\n", c.name, c.steps, single, both, single / both, c.goal,
                    one == two ? "" : "  DIFFERENT BITS");
    }
}

} // namespace

/// Arguments name the parts to run; all of them without.
int main(int argc, char** argv)
{
    std::setvbuf(stdout, nullptr, _IOLBF, 0); // lines appear as they are done, also in a file
    const std::pair<const char*, void (*)()> parts[] = {
        {"sweep", sweep}, {"scenes", scenes}, {"rest", letters_at_rest}, {"letters", letters}, {"body", one_body}};
    const std::set<std::string> wanted(argv + 1, argv + argc);
    for (const auto& [name, run] : parts)
        if (wanted.empty() || wanted.contains(name)) run();
}
