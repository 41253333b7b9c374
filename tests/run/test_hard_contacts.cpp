// Contacts whose features give normals no hold: the spike, wedge, cliff and crack cases of Erleben ("Methodology for
// assessing mesh-based contact point methods", 2018), a narrow tunnel, a house of cards. Every state is checked
// exactly.

#include "run/watched.hpp"

using namespace pliant;

namespace {

constexpr Real size = 0.1;

/// Narrows a shape towards its lower end: `x` and `z` are the parts of the width that are left there.
template <class Mesh>
Mesh tapered(Mesh mesh, Real x, Real z)
{
    Real low = 1e30, high = -1e30;
    for (const Vec3& p : mesh.vertices) {
        low = std::min(low, p.y());
        high = std::max(high, p.y());
    }
    for (Vec3& p : mesh.vertices) {
        const Real u = (p.y() - low) / (high - low);
        p.x() *= x + u * (1 - x);
        p.z() *= z + u * (1 - z);
    }
    return mesh;
}

/// Adds a body of the given shape, rigid or elastic.
Index add(WorldBuilder& builder, bool elastic, Real taper_x, Real taper_z, const Vec3& at)
{
    if (!elastic)
        return builder.add_rigid(tapered(make_box(Vec3::Constant(size)), taper_x, taper_z), {}, named("falls", at));
    SolidMaterial material;
    material.young = 5e5;
    material.damping = 2e-3;
    return builder.add_solid(tapered(make_tet_box(Vec3::Constant(size), {2, 3, 2}), taper_x, taper_z), material,
                             named("falls", at));
}

Pose turned(const Vec3& at, const Vec3& degrees)
{
    Pose pose;
    pose.translation = at;
    pose.rotation = rotation_xyz(degrees * std::numbers::pi / 180);
    return pose;
}

void add_obstacle(WorldBuilder& builder, const TriangleMesh& mesh, const std::string& name, const Vec3& at,
                  const Vec3& degrees = Vec3::Zero())
{
    BodyOptions options = named(name);
    options.place = turned(at, degrees);
    builder.add_obstacle(mesh, options);
}

WorldBuilder ground()
{
    WorldBuilder builder;
    builder.set_friction(friction(0.4));
    builder.add_plane({}, named("floor"));
    return builder;
}

void expect_rest(const Watched& w, const std::string& what)
{
    EXPECT_TRUE(w.clean()) << what;
    EXPECT_GT(w.contacts, 0) << what;
    const Real scale = moving_mass(w.world.model) * 9.81 * size;
    std::printf("%s: jitter %.2g m/s, energy gain %.2g of m g L\n", what.c_str(), w.jitter, w.gain / scale);
    EXPECT_LT(w.jitter, 2e-3) << what;
    EXPECT_LT(w.gain, 1e-4 * scale) << what;
}

} // namespace

TEST(HardContacts, SpikeThatFallsOnASpikeSlidesOffAndRests)
{
    for (bool elastic : {false, true}) {
        WorldBuilder builder = ground();
        const TriangleMesh spike = tapered(make_box(Vec3::Constant(size)), 0.02, 0.02);
        add_obstacle(builder, spike, "spike", {0, size / 2 + 2e-3, 0}, {180, 0, 0});
        const Real tip = elastic ? 0.2 : 0.02;
        add(builder, elastic, tip, tip, {5e-4, 1.5 * size + 0.02, 3e-4});
        expect_rest(watch(builder.build(), accurate(), 2.5e-3, 3), elastic ? "elastic spike" : "rigid spike");
    }
}

TEST(HardContacts, WedgeThatFallsIntoAGrooveJamsAndRests)
{
    for (bool elastic : {false, true}) {
        WorldBuilder builder = ground();
        const TriangleMesh slab = make_box({0.05, 0.3, 0.3});
        add_obstacle(builder, slab, "left", {-0.08, 0.2, 0}, {0, 0, 25});
        add_obstacle(builder, slab, "right", {0.08, 0.2, 0}, {0, 0, -25});
        add(builder, elastic, 0.02, 1, {3e-3, 0.35, 0});
        expect_rest(watch(builder.build(), implicit_options(), 5e-3, 2), elastic ? "elastic wedge" : "rigid wedge");
    }
}

TEST(HardContacts, BoxRestsOnTheBrinkOfACliff)
{
    for (bool elastic : {false, true})
        for (Real overhang : {0.0, 0.4}) { // of the box; its edge on the cliff's edge, and over it
            WorldBuilder builder = ground();
            add_obstacle(builder, make_box({0.4, 0.2, 0.4}), "cliff", {0, 0.11, 0});
            add(builder, elastic, 1, 1, {0.2 - size / 2 + overhang * size, 0.21 + size / 2 + 5e-3, 0});
            const Watched w = watch(builder.build(), implicit_options(), 5e-3, 2);
            expect_rest(w, std::string(elastic ? "elastic" : "rigid") + " cliff " + std::to_string(overhang));
            EXPECT_GT(center(w.world, 2).y(), 0.21 + 0.45 * size) << "it fell";
        }
}

