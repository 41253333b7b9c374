#include "run/watched.hpp"

using namespace pliant;

TEST(LocalResponse, AddsEnergyThatTheGlobalResponseDoesNot)
{
    const auto gain = [](const std::string& name) {
        const Scene scene = load_scene(PLIANT_SOURCE_DIR "/scenes/" + name);
        const World start = build_world(scene);
        const Watched w = watch(start, scene.method, scene.step, scene.end);
        EXPECT_TRUE(w.clean()) << name;
        EXPECT_GT(w.contacts, 0) << name;
        return w.gain / energy(start.model, start.state).kinetic;
    };
    EXPECT_LT(gain("local-vs-global.yaml"), 0.02);
    EXPECT_GT(gain("local-response.yaml"), 1);
}

TEST(LocalResponse, IsTheGlobalOneForRigidBodiesBecauseTheyHaveNoStiffness)
{
    const auto end = [](SolverKind kind) {
        WorldBuilder builder;
        builder.set_friction(friction(0.4));
        builder.add_plane({}, named("floor"));
        BodyOptions box = named("box", {0, 0.08, 0});
        box.velocity = {0.5, -1, 0.1};
        box.angular_velocity = {0, 1, 2};
        builder.add_rigid(make_box({0.2, 0.1, 0.15}), {}, box);
        builder.add_rigid(make_box(Vec3::Constant(0.1)), {}, named("upper", {0.02, 0.2, 0}));
        ImplicitOptions options = implicit_options();
        options.solver.kind = kind;
        options.solver.tolerance = 1e-9;
        options.solver.max_iterations = 10000;
        return simulate(builder.build(), options, 5e-3, 0.1);
    };
    const World local = end(SolverKind::local), global = end(SolverKind::anticipation);
    for (Index block : {0, 2})
        EXPECT_LT((local.state.position[block] - global.state.position[block]).norm(), 1e-6) << block;
}
