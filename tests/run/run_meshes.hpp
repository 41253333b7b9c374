#pragma once
// Small worlds of triangles for the certificate's tests.

#include "pliant/mesh/mesh.hpp"
#include "pliant/mesh/topology.hpp"
#include "pliant/run/frame.hpp"

namespace pliant {

struct TriangleWorld {
    RunMesh mesh;
    Frame frame;

    Index add(TriangleMesh body, const Vec3& at = Vec3::Zero(), BodyKind kind = BodyKind::solid)
    {
        RunBody b;
        b.name = "body" + std::to_string(mesh.bodies.size());
        b.kind = kind;
        b.first_vertex = count(frame.positions);
        b.vertex_count = count(body.vertices);
        b.first_triangle = count(mesh.triangles);
        b.triangle_count = count(body.triangles);
        b.closed = is_closed(body.triangles);
        for (const Vec3& x : body.vertices) frame.positions.push_back(x + at);
        for (const Triangle& t : body.triangles)
            mesh.triangles.push_back({t[0] + b.first_vertex, t[1] + b.first_vertex, t[2] + b.first_vertex});
        mesh.prescribed.resize(frame.positions.size(), kind == BodyKind::obstacle);
        mesh.rest = frame.positions;
        mesh.bodies.push_back(b);
        return count(mesh.bodies) - 1;
    }

    Index add_plane(const Plane& plane)
    {
        RunBody b;
        b.name = "plane";
        b.kind = BodyKind::plane;
        b.first_vertex = count(frame.positions);
        b.first_triangle = count(mesh.triangles);
        b.plane = count(frame.planes);
        frame.planes.push_back(plane);
        mesh.bodies.push_back(b);
        return count(mesh.bodies) - 1;
    }

    void move(Index body, const Vec3& by)
    {
        const RunBody& b = mesh.bodies[body];
        for (Index v = b.first_vertex; v < b.first_vertex + b.vertex_count; ++v) frame.positions[v] += by;
    }
};

} // namespace pliant
