// Lattices with boxes that collide, beside the times of [Jung, table 1] on a Pentium D at 3 GHz; updating an embedded
// surface beside streaming its bytes; cost a cell against the number of cells. `bench_lattice full` takes as long a
// part of each scene as it needs to be at its busiest; with `quick` or nothing the beginnings of the scenes count. A
// second argument is the number of threads, 2 if there is none.

#include "pliant/core/random.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/methods/boxes.hpp"
#include "pliant/scene/scene.hpp"
#include "pliant/world/builder.hpp"
#include "timing.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace pliant;

namespace {

/// Stages that handle collisions, of all steps but the first ones.
struct StepTimes {
    Real boxes = 0, hash = 0, overlaps = 0, respond = 0;
    Real whole = 0, cpu = 0; ///< of a step, on the clock and on all threads together
    Real collisions = 0, substeps = 0;
    Real handling() const { return boxes + hash + overlaps + respond; }
};

StepTimes mean_times(World& world, Method& method, Real dt, int steps)
{
    StepTimes t;
    for (int i = 0; i < steps; ++i) {
        const std::clock_t cpu = std::clock();
        const auto start = std::chrono::steady_clock::now();
        const StepReport report = method.step(world, dt);
        const Real part = 1.0 / steps;
        t.boxes += part * report.profile.seconds("boxes");
        t.hash += part * report.profile.seconds("hash");
        t.overlaps += part * report.profile.seconds("overlaps");
        t.respond += part * report.profile.seconds("respond");
        t.whole += part * std::chrono::duration<Real>(std::chrono::steady_clock::now() - start).count();
        t.cpu += part * Real(std::clock() - cpu) / CLOCKS_PER_SEC;
        t.collisions += part * report.own.get<BoxesReport>().collisions;
        t.substeps += part * report.substeps;
    }
    return t;
}

struct PaperScene {
    const char* name;
    Real paper; ///< [ms]
    Real limit; ///< [ms]
    Real quick; ///< of simulated time [s]
    Real until; ///< the same with `full`
};

void scene_times(const PaperScene& p, bool full)
{
    const Scene scene = load_scene(std::string(PLIANT_SOURCE_DIR) + "/scenes/" + p.name + ".yaml");
    World world = build_world(scene);
    Index cells = 0;
    for (const Lattice& l : world.model.lattices) cells += l.mesh->cell_count();
    const auto method = make_method(world, scene.method);
    const int all = static_cast<int>((full ? p.until : p.quick) / scene.step);
    mean_times(world, *method, scene.step, all / 2);
    const StepTimes t = mean_times(world, *method, scene.step, all - all / 2);
    const Real per = 1e3 / t.substeps;
    std::printf("%-14s %9d %6d %6.0f | %7.3f %7.3f %7.3f %7.3f | %8.3f %6.1f %6.2f | %8.3f %8.3f of %4.1f\n", p.name,
                count(world.model.surface.triangles), cells, t.collisions, per * t.boxes, per * t.hash,
                per * t.overlaps, per * t.respond, per * t.handling(), p.paper, p.limit, 1e3 * t.whole, 1e3 * t.cpu,
                1e3 * scene.step);
}

/// Updating all vertices of the letters.
void surface_times()
{
    const Scene scene = load_scene(std::string(PLIANT_SOURCE_DIR) + "/scenes/letters-1014.yaml");
    const World world = build_world(scene);
    Vec3s x;
    const Real seconds = best_seconds([&] { surface_positions(world.model, world.state, x); });
    const Surface& s = world.model.surface;
    const std::size_t bytes = s.map_block.size() * sizeof(Index) + s.map_weight.size() * sizeof(Real) +
                              s.map_begin.size() * sizeof(Index) + s.frame.size() * sizeof(Index) +
                              x.size() * sizeof(Vec3);
    const Real stream = stream_seconds(bytes);
    std::printf("surface of %d triangles: %.1f ms, streaming its %.0f MB %.1f ms, ratio %.2f (limits 10 ms and 2)\n",
                count(s.triangles), 1e3 * seconds, 1e-6 * static_cast<Real>(bytes), 1e3 * stream, seconds / stream);
}

/// Balls in a loose heap, more and more of them.
void growth()
{
    std::printf("\ncells   us a cell: boxes    hash  overlaps  respond     all\n");
    for (const int balls : {3, 7, 15}) {
        WorldBuilder builder;
        const auto mesh = std::make_shared<LatticeMesh>(make_lattice(make_sphere(0.5, 3), {4, 0, true}));
        LatticeMaterial material;
        material.model = LatticeModel::shape_matching;
        Random random(1);
        for (int i = 0; i < balls * balls * balls; ++i) {
            BodyOptions options;
            options.name = std::to_string(i);
            options.place = {0.93 * Vec3(i % balls, i / balls % balls, i / balls / balls), random.rotation()};
            builder.add_lattice(mesh, material, options);
        }
        World world = builder.build();
        Index cells = count(world.model.lattices) * mesh->cell_count();
        const auto method = make_method(world, BoxesOptions());
        mean_times(world, *method, 1e-3, 3);
        const StepTimes t = mean_times(world, *method, 1e-3, 10);
        const Real per = 1e6 / cells;
        std::printf("%7d %13.3f %7.3f %9.3f %8.3f %7.3f   (%.0f collisions, %.2f us each)\n", cells, per * t.boxes,
                    per * t.hash, per * t.overlaps, per * t.respond, per * t.handling(), t.collisions,
                    1e6 * (t.overlaps + t.respond) / t.collisions);
    }
}

} // namespace

int main(int argc, char** argv)
{
    const bool full = argc > 1 && std::string(argv[1]) == "full";
    std::setvbuf(stdout, nullptr, _IOLBF, 0); // each line as it is known
    const int threads = argc > 2 ? std::atoi(argv[2]) : 2;
    set_thread_count(threads);
    std::printf("threads: %d; milliseconds a sub-step\n", threads);
    std::printf("scene          triangles  cells  coll. |   boxes    hash  overl. respond | handling  paper  limit |"
                " whole step, processor\n");
    for (const PaperScene& p :
         {PaperScene{"teapots", 1.7, 0.15, 0.4, 1}, PaperScene{"hollow-statue", 0.3, 0.12, 0.5, 1},
          PaperScene{"animals-soft", 0.5, 0.6, 0.4, 1.2}, PaperScene{"letters-1014", 279, 9, 1, 8}})
        scene_times(p, full);
    surface_times();
    growth();
}
