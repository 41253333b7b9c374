// Whole scenes, those of the papers and harder ones: what a step costs, whether it converges, and whether limits hold.
// Beside each figure stands the last one that was written down in bench/scenes.csv; `--write` writes it anew. CPU time
// is steadier than wall time on a machine that is shared. Arguments name the cases to run; all without.

#include "pliant/core/parallel.hpp"
#include "pliant/methods/implicit_memory.hpp"
#include "pliant/methods/implicit_options.hpp"
#include "pliant/scene/scene.hpp"
#include "pliant/world/strain.hpp"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

using namespace pliant;

namespace {

struct Case {
    std::string name, file;
    std::vector<std::string> overrides;
    int skip, steps; ///< steps before, and those that are measured
    Real goal_ms;    ///< wall time a step on two quiet threads
};

std::vector<std::string> grid(int n)
{
    return {"bodies.sheet.mesh.grid.vertices=[" + std::to_string(n) + ", " + std::to_string(n) + "]"};
}

std::vector<Case> cases()
{
    const std::string scenes = "scenes/", bench = "bench/scenes/";
    return {
        {"cloth-over-sphere", scenes + "cloth-over-sphere", {}, 0, 500, 2.5},
        {"cloth-over-sphere 100 x 100", scenes + "cloth-over-sphere", grid(100), 60, 60, 25},
        {"cloth-over-sphere 200 x 200", scenes + "cloth-over-sphere", grid(200), 60, 20, 100},
        {"cloth-over-sphere 400 x 400", scenes + "cloth-over-sphere", grid(400), 60, 20, 640},
        {"cloth-over-sphere 8 ms", scenes + "cloth-over-sphere", {"time.step=8 ms"}, 0, 250, 0},
        {"cloth-over-sphere 16 ms", scenes + "cloth-over-sphere", {"time.step=16 ms"}, 0, 125, 0},
        {"cloth-over-sphere 33 ms", scenes + "cloth-over-sphere", {"time.step=33 ms"}, 0, 60, 0},
        {"falling-cloth", scenes + "falling-cloth", {}, 100, 300, 5},
        {"layers", scenes + "layers", {}, 100, 40, 190},
        {"letters", scenes + "letters", {}, 20, 40, 189},
        {"unified", scenes + "unified", {}, 0, 200, 20},
        {"stack of ten cloths", bench + "stack", {}, 4, 10, 1500},
        {"mats 1e6 Pa", bench + "mats", {}, 5, 10, 500},
        {"mats 1e8 Pa", bench + "mats", {"materials.rubber.young=100 MPa"}, 5, 10, 250},
        {"plate on cloth", bench + "plate", {}, 0, 100, 0},
        {"spinning bar", bench + "spin", {}, 0, 80, 0},
        {"twisted bar", bench + "twist", {}, 0, 200, 0},
        {"crushed block", bench + "crush", {}, 0, 100, 0},
    };
}

struct Figures {
    Real wall_ms = 0, cpu_ms = 0;
    Real free_iterations = 0, contact_iterations = 0; ///< a step
    Index vertices = 0;
    int unconverged = 0; ///< steps
    Real worst = 0;      ///< residual over its tolerance
    Index inverted = 0;  ///< elements, in the worst step
    Real elongation = 0, strain_excess = 0;
    Real elastic_share = 0; ///< of the kinetic energy, at the end
};

Real cpu_seconds()
{
    return Real(std::clock()) / CLOCKS_PER_SEC;
}

Figures measure(const Case& c)
{
    const Scene scene = load_scene(std::string(PLIANT_SOURCE_DIR) + "/" + c.file + ".yaml", c.overrides);
    World world = build_world(scene);
    const auto method = make_method(world, scene.method);
    for (int step = 0; step < c.skip; ++step) method->step(world, scene.step);
    Figures f;
    f.vertices = world.model.block_count();
    const auto start = std::chrono::steady_clock::now();
    const Real cpu = cpu_seconds();
    for (int step = 0; step < c.steps; ++step) {
        const StepReport report = method->step(world, scene.step);
        const ImplicitReport& own = report.own.get<ImplicitReport>();
        f.free_iterations += Real(own.linear_iterations) / c.steps;
        f.contact_iterations += Real(own.contact_iterations) / c.steps;
        f.unconverged += own.unconverged > 0;
        f.worst = std::max(f.worst, own.worst_residual);
        f.inverted = std::max(f.inverted, inverted_elements(world.model, world.state.position).count);
        f.elongation = std::max(f.elongation, max_elongation(world.model, world.state));
        f.strain_excess = std::max(f.strain_excess, strain_excess(world.model, world.state.position).amount);
    }
    f.cpu_ms = (cpu_seconds() - cpu) / c.steps * 1e3;
    f.wall_ms = std::chrono::duration<Real>(std::chrono::steady_clock::now() - start).count() / c.steps * 1e3;
    const Energy e = energy(world.model, world.state);
    f.elastic_share = e.kinetic > 0 ? e.elastic / e.kinetic : 0;
    return f;
}

const std::string figures_file = std::string(PLIANT_SOURCE_DIR) + "/bench/scenes.csv";

/// CPU milliseconds a step as they were written down.
std::map<std::string, Real> written_figures()
{
    std::map<std::string, Real> figures;
    std::ifstream file(figures_file);
    for (std::string line; std::getline(file, line);) {
        const std::size_t comma = line.rfind(',');
        if (comma != std::string::npos && comma > 0 && line[0] != '#')
            figures[line.substr(0, comma)] = std::atof(line.c_str() + comma + 1);
    }
    return figures;
}

} // namespace

int main(int argc, char** argv)
{
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::set<std::string> wanted(argv + 1, argv + argc);
    const bool write = wanted.erase("--write") > 0;
    std::map<std::string, Real> figures = written_figures();
    std::printf("%-28s %9s %9s %9s %9s %8s %7s %8s %6s %8s %8s %8s %9s %8s\n", "scene", "ms", "CPU ms", "last",
                "goal ms", "us/block", "free", "contact", "unconv", "worst", "stretch", "excess", "elast/kin",
                "inverted");
    for (const Case& c : cases()) {
        if (!wanted.empty() && !wanted.contains(c.name)) continue;
        const Figures f = measure(c);
        std::printf("%-28s %9.2f %9.2f %9.2f %9.1f %8.2f %7.1f %8.1f %6d %8.2f %8.3f %8.4f %9.2g %8d\n", c.name.c_str(),
                    f.wall_ms, f.cpu_ms, figures.contains(c.name) ? figures[c.name] : 0, c.goal_ms,
                    f.wall_ms * 1e3 / f.vertices, f.free_iterations, f.contact_iterations, f.unconverged, f.worst,
                    f.elongation, f.strain_excess, f.elastic_share, f.inverted);
        figures[c.name] = f.cpu_ms;
    }
    if (!write) return 0;
    std::ofstream file(figures_file);
    file << "# CPU milliseconds a step, written by bench_scenes --write\n";
    for (const auto& [name, ms] : figures) file << name << ',' << ms << '\n';
}
