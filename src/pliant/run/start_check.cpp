#include "pliant/run/start_check.hpp"

#include "pliant/run/certificate_frame.hpp"

#include <fmt/format.h>

#include <map>

namespace pliant {

StartCheck check_start(const World& world)
{
    const RunMesh mesh = make_run_mesh(world.model);
    const FrameChecker checker(mesh);
    const FrameCheck found = checker.check(make_frame(world, 0, 0, {}));
    StartCheck out;
    out.pairs_tested = found.pairs_tested;
    out.intersections = found.intersections;
    std::map<std::array<Index, 2>, const TriangleCrossing*> crossing; // of each pair of bodies: the first
    for (const TriangleCrossing& x : found.crossings) crossing.insert({{x.body_a, x.body_b}, &x});
    const auto name = [&](Index body) { return fmt::format("'{}'", mesh.bodies[body].name); };
    for (const auto& [bodies, x] : crossing) {
        const std::string pair = bodies[0] == bodies[1] ? fmt::format("two parts of {}", name(bodies[0]))
                                                        : fmt::format("{} and {}", name(bodies[0]), name(bodies[1]));
        out.faults.push_back(fmt::format("{} {} at ({:.6g}, {:.6g}, {:.6g}) m", pair,
                                         x->depth > 0 ? "intersect" : "touch", x->position.x(), x->position.y(),
                                         x->position.z()));
    }
    struct Inside {
        Index vertices = 0;
        Real depth = 0;
    };
    std::map<std::array<Index, 2>, Inside> inside; // body, container
    for (const Enclosure& e : found.enclosed) {
        Inside& i = inside[{checker.body_of_vertex(e.vertex), e.container}];
        ++i.vertices;
        i.depth = std::max(i.depth, e.depth);
    }
    for (const auto& [bodies, i] : inside) {
        const auto [body, container] = bodies;
        const bool whole = i.vertices == mesh.bodies[body].vertex_count;
        if (mesh.bodies[container].plane != none)
            out.faults.push_back(fmt::format("{} is {} behind the plane {}, by {:.3g} m", name(body),
                                             whole ? "wholly" : "partly", name(container), i.depth));
        else if (!crossing.contains({std::min(body, container), std::max(body, container)}))
            out.notes.push_back(fmt::format("{} is inside {}", name(body), name(container)));
    }
    return out;
}

} // namespace pliant
