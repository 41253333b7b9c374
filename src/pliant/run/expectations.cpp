#include "pliant/run/expectations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

bool moves(const RunBody& body)
{
    return body.kind != BodyKind::obstacle && body.kind != BodyKind::plane;
}

Real gravity_of(const Scene& scene)
{
    const Value& gravity = scene.document.at("gravity");
    return gravity.is_list() ? gravity.vec3().norm() : 9.81;
}

std::string text(const Eigen::AlignedBox<Real, 3>& box)
{
    return fmt::format("({:.6g}, {:.6g}, {:.6g}) to ({:.6g}, {:.6g}, {:.6g})", box.min().x(), box.min().y(),
                       box.min().z(), box.max().x(), box.max().y(), box.max().z());
}

ExpectationCheck at_rest(Real by, const Stats& stats, Real limit)
{
    const std::vector<Real> time = stats.values("time"), speed = stats.values("max_speed");
    Real fastest = 0, reached = 0;
    for (std::size_t i = 0; i < time.size(); ++i) {
        reached = std::max(reached, time[i]);
        if (time[i] >= by * (1 - 1e-12)) fastest = std::max(fastest, speed[i]);
    }
    ExpectationCheck e{"at-rest-by", fmt::format("at most {:.3g} m/s from {:g} s on", limit, by), "", false};
    if (reached < by * (1 - 1e-9)) {
        e.measured = fmt::format("the run has reached {:g} s only", reached);
        return e;
    }
    e.measured = fmt::format("fastest {:.3g} m/s", fastest);
    e.kept = fastest <= limit;
    return e;
}

} // namespace

Real rest_speed(const RunMesh& mesh, Real gravity)
{
    Real largest = 0;
    for (const RunBody& body : mesh.bodies) {
        if (!moves(body)) continue;
        Eigen::AlignedBox<Real, 3> box;
        for (Index v = body.first_vertex; v < body.first_vertex + body.vertex_count; ++v) box.extend(mesh.rest[v]);
        if (!box.isEmpty()) largest = std::max(largest, box.diagonal().norm());
    }
    return 0.01 * (gravity > 0 ? std::sqrt(gravity * largest) : largest);
}

std::vector<ExpectationCheck> check_expectations(const Scene& scene, const RunReader& reader, const Certificate& c)
{
    std::vector<ExpectationCheck> out;
    const Expectation& expect = scene.expect;
    if (expect.intersections)
        out.push_back({"intersections", fmt::format("at most {} in any frame", *expect.intersections),
                       fmt::format("{}", c.most_in_a_frame), c.most_in_a_frame <= *expect.intersections});
    const Stats stats = reader.stats();
    if (expect.at_rest_by)
        out.push_back(at_rest(*expect.at_rest_by, stats, rest_speed(reader.mesh(), gravity_of(scene))));
    if (expect.contacts) {
        const std::vector<Real> a = stats.values("contacts_vertex_face"), b = stats.values("contacts_edge_edge"),
                                p = stats.values("contacts_plane");
        Real most = 0;
        for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, a[i] + b[i] + p[i]);
        out.push_back({"contacts", fmt::format("at least {} in some step", *expect.contacts), fmt::format("{}", most),
                       most >= static_cast<Real>(*expect.contacts)});
    }
    if (expect.bounds) {
        const Frame last = reader.frame(c.frames - 1);
        Eigen::AlignedBox<Real, 3> box;
        for (const RunBody& body : reader.bodies())
            for (Index v = body.first_vertex; v < body.first_vertex + body.vertex_count && moves(body); ++v)
                box.extend(last.positions[v]);
        ExpectationCheck e{"bounds", text(*expect.bounds), text(box), c.finished && expect.bounds->contains(box)};
        if (!c.finished) e.measured = "the run is not finished";
        out.push_back(e);
    }
    return out;
}

} // namespace pliant
