#include "detection/tet_scene.hpp"
#include "pliant/detection/exit_face.hpp"
#include "pliant/detection/tet_hash.hpp"

#include <gtest/gtest.h>

#include <limits>

using namespace pliant;

namespace {

/// The first face of the body that the ray meets from inside, by looking at all of them.
std::pair<Index, Real> first_face(const CollisionMesh& mesh, const Vec3s& x, Index body, const Vec3& p, const Vec3& r)
{
    std::pair<Index, Real> best = {none, std::numeric_limits<Real>::infinity()};
    for (Index f = mesh.face_begin[body]; f < mesh.face_begin[body + 1]; ++f) {
        const Triangle& v = mesh.faces[f];
        Mat3 m;
        m << -r, x[v[1]] - x[v[0]], x[v[2]] - x[v[0]];
        const Vec3 tuv = m.inverse() * (p - x[v[0]]);
        if (tuv.x() > 0 && tuv.y() > 0 && tuv.z() > 0 && tuv.y() + tuv.z() < 1 && tuv.x() < best.second)
            best = {f, tuv.x()};
    }
    return best;
}

} // namespace

TEST(ExitFace, IsTheFirstFaceAlongTheRay)
{
    const TetScene scene = random_bodies(23, 9, 1.2);
    const CollisionMesh mesh = scene.mesh();
    TetHash hash(mesh);
    Random random(1);
    for (const PointInBody& p : hash.find(scene.x)) {
        const Vec3 r = random.on_sphere();
        const auto [face, distance] = first_face(mesh, scene.x, p.body, scene.x[p.node], r);
        const std::optional<ExitFace> exit = find_exit_face(mesh, scene.x, p, r);
        ASSERT_TRUE(exit);
        EXPECT_EQ(exit->face, face);
        EXPECT_NEAR(exit->distance, distance, 1e-12);
        Vec3 y = Vec3::Zero();
        for (int k = 0; k < 3; ++k) y += exit->weights[k] * scene.x[mesh.faces[face][k]];
        EXPECT_LT((y - scene.x[p.node] - distance * r).norm(), 1e-12);
        EXPECT_GE(exit->weights.minCoeff(), 0);
    }
}

TEST(ExitFace, IsFoundFromNodesThatLieOnFacesAndEdges)
{
    TetScene scene;
    scene.add(make_tet_box({1, 1, 1}, {4, 4, 4}));
    scene.add(make_tet_box({1, 1, 1}, {8, 8, 8}));
    const CollisionMesh mesh = scene.mesh();
    TetHash hash(mesh);
    for (const PointInBody& p : hash.find(scene.x))
        for (const Vec3& r : {Vec3(0, 1, 0), Vec3(-1, 0, 0), Vec3(0.6, 0, 0.8)}) {
            const std::optional<ExitFace> exit = find_exit_face(mesh, scene.x, p, r);
            ASSERT_TRUE(exit);
            const Vec3 out = scene.x[p.node] + exit->distance * r;
            EXPECT_NEAR(out.lpNorm<Eigen::Infinity>(), 0.5, 1e-12);
        }
}

TEST(ExitFace, IsNotLookedForThroughInvertedTetrahedra)
{
    TetScene scene;
    scene.add(make_tet_box({3, 1, 1}, {3, 1, 1}));
    scene.add(make_tet_box({0.1, 0.1, 0.1}, {1, 1, 1}), at(-1.2, 0.1, 0.2));
    const CollisionMesh mesh = scene.mesh();
    for (Vec3& x : scene.x)
        if (x.x() > 0.4) x.x() -= 2; // the middle cell is turned inside out
    TetHash hash(mesh);
    const std::vector<PointInBody>& points = hash.find(scene.x);
    ASSERT_FALSE(points.empty());
    EXPECT_FALSE(find_exit_face(mesh, scene.x, points[0], {1, 0, 0}));
    EXPECT_TRUE(find_exit_face(mesh, scene.x, points[0], {0, 1, 0}));
}
