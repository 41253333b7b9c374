// Points in tetrahedra, penetration depth and contact forces on scenes of the size of the papers': times beside the
// goals.

#include "../tests/detection/tet_scene.hpp"
#include "pliant/bodies/solid_models.hpp"
#include "pliant/contact/direct_forces.hpp"
#include "pliant/contact/penalty_forces.hpp"
#include "pliant/detection/exit_face.hpp"
#include "pliant/detection/penetration_depth.hpp"
#include "pliant/detection/points_in_bodies.hpp"
#include "pliant/dynamics/explicit.hpp"
#include "pliant/methods/table.hpp"
#include "pliant/scene/scene.hpp"
#include "pliant/world/builder.hpp"
#include "timing.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

using namespace pliant;

namespace {

/// 200 tori of 405 tetrahedra, each linked with the next, as in [Spillmann07, fig. 1], and pressed into each other.
TetScene chained_tori(Index tori)
{
    TetScene scene;
    const TetMesh torus = make_tet_torus(1, 0.25, 27, 5);
    const Quat flat = Quat::Identity(), upright(Eigen::AngleAxisd(1.5707963, Vec3::UnitX()));
    for (Index i = 0; i < tori; ++i)
        scene.add(torus, {Vec3(1.62 * (i % 20), 0, 6.0 * (i / 20)), i % 2 == 0 ? flat : upright});
    return scene;
}

/// 500 figures of about 100 points and 176 tetrahedra in a heap [Spillmann07, fig. 5].
TetScene chessmen(Index figures, Real side)
{
    TetScene scene;
    std::vector<Vec2> profile;
    for (int k = 0; k < 16; ++k) profile.push_back({0.25 + 0.1 * std::sin(1.1 * k), 0.13 * k});
    profile.push_back({0, 0.13 * 16});
    const TetMesh figure = make_tet_turned(profile, 6, TurnedCore::bare);
    Random random(3);
    for (Index i = 0; i < figures; ++i)
        scene.add(figure, {random.in_box(Vec3::Zero(), Vec3::Constant(side)), random.rotation()});
    return scene;
}

std::vector<PointContact> contacts_of(const CollisionMesh& mesh, const Vec3s& x, const std::vector<PointInBody>& points,
                                      const PenetrationDepths& depths)
{
    std::vector<PointContact> contacts(points.size());
    parallel_for(
        count(points),
        [&](Index i) {
            PointContact& c = contacts[i];
            c.point = points[i].node;
            c.depth = depths.points[i].vector();
            c.friction = 0.3;
            if (const auto exit = find_exit_face(mesh, x, points[i], depths.points[i].direction)) {
                const Triangle& f = mesh.faces[exit->face];
                c.nodes = {f[0], f[1], f[2], none};
                c.weights << exit->weights, 0;
            } else {
                c.nodes = mesh.tets[points[i].tet];
                c.weights = points[i].weights;
            }
        },
        64);
    return contacts;
}

void run(const char* name, const TetScene& scene)
{
    const CollisionMesh mesh = scene.mesh();
    FaceTree tree(mesh);
    TetHash hash(mesh);
    PenetrationDepth depth(mesh, tree);
    DirectForces direct;
    PenaltyForces penalty;
    const std::vector<PointInBody> points = hash.find(scene.x);
    const PenetrationDepths depths = depth.consistent(scene.x, {}, points);
    const std::vector<PointContact> contacts = contacts_of(mesh, scene.x, points, depths);
    const std::vector<Real> mass(scene.x.size(), 1);
    Vec3s force(scene.x.size(), Vec3::Zero());
    const Real n = static_cast<Real>(std::max<std::size_t>(points.size(), 1));
    for (int threads : {1, 2}) {
        set_thread_count(threads);
        const Seconds stage1 = best_of([&] { hash.find(scene.x); }, 25);
        const Seconds stages = best_of([&] { depth.consistent(scene.x, {}, points); }, 25);
        const Seconds closest = best_of([&] { depth.closest_feature(scene.x, {}, points); }, 25);
        const Seconds exits = best_of([&] { contacts_of(mesh, scene.x, points, depths); }, 25);
        const Seconds by_direct = best_of([&] { direct.add({contacts, mass, scene.x, 0.01}, force); }, 25);
        const Seconds by_penalty = best_of([&] { penalty.add({contacts, mass, scene.x, 0.01}, force); }, 25);
        std::printf("%-14s %7d %7d %7d %8d %7.2f %7.2f %7.0f %7.0f %8.0f %8.0f %8.3f %8.3f\n", name, threads,
                    count(scene.x), count(mesh.tets), count(points), 1e3 * stage1.wall, 1e3 * stage1.cpu,
                    1e9 * stages.wall / n, 1e9 * stages.cpu / n, 1e9 * closest.cpu / n, 1e9 * exits.cpu / n,
                    1e3 * by_direct.cpu, 1e3 * by_penalty.cpu);
    }
    set_thread_count(0);
}

/// Nanoseconds of the processor for one evaluation of all forces, a tetrahedron: elasticity, gravity, and damping where
/// there is any.
void forces_of_models()
{
    std::printf("\nForces a tetrahedron on one thread [ns of the processor], 81,000 tetrahedra in 200 tori; goals 60, "
                "30, -, 20\n");
    set_thread_count(1);
    for (const SolidModel& model : solid_models()) {
        std::printf("%-20s", model.name);
        for (const Real damping : {0.0, 1e-4}) {
            SolidMaterial material;
            material.model = model.name;
            material.damping = damping;
            WorldBuilder builder;
            for (int i = 0; i < 200; ++i) builder.add_solid(make_tet_torus(1, 0.25, 27, 5), material, {});
            World world = builder.build();
            Random random(3);
            for (Vec3& x : world.state.position) x += 1e-3 * random.on_sphere();
            Forces forces(world.model);
            Vec3s f;
            const Real seconds = best_of([&] { forces.evaluate(world.model, world.state, f); }, 25).cpu;
            std::printf("  %s %.1f", damping > 0 ? "damped" : "undamped",
                        1e9 * seconds / static_cast<Real>(world.model.tets.size()));
        }
        std::printf("\n");
    }
    set_thread_count(0);
}

/// Milliseconds of a sub-step of a shipped scene by stages, after `before` steps, on one and on two threads.
/// `overrides` move its bodies together, so that they touch from the start. The processor's time is that of all
/// threads, with the measurement at the end of a step.
void whole_passes(const char* name, const std::vector<std::string>& overrides, int before, int steps, const char* goal)
{
    Real one = 0;
    for (const int threads : {1, 2}) {
        set_thread_count(threads);
        const Scene scene = load_scene(std::string(PLIANT_SOURCE_DIR) + "/scenes/" + name + ".yaml", overrides);
        World world = build_world(scene);
        const auto method = make_method(world, scene.method);
        Real detect = 0, depth = 0, respond = 0, integrate = 0, contacts = 0, substeps = 0, cpu = 0;
        for (int i = 0; i < before + steps; ++i) {
            const std::clock_t start = std::clock();
            const StepReport report = method->step(world, scene.step);
            if (i < before) continue;
            cpu += 1e3 * Real(std::clock() - start) / CLOCKS_PER_SEC;
            detect += 1e3 * report.profile.seconds("detect");
            depth += 1e3 * report.profile.seconds("depth");
            respond += 1e3 * report.profile.seconds("respond");
            integrate += 1e3 * report.profile.seconds("integrate");
            contacts += Real(report.contact_count) / steps;
            substeps += report.substeps;
        }
        const Real all = (detect + depth + respond + integrate) / substeps;
        if (threads == 1) one = all;
        std::printf("%-14s %7d %8.0f %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f %8.0f %7.2f  %s\n", name, threads, contacts,
                    integrate / substeps, detect / substeps, depth / substeps, respond / substeps, all, cpu / substeps,
                    1e3 / all, one / all, threads == 2 ? goal : "");
    }
    set_thread_count(0);
}

void passes_of_scenes()
{
    std::printf("\nWhole passes of scenes [ms a sub-step], from where they touch\n");
    std::printf("%-14s %7s %8s %9s %9s %9s %9s %9s %9s %8s %7s  %s\n", "scene", "threads", "contacts", "forces",
                "in tets", "depth", "respond", "all", "cpu", "a second", "speedup", "goal");
    whole_passes("tori-200", {"bodies.link.copies.helix.spacing=0.17"}, 2, 20, "all 25, in tets 12, speedup 1.5");
    std::vector<std::string> dense;
    for (const char* figure : {"pawn", "rook", "bishop", "queen", "king"})
        dense.push_back(std::string("bodies.") + figure + ".copies.grid.spacing=[0.09, 1, 0.09]");
    whole_passes("chessmen-500", dense, 2, 20, "speedup 1.5");
    whole_passes("elastic-arch", {}, 50, 50, "200 a second");
    whole_passes("stiff-in-soft", {}, 200, 50, "respond as for bars as soft as the cube");
}

void stages_of_contact()
{
    std::printf(
        "Goals on two threads: points in tetrahedra 12 ms for 80,000 tetrahedra and 50,000 nodes, depth 1000 ns a "
        "point,\nforces 0.5 ms for 2500 contacts. Least of 25 runs: wall time, and the processor's on all "
        "threads.\n\n");
    std::printf("%-14s %7s %7s %7s %8s %15s %15s %8s %8s %8s %8s\n", "", "", "", "tetra-", "colliding", "in tets [ms]",
                "depth [ns/pt]", "closest", "exit", "direct", "penalty");
    std::printf("%-14s %7s %7s %7s %8s %7s %7s %7s %7s %8s %8s %8s %8s\n", "scene", "threads", "nodes", "hedra",
                "points", "wall", "cpu", "wall", "cpu", "ns/point", "ns/point", "ms cpu", "ms cpu");
    run("tori-200", chained_tori(200));
    run("chessmen-500", chessmen(500, 9));
    run("chessmen-500", chessmen(500, 12));
    run("chessmen-4000", chessmen(4000, 18));
    run("cubes", [] {
        TetScene scene;
        scene.add(make_tet_box({1, 1, 1}, {5, 5, 5}, TetSplit::five));
        scene.add(make_tet_box({1, 1, 1}, {5, 5, 5}, TetSplit::five), at(0.75, 0.07, 0.04));
        return scene;
    }());
    run("fine cubes", [] {
        TetScene scene;
        scene.add(make_tet_box({1, 1, 1}, {20, 20, 20}, TetSplit::five));
        scene.add(make_tet_box({1, 1, 1}, {20, 20, 20}, TetSplit::five), at(0.75, 0.07, 0.04));
        return scene;
    }());
    std::printf("\nThe papers: 35,000 ns a colliding point for depth (Heidelberger04, Pentium 4, 3 GHz); 41 ms for the "
                "forces of "
                "2500 contacts\nand 470 ms for a whole pass of the tori (Spillmann07, Xeon, 3.8 GHz).\n");
}

} // namespace

/// All parts, or those that are named: contact, forces, passes.
int main(int argc, char** argv)
{
    std::setvbuf(stdout, nullptr, _IOLBF, 0); // each line as it is known
    const auto wanted = [&](const std::string& part) {
        return argc == 1 || std::find(argv + 1, argv + argc, part) != argv + argc;
    };
    if (wanted("contact")) stages_of_contact();
    if (wanted("forces")) forces_of_models();
    if (wanted("passes")) passes_of_scenes();
}
