// Cloth in hard contact, every state and every path checked exactly.

#include "run/twisted.hpp"

using namespace pliant;

TEST(ClothContacts, SheetTwistedByTwoTurnsNeverCrossesItself)
{
    const Watched w = twist(2, 12);
    EXPECT_TRUE(w.clean()) << w.intersections << " intersections, " << w.crossings << " crossings";
    EXPECT_GT(w.contacts, 20) << "it has not become a rope";
}

namespace {

/// How far the dish and the pulled edge of the tablecloth have moved [m], and whether nothing has crossed.
struct Pull {
    Vec3 dish;
    Real pulled = 0;
    bool clean = false;
};

Pull pull_tablecloth(const std::string& keyframes, Real end)
{
    const Scene scene =
        load_scene(PLIANT_SOURCE_DIR "/scenes/tablecloth.yaml",
                   {"bodies.cloth.mesh.grid.vertices=[25, 17]", "bodies.cloth.motion.keyframes=" + keyframes});
    const World start = build_world(scene);
    const Watched w = watch(start, scene.method, scene.step, end);
    Index dish = none, cloth = none;
    for (Index b = 0; b < count(start.model.bodies); ++b) {
        if (start.model.bodies[b].name == "dish") dish = b;
        if (start.model.bodies[b].name == "cloth") cloth = b;
    }
    const Index corner = start.model.bodies[cloth].first_block + 24; // x is fastest
    return {center(w.world, dish) - center(start, dish),
            w.world.state.position[corner].x() - start.state.position[corner].x(), w.clean()};
}

} // namespace

TEST(ClothContacts, TableclothPulledFastLeavesTheDish)
{
    const Pull p = pull_tablecloth("[{time: 0.2}, {time: 0.5, move: [1.2, 0, 0]}]", 1);
    EXPECT_TRUE(p.clean);
    EXPECT_NEAR(p.pulled, 1.2, 1e-9);
    std::printf("fast: the dish moved by %.3f m\n", p.dish.x());
    EXPECT_GT(p.dish.x(), 0.001) << "friction pulls a little";
    EXPECT_LT(p.dish.x(), 0.06) << "its own radius";
    EXPECT_LT(std::abs(p.dish.y()), 0.03) << "on the table now";
}

TEST(ClothContacts, TableclothPulledSlowlyDragsTheDish)
{
    const Pull p = pull_tablecloth("[{time: 0.2}, {time: 1.7, move: [0.3, 0, 0]}]", 2);
    EXPECT_TRUE(p.clean);
    EXPECT_NEAR(p.pulled, 0.3, 1e-9);
    std::printf("slowly: the dish moved by %.3f m\n", p.dish.x());
    EXPECT_NEAR(p.dish.x(), 0.3, 0.03);
}