TEST(HardContacts, SpikeAndEdgeRestOverACrack)
{
    for (bool elastic : {false, true})
        for (bool box : {false, true}) { // a tip of 2 mm over 1 mm of crack; a box whose side is on the crack
            const Real taper = box ? 1 : elastic ? 0.2 : 0.02;
            WorldBuilder builder = ground();
            add_obstacle(builder, make_box({0.2, 0.1, 0.4}), "left", {-0.1005, 0.06, 0});
            add_obstacle(builder, make_box({0.2, 0.1, 0.4}), "right", {0.1005, 0.06, 0});
            add(builder, elastic, taper, taper, {box ? size / 2 : 0, 0.11 + size / 2 + 0.01, 0});
            expect_rest(watch(builder.build(), accurate(), 5e-3, 5),
                        std::string(elastic ? "elastic" : "rigid") + (box ? " box" : " spike") + " on crack");
        }
}

TEST(HardContacts, CubeFliesThroughATunnelOfATenthOfAMillimetreClearance)
{
    // A square tunnel of four slabs around the path of a 10 cm cube at 10 m/s: 0.1 mm of room on every side.
    constexpr Real clearance = 1e-4, length = 1, thickness = 0.05, mu = 0.1, speed = 10;
    WorldBuilder builder;
    builder.set_friction(friction(mu));
    const Real half = size / 2 + clearance;
    const Vec3 flat(length, thickness, 0.2), upright(length, 0.2, thickness);
    add_obstacle(builder, make_box(flat), "below", {0, -half - thickness / 2, 0});
    add_obstacle(builder, make_box(flat), "above", {0, half + thickness / 2, 0});
    add_obstacle(builder, make_box(upright), "left", {0, 0, -half - thickness / 2});
    add_obstacle(builder, make_box(upright), "right", {0, 0, half + thickness / 2});
    BodyOptions cube = named("cube", {-length / 2 + size, 0, 0});
    cube.velocity = {speed, 0, 0};
    cube.gap = 5e-5;
    const Index body = builder.add_rigid(make_box(Vec3::Constant(size)), {}, cube);
    const World start = builder.build();
    const Real dt = 5e-3, duration = 0.12;
    const Watched w = watch(start, implicit_options(), dt, duration, true);
    EXPECT_TRUE(w.clean());
    EXPECT_GT(w.contacts, 0);
    EXPECT_GT(center(w.world, body).x(), length / 2 + size / 2) << "it is through";
    // Sliding friction takes mu g for as long as it slides; before, it falls by the clearance at most, and the impact
    // takes mu times its speed then.
    const Real lost = speed - w.world.state.velocity[0].x();
    const Real explained = mu * (9.81 * duration + std::sqrt(2 * 9.81 * clearance));
    std::printf("tunnel: %.3g m/s lost, friction explains up to %.3g\n", lost, explained);
    EXPECT_GE(lost, 0);
    EXPECT_LE(lost, 1.02 * explained);
}

TEST(HardContacts, HouseOfCardsOfTwoLevelsStands)
{
    // Two pairs of cards that lean on each other by 15 degrees, a card across, a third pair on it. A pair that carries
    // weight on its ridge needs friction of up to tan(15 degrees) = 0.27 at its feet.
    constexpr Real length = 0.1, thickness = 2e-3, width = 0.06, gap = 1e-4, lean = 15 * std::numbers::pi / 180;
    const Real half_height = (length * std::cos(lean) + thickness * std::sin(lean)) / 2;
    const Real half_width = (length * std::sin(lean) + thickness * std::cos(lean)) / 2;
    const auto house = [&](Real mu) {
        WorldBuilder builder;
        builder.set_friction(friction(mu));
        builder.add_plane({}, named("table"));
        const TriangleMesh card = make_box({thickness, length, width}, {1, 4, 2});
        int number = 0;
        const auto add_card = [&](const Vec3& at, Real turn) {
            BodyOptions options = named("card" + std::to_string(number++));
            options.place.translation = at;
            options.place.rotation = rotation_xyz({0, 0, turn});
            options.gap = gap;
            builder.add_rigid(card, {700}, options);
        };
        const auto add_pair = [&](Real x, Real y) {
            for (int side : {-1, 1})
                add_card({x + side * (half_width + gap / 2), y + gap + half_height, 0}, side * lean);
        };
        const Real spacing = 2 * half_width + 4e-3, floor = 2 * (half_height + gap) + thickness;
        for (int side : {-1, 1}) add_pair(side * spacing, 0);
        add_card({0, floor - thickness / 2, 0}, std::numbers::pi / 2);
        add_pair(0, floor);
        return builder.build();
    };
    const auto moved = [](const World& a, const World& b) {
        Vec3s x, y;
        surface_positions(a.model, a.state, x);
        surface_positions(b.model, b.state, y);
        Real most = 0;
        for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, (x[i] - y[i]).norm());
        return most;
    };
    const World start = house(0.5);
    const Watched w = watch(start, accurate(), 5e-3, 2);
    EXPECT_TRUE(w.clean());
    std::printf("house of cards: moved %.2g of a card's length in 2 s, jitter %.2g m/s\n",
                moved(start, w.world) / length, w.jitter);
    EXPECT_LT(moved(start, w.world), 1e-4 * length);
    EXPECT_LT(w.jitter, 1e-3);

    const World slippery = house(0.1);
    const Watched fallen = watch(slippery, accurate(), 5e-3, 1);
    EXPECT_TRUE(fallen.clean());
    EXPECT_LT(top(fallen.world), 0.5 * top(slippery)) << "without friction it is no house";
}
