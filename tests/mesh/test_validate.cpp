#include "pliant/core/error.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/validate.hpp"

#include <gtest/gtest.h>

#include <limits>

using namespace pliant;

namespace {

template <class Mesh>
std::string fault(const Mesh& mesh)
{
    try {
        validate(mesh, "bar");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST(Validate, AcceptsGeneratedMeshesAtAnyScale)
{
    for (const Real s : {1e-6, 1.0, 1e6}) {
        EXPECT_EQ(fault(make_torus(s, 0.3 * s, 20, 10)), "");
        EXPECT_EQ(fault(make_tet_sphere(s, 4)), "");
        EXPECT_EQ(fault(make_tet_box({s, 1e-3 * s, s}, {4, 1, 4})), "") << "thin is not degenerate";
    }
}

TEST(Validate, NamesTheFaultyTriangle)
{
    const TriangleMesh good = make_box({1, 1, 1});
    TriangleMesh mesh = good;
    mesh.triangles[7][1] = 8;
    EXPECT_EQ(fault(mesh), "bar: triangle 7 uses vertex 8, but there are only 8 vertices.");
    mesh.triangles[7][1] = -1;
    EXPECT_EQ(fault(mesh), "bar: triangle 7 uses vertex -1, but there are only 8 vertices.");
    mesh = good;
    mesh.vertices[3].y() = std::numeric_limits<Real>::quiet_NaN();
    EXPECT_EQ(fault(mesh), "bar: vertex 3 has a coordinate that is not finite.");
    mesh = good;
    mesh.triangles[2][1] = mesh.triangles[2][0];
    EXPECT_EQ(fault(mesh), "bar: triangle 2 uses a vertex twice.");
    mesh = good;
    mesh.vertices.emplace_back(0, 0, 0);
    EXPECT_EQ(fault(mesh), "bar: vertex 8 is used by no triangle.");
    EXPECT_EQ(fault(TriangleMesh{{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, {{0, 1, 2}}}),
              "bar: triangle 0 is degenerate: its corners lie on a line.");
    EXPECT_EQ(fault(TriangleMesh{{{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}, {{0, 1, 2}}}),
              "bar: triangle 0 is degenerate: its corners lie on a line.");
    EXPECT_EQ(fault(TriangleMesh{}), "bar: the mesh has no triangle.");
}

TEST(Validate, NamesTheFaultyTetrahedron)
{
    TetMesh mesh = make_tet_box({1, 1, 1}, {2, 1, 1});
    std::swap(mesh.tets[5][0], mesh.tets[5][1]);
    EXPECT_EQ(fault(mesh), "bar: tetrahedron 5 is inverted: swap two of its vertices.");
    const Vec3s flat = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
    EXPECT_EQ(fault(TetMesh{flat, {{0, 1, 2, 3}}}), "bar: tetrahedron 0 is degenerate: its corners lie in a plane.");
    EXPECT_EQ(fault(TetMesh{flat, {{0, 1, 2, 4}}}), "bar: tetrahedron 0 uses vertex 4, but there are only 4 vertices.");
}

TEST(Validate, UnusedVerticesCanBeDroppedAndTheOthersKeepTheirOrder)
{
    TriangleMesh mesh;
    for (int i = 0; i < 6; ++i) mesh.vertices.push_back({Real(i), Real(i * i), 0});
    mesh.triangles = {{1, 5, 3}};
    drop_unused_vertices(mesh);
    EXPECT_EQ(mesh.triangles[0], (Triangle{0, 2, 1}));
    EXPECT_EQ(mesh.vertices, (Vec3s{{1, 1, 0}, {3, 9, 0}, {5, 25, 0}}));
    validate(mesh);
}
