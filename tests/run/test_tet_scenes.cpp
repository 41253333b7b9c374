// What the papers show with solids of tetrahedra, on the shipped scenes that are short enough. The long ones are in
// soak.

#include "pliant/methods/penalty.hpp"
#include "run/chain.hpp"

namespace pliant {
namespace {

/// Mean of a per-block quantity over a body, weighted by mass.
Vec3 mean_of(const World& world, Index body, const Vec3s& values)
{
    const Body& b = world.model.bodies[body];
    Vec3 sum = Vec3::Zero();
    Real mass = 0;
    for (Index i = b.first_block; i < b.first_block + b.block_count; ++i) {
        sum += world.model.mass[i] * values[i];
        mass += world.model.mass[i];
    }
    return sum / mass;
}

struct Flight {
    Real first_edges = 0;          ///< the deepest point after the first sub-step with contact, over an edge
    int pushed = 0, pushed_on = 0; ///< points of all steps, and those whose way out is onwards, not back
    Vec3 left, right;              ///< velocities at the end [m/s]
    Real crossed = -1;             ///< how far the centre of the left cube got beyond the right one's [m]
    int contacts_at_end = 0;
    Real most_energy = 0; ///< of any step, over that of the start

    Real onwards() const { return Real(pushed_on) / pushed; }
};

Flight fly(const std::string& depth)
{
    const Scene scene =
        load_scene(std::filesystem::path(PLIANT_SOURCE_DIR) / "scenes/two-cubes.yaml", {"contact.depth=" + depth});
    World world = build_world(scene);
    const auto method = make_method(world, scene.method);
    Flight flight;
    const auto total = [&] {
        const Energy e = energy(world.model, world.state);
        return e.kinetic + e.elastic;
    };
    const Real at_start = total();
    for (std::int64_t i = 0; i < scene.step_count(); ++i) {
        const StepReport report = method->step(world, scene.step);
        if (flight.first_edges == 0) flight.first_edges = report.own.get<TetContactReport>().penetration_edges;
        EXPECT_EQ(report.substeps, 1);
        flight.pushed += count(report.contacts);
        for (const ContactPoint& c : report.contacts) // the left cube came along +x
            flight.pushed_on += (c.body_a == 0 ? 1 : -1) * c.normal.x() > 0.1;
        flight.crossed = std::max(flight.crossed, mean_of(world, 0, world.state.position).x() -
                                                      mean_of(world, 1, world.state.position).x());
        flight.contacts_at_end = report.contact_count;
        flight.most_energy = std::max(flight.most_energy, total() / at_start);
    }
    flight.left = mean_of(world, 0, world.state.velocity);
    flight.right = mean_of(world, 1, world.state.velocity);
    return flight;
}

} // namespace

TEST(TwoCubes, AreAnEdgeDeepAtOnceAndComeBackButGoThroughEachOtherWithTheClosestFeature)
{
    const Flight consistent = fly("consistent"), closest = fly("closest-feature");
    EXPECT_GE(consistent.first_edges, 1);
    EXPECT_GE(closest.first_edges, 1);
    EXPECT_EQ(consistent.contacts_at_end, 0);
    EXPECT_LT(consistent.most_energy, 1 + 1e-9);
    EXPECT_LT(consistent.crossed, 0) << "the centres never pass each other";
    EXPECT_LT(consistent.left.x(), -0.3) << "the left one flies back to the left";
    EXPECT_GT(consistent.right.x(), 0.3);
    EXPECT_LT((consistent.left + consistent.right).norm(), 1e-5) << "momentum, to the tolerance of the linear solves";
    EXPECT_GT(closest.crossed, 0.2) << "the left one comes out on the right";
    EXPECT_GT(closest.left.x(), 0.3);
    EXPECT_LT(consistent.onwards(), 0.2 * closest.onwards())
        << consistent.pushed_on << " of " << consistent.pushed << " and " << closest.pushed_on << " of "
        << closest.pushed;
}

TEST(Tori200, ItsFirstTenLinksAreAChainInEveryFrameOfTheirFall)
{
    const Scene scene = load_scene(
        std::filesystem::path(PLIANT_SOURCE_DIR) / "scenes/tori-200.yaml",
        {"bodies.link.copies.helix.count=10", "time.end=0.4 s", "bodies.membrane.mesh.tet-box.cells=[8, 1, 8]"});
    expect_a_chain_in_every_frame(scene, 10);
}

TEST(LinkingNumber, IsOneForLinkedRingsAndZeroForRingsBesideEachOther)
{
    const auto ring = [](const Vec3& centre, const Vec3& u, const Vec3& v) {
        Vec3s points;
        for (int i = 0; i < 12; ++i) {
            const Real a = 2 * std::numbers::pi * i / 12;
            points.push_back(centre + std::cos(a) * u + std::sin(a) * v);
        }
        return points;
    };
    const Vec3s flat = ring(Vec3::Zero(), Vec3::UnitX(), Vec3::UnitZ());
    EXPECT_NEAR(std::abs(linking_number(flat, ring({1, 0.1, 0}, Vec3::UnitX(), Vec3::UnitY()))), 1, 1e-9);
    EXPECT_NEAR(linking_number(flat, ring({2.5, 0.1, 0}, Vec3::UnitX(), Vec3::UnitY())), 0, 1e-9);
    EXPECT_NEAR(linking_number(flat, ring({0, 0.5, 0}, Vec3::UnitX(), Vec3::UnitZ())), 0, 1e-9);
}

} // namespace pliant
