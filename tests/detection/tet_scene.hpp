#pragma once
// Scenes of tetrahedral bodies for tests and benchmarks of the methods on tetrahedra.

#include "pliant/core/random.hpp"
#include "pliant/detection/collision_mesh.hpp"
#include "pliant/mesh/generators.hpp"

namespace pliant {

struct TetScene {
    CollisionInput input;
    Vec3s x; ///< positions [m]
    std::vector<HalfSpace> half_spaces;

    Index add(const TetMesh& mesh, const Pose& pose = {})
    {
        const Index body = add_nodes(mesh.vertices, pose), first = count(x) - count(mesh.vertices);
        for (Tet t : mesh.tets) {
            for (Index& v : t) v += first;
            input.tets.push_back(t);
            input.tet_body.push_back(body);
        }
        return body;
    }
    Index add_shell(const TriangleMesh& mesh, const Pose& pose = {})
    {
        const Index body = add_nodes(mesh.vertices, pose), first = count(x) - count(mesh.vertices);
        for (const Triangle& t : mesh.triangles) {
            input.shells.push_back({t[0] + first, t[1] + first, t[2] + first});
            input.shell_body.push_back(body);
        }
        input.still.push_back(body);
        return body;
    }
    Index add_half_space(const Vec3& normal, Real offset)
    {
        half_spaces.push_back({input.bodies, normal, offset});
        input.still.push_back(input.bodies);
        return input.bodies++;
    }
    CollisionMesh mesh() const { return make_collision_mesh(input); }

private:
    Index add_nodes(const Vec3s& vertices, const Pose& pose)
    {
        for (const Vec3& v : vertices) {
            x.push_back(pose(v));
            input.rest.push_back(x.back());
            input.node_body.push_back(input.bodies);
        }
        return input.bodies++;
    }
};

inline Pose at(Real x, Real y, Real z)
{
    return {Vec3(x, y, z), Quat::Identity()};
}

/// Boxes, balls and rings of size about 1 thrown into a cube of the given side.
inline TetScene random_bodies(std::uint64_t seed, Index bodies, Real side)
{
    Random random(seed);
    TetScene scene;
    for (Index b = 0; b < bodies; ++b) {
        const Pose pose = {random.in_box(Vec3::Zero(), Vec3::Constant(side)), random.rotation()};
        if (b % 3 == 0)
            scene.add(make_tet_box({1, 0.7, 0.5}, {4, 3, 2}), pose);
        else if (b % 3 == 1)
            scene.add(make_tet_sphere(0.5, 3), pose);
        else
            scene.add(make_tet_torus(0.5, 0.15, 12, 6), pose);
    }
    return scene;
}

} // namespace pliant
