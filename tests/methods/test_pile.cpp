// Many bodies on each other: what a solver that works on many pairs of them at once may not change.

#include "methods/contact_fixture.hpp"

#include "pliant/core/parallel.hpp"

using namespace pliant;

namespace {

/// Columns of small soft cubes of random turns, which fall over onto each other.
World pile(Index columns, Index height)
{
    Random random(7);
    WorldBuilder builder;
    builder.set_friction(friction(0.4));
    builder.add_plane({}, named("floor"));
    SolidMaterial material;
    material.young = 1e5;
    material.density = 500;
    constexpr Real edge = 0.05, apart = 0.056;
    for (Index i = 0; i < columns; ++i)
        for (Index k = 0; k < columns; ++k)
            for (Index level = 0; level < height; ++level) {
                BodyOptions cube = named("cube " + std::to_string((i * columns + k) * height + level),
                                         apart * Vec3(i, Real(level) + 0.55, k));
                cube.place.rotation = Eigen::AngleAxisd(random.uniform(-0.1, 0.1), random.on_sphere());
                builder.add_solid(make_tet_box(Vec3::Constant(edge), {1, 1, 1}), material, cube);
            }
    return builder.build();
}

} // namespace

TEST(Pile, HasTheSameBitsForAnyThreadCount)
{
    std::vector<std::uint64_t> hashes;
    Index contacts = 0;
    for (int threads : {1, 2, 3, 8}) {
        set_thread_count(threads);
        World world = pile(8, 3);
        const auto method = make_method(world, implicit_options());
        for (int step = 0; step < 25; ++step) contacts = method->step(world, 0.01).active_contacts;
        hashes.push_back(world.state.hash());
    }
    set_thread_count(0);
    for (std::uint64_t hash : hashes) EXPECT_EQ(hash, hashes[0]);
    EXPECT_GT(contacts, 500) << "rows enough for the solver to visit them in parallel";
}
