// Lattices with boxes that collide, beside the times of [Jung, table 1] on a Pentium D at 3 GHz; updating an embedded
// surface beside streaming its bytes; cost a cell against the number of cells; what the paper says of hashing, of the
// cost of a collision and of inner nodes. Collision handling counts a sub-step, as the paper's explicit steps are; the
// whole step has as many as its springs need. `bench_lattice full` takes as long a part of each scene as it needs to be
// at its busiest; with `quick` or nothing the beginnings of the scenes count. A second argument is the number of
// threads, 2 if there is none.

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
    Real contacts = 0, collisions = 0, passes = 0, substeps = 0;
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
        t.contacts += part * report.contact_count;
        t.passes += part * report.own.get<BoxesReport>().passes;
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

Index cell_count(const World& world)
{
    Index cells = 0;
    for (const Lattice& l : world.model.lattices) cells += l.mesh->cell_count();
    return cells;
}

void scene_times(const PaperScene& p, bool full)
{
    const Scene scene = load_scene(std::string(PLIANT_SOURCE_DIR) + "/scenes/" + p.name + ".yaml");
    World world = build_world(scene);
    const Index cells = cell_count(world);
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

/// Balls of shape matching in cubic heaps of 27, turned at random; those next to each other in a heap meet below a
/// spacing of 1, whatever the number of heaps.
World heaps(int along_axis, Real spacing)
{
    const int balls = 3 * along_axis;
    WorldBuilder builder;
    const auto mesh = std::make_shared<LatticeMesh>(make_lattice(make_sphere(0.5, 3), {4, 0, true}));
    LatticeMaterial material;
    material.model = LatticeModel::shape_matching;
    Random random(1);
    for (int i = 0; i < balls * balls * balls; ++i) {
        BodyOptions options;
        options.name = std::to_string(i);
        const auto at = [&](int k) { return spacing * k + 0.5 * (k / 3); };
        options.place = {Vec3(at(i % balls), at(i / balls % balls), at(i / balls / balls)), random.rotation()};
        builder.add_lattice(mesh, material, options);
    }
    return builder.build();
}

/// More and more heaps. Processor time, because others may use the machine.
void growth()
{
    std::printf("\ncells   us a cell: boxes    hash  overlaps  respond     all, processor\n");
    for (const int along_axis : {1, 2, 4}) {
        World world = heaps(along_axis, 0.93);
        const auto method = make_method(world, BoxesOptions());
        mean_times(world, *method, 1e-3, 3);
        const StepTimes t = mean_times(world, *method, 1e-3, 10);
        const Index cells = cell_count(world);
        const Real per = 1e6 / cells;
        std::printf("%7d %13.3f %7.3f %9.3f %8.3f %7.3f %10.3f   (%.0f collisions, %.1f passes)\n", cells,
                    per * t.boxes, per * t.hash, per * t.overlaps, per * t.respond, per * t.handling(), per * t.cpu,
                    t.collisions, t.passes);
    }
}

/// [Jung, section 6.1]: the time of spatial hashing does not depend on the number of collisions; [section 8.2]: the
/// time of a collision does not either. Nothing is remembered here from one search to the next.
void claims()
{
    std::printf(
        "\nspacing  contacts  overlaps | processor: ms to hash, us an overlap to find, us a contact to handle\n");
    Real apart = 0; // a step without contacts
    for (const Real spacing : {1.3, 1.05, 1.0, 0.97, 0.94, 0.9}) {
        World world = heaps(2, spacing);
        const std::vector<BoxCell> cells = box_cells(world.model, BoxExtent::content);
        Real hash = 1e30, find = 1e30;
        Index overlaps = 0;
        for (int run = 0; run < 5; ++run) {
            LatticeBoxes boxes(cells, {});
            boxes.update(world.state.position);
            hash = std::min(hash, best_of([&] { boxes.find_candidates(0.01); }, 1).cpu);
            find = std::min(find, best_of([&] { overlaps = count(boxes.find_overlaps()); }, 1).cpu);
        }
        const auto method = make_method(world, BoxesOptions());
        mean_times(world, *method, 1e-3, 2);
        const StepTimes t = mean_times(world, *method, 1e-3, 5);
        if (t.contacts == 0) apart = t.cpu;
        std::printf("%7.2f %9.0f %9d | %6.2f", spacing, t.contacts, overlaps, 1e3 * hash);
        if (t.contacts > 0) std::printf(" %6.2f %6.2f", 1e6 * find / overlaps, 1e6 * (t.cpu - apart) / t.contacts);
        std::printf("\n");
    }
    // [section 8.1]: more inner nodes find more, at a little more cost.
    std::printf("\nplanes, inner nodes along each axis: overlaps found, ms (processor)\n");
    const World world = heaps(2, 0.94);
    const std::vector<BoxCell> cells = box_cells(world.model, BoxExtent::content);
    const auto find = [&](const char* name, const BoxOptions& options) {
        Real seconds = 1e30;
        Index overlaps = 0;
        for (int run = 0; run < 5; ++run) {
            LatticeBoxes boxes(cells, options);
            boxes.update(world.state.position);
            boxes.find_candidates(0.01);
            seconds = std::min(seconds, best_of([&] { overlaps = count(boxes.find_overlaps()); }, 1).cpu);
        }
        std::printf("%s %d: %6d %7.2f\n", name, options.inner, overlaps, 1e3 * seconds);
    };
    for (const int inner : {0, 1, 2, 3}) find("paper", {BoxPlanes::paper, inner});
    find("safe ", {});
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
    claims();
}
