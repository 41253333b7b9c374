#pragma once
// A simulation whose every state is checked exactly, with what the tests of hard contacts ask of it.

#include "methods/structures.hpp"
#include "pliant/run/certificate.hpp"

#include <algorithm>

namespace pliant {

struct Watched {
    std::int64_t intersections = 0; ///< over all states
    Index tunnelled = 0;            ///< vertices newly inside or behind, over all states
    std::int64_t crossings = 0;     ///< over all paths, when asked for
    Real gain = 0;                  ///< largest growth of the total energy in a step [J]
    Real jitter = 0;                ///< fastest surface vertex in the last quarter of the time [m/s]
    int contacts = 0;               ///< most active ones of a step
    World world;

    bool clean() const { return intersections == 0 && tunnelled == 0 && crossings == 0; }
};

inline Watched watch(World world, const MethodOptions& options, Real dt, Real duration, bool paths = false)
{
    const auto method = make_method(world, options);
    const RunMesh mesh = make_run_mesh(world.model);
    const FrameChecker checker(mesh);
    const int steps = int(std::lround(duration / dt));
    Frame before = make_frame(world, 0, dt, {});
    const FrameCheck start = checker.check(before);
    EXPECT_EQ(start.intersections, 0) << "at the start";
    Watched w;
    Real last = energy(world.model, world.state).total();
    for (int i = 1; i <= steps; ++i) {
        const StepReport report = method->step(world, dt);
        w.contacts = std::max(w.contacts, report.active_contacts);
        const Real now = energy(world.model, world.state).total();
        w.gain = std::max(w.gain, now - last);
        last = now;
        Frame frame = make_frame(world, i, dt, {});
        const FrameCheck found = checker.check(frame);
        w.intersections += found.intersections;
        w.tunnelled += std::max<Index>(0, count(found.enclosed) - count(start.enclosed));
        if (paths) {
            std::vector<PathState> corners = {{before.time, before.positions, before.planes}};
            for (const InnerState& s : report.inner)
                corners.push_back(make_path_state(mesh, store_state(world.model, s)));
            corners.push_back({frame.time, frame.positions, frame.planes});
            for (std::size_t k = 1; k < corners.size(); ++k)
                w.crossings += check_path(checker, corners[k - 1], corners[k]).impacts;
        }
        if (4 * i > 3 * steps)
            for (std::size_t v = 0; v < frame.velocities.size(); ++v)
                if (!mesh.prescribed[v]) w.jitter = std::max(w.jitter, frame.velocities[v].norm());
        before = std::move(frame);
    }
    w.world = std::move(world);
    return w;
}

} // namespace pliant
