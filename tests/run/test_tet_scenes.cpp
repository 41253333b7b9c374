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
    Real first_edges = 0;  ///< the deepest point after the first sub-step with contact, over an edge
    Real back = 0, on = 0; ///< sums over all steps and points of the forces against the flight and along it [N]
    Vec3 left, right;      ///< velocities at the end [m/s]
    Real crossed = -1;     ///< how far the centre of the left cube got beyond the right one's [m]
    int contacts_at_end = 0;
    Real most_energy = 0;    ///< of any step, over that of the start
    Real momentum_error = 0; ///< at the end, over that of the left cube at the start

    Real onwards() const { return on / (on + back); }
    /// Between what the left cube was pushed by and the line of its flight [degrees].
    Real off_the_line() const
    {
        const Vec3 change = left - Vec3(2, 0, 0);
        return std::atan2(std::hypot(change.y(), change.z()), -change.x()) * 180 / std::numbers::pi;
    }
};

Flight fly(std::vector<std::string> overrides)
{
    const Scene scene = load_scene(std::filesystem::path(PLIANT_SOURCE_DIR) / "scenes/two-cubes.yaml", overrides);
    World world = build_world(scene);
    const auto method = make_method(world, scene.method);
    Flight flight;
    const auto total = [&] {
        const Energy e = energy(world.model, world.state);
        return e.kinetic + e.elastic;
    };
    const auto momentum = [&] {
        Vec3 sum = Vec3::Zero();
        for (Index i = 0; i < world.model.block_count(); ++i) sum += world.model.mass[i] * world.state.velocity[i];
        return sum;
    };
    const Real at_start = total();
    const Vec3 momentum_at_start = momentum();
    for (std::int64_t i = 0; i < scene.step_count(); ++i) {
        const StepReport report = method->step(world, scene.step);
        if (flight.first_edges == 0) flight.first_edges = report.own.get<TetContactReport>().penetration_edges;
        EXPECT_EQ(report.substeps, 1);
        for (const ContactPoint& c : report.contacts) { // the left cube came along +x
            const Real along = (c.body_a == 0 ? 1 : -1) * c.force.x();
            (along > 0 ? flight.on : flight.back) += std::abs(along);
        }
        flight.crossed = std::max(flight.crossed, mean_of(world, 0, world.state.position).x() -
                                                      mean_of(world, 1, world.state.position).x());
        flight.contacts_at_end = report.contact_count;
        flight.most_energy = std::max(flight.most_energy, total() / at_start);
    }
    flight.left = mean_of(world, 0, world.state.velocity);
    flight.right = mean_of(world, 1, world.state.velocity);
    flight.momentum_error = (momentum() - momentum_at_start).norm() / (0.18 * 0.18 * 0.18 * 1000 * 2);
    return flight;
}

} // namespace

TEST(TwoCubes, AreAnEdgeDeepAtOnceAndComeBackButGoThroughEachOtherWithTheClosestFeature)
{
    const Flight consistent = fly({}), closest = fly({"contact.depth=closest-feature"});
    EXPECT_GE(consistent.first_edges, 1);
    EXPECT_GE(closest.first_edges, 1);
    EXPECT_EQ(consistent.contacts_at_end, 0);
    EXPECT_LT(consistent.most_energy, 1 + 1e-9);
    EXPECT_LT(consistent.crossed, 0) << "the centres never pass each other";
    EXPECT_LT(consistent.left.x(), -1) << "the left one flies back to the left";
    EXPECT_GT(consistent.right.x(), 0.5);
    EXPECT_LT(consistent.off_the_line(), 15);
    EXPECT_LT(consistent.momentum_error, 1e-5) << "to the tolerance of the linear solves";
    EXPECT_GT(closest.crossed, 0.2) << "the left one comes out on the right";
    EXPECT_GT(closest.left.x(), 0.3);
    EXPECT_LT(consistent.onwards(), 0.05) << "depths point back to where each came from";
    EXPECT_GT(closest.onwards(), 0.2) << "points are pushed out on the wrong side";
}

TEST(TwoCubes, ComeBackAlongTheirLineForEveryStepAndOffset)
{
    for (const char* step : {"5 ms", "7 ms", "9 ms", "10.5 ms"})
        for (const char* offset : {"0, 0", "0.001, 0.0005", "0.004, 0.002"}) {
            const Flight f =
                fly({std::string("time.step=") + step, std::string("bodies.left.place.at=[-0.1325, ") + offset + "]"});
            EXPECT_LT(f.crossed, 0) << step << ", " << offset;
            EXPECT_LT(f.left.x(), -1.3) << step << ", " << offset;
            EXPECT_LT(f.off_the_line(), std::string(offset) == "0, 0" ? 1e-3 : 15) << step << ", " << offset;
        }
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
