// A surface in a lattice of cells: what is kept, where the vertices are, what the cells hold.

#include "pliant/core/error.hpp"
#include "pliant/core/random.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/lattice.hpp"
#include "pliant/mesh/topology.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numbers>

using namespace pliant;

namespace {

Real area_of(const TriangleMesh& mesh)
{
    Real sum = 0;
    for (const auto& [a, b, c] : mesh.triangles)
        sum += (mesh.vertices[b] - mesh.vertices[a]).cross(mesh.vertices[c] - mesh.vertices[a]).norm() / 2;
    return sum;
}

Real sum(const std::vector<Real>& values)
{
    Real total = 0;
    for (const Real v : values) total += v;
    return total;
}

Vec3 mapped(const LatticeMesh& mesh, Index vertex)
{
    Vec3 x = Vec3::Zero();
    const auto w = trilinear_weights(mesh.local[vertex]);
    for (int k = 0; k < 8; ++k) x += w[k] * mesh.nodes[mesh.corners[mesh.cell[vertex]][k]];
    return x;
}

bool holds(const LatticeMesh::Part& part, const Vec3& local)
{
    return (local.array() >= part.low.array()).all() && (local.array() <= part.high.array()).all();
}

/// What holds for the lattice of any surface.
void expect_lattice(const LatticeMesh& mesh)
{
    ASSERT_EQ(mesh.cell.size(), mesh.surface.vertices.size());
    for (Index v = 0; v < count(mesh.cell); ++v) {
        ASSERT_NE(mesh.cell[v], none);
        ASSERT_LT((mapped(mesh, v) - mesh.surface.vertices[v]).norm(), 1e-12 * mesh.surface.vertices[v].norm() + 1e-14);
        ASSERT_TRUE(holds(mesh.content[mesh.cell[v]], mesh.local[v]));
    }
    for (Index c = 0; c < mesh.cell_count(); ++c) {
        EXPECT_EQ(mesh.cell_at(mesh.cell_place[c]), c);
        EXPECT_TRUE((mesh.content[c].low.array() >= 0).all() && (mesh.content[c].high.array() <= 1).all());
        for (int k = 0; k < 8; ++k)
            for (int axis = 0; axis < 3; ++axis)
                EXPECT_EQ(mesh.node_place[mesh.corners[c][k]][axis], mesh.cell_place[c][axis] + (k >> axis & 1));
    }
    EXPECT_NEAR(sum(mesh.area), area_of(mesh.surface), 1e-9 * area_of(mesh.surface));
    // Points anywhere on the surface are in what their cell holds.
    Random random(5);
    for (int i = 0; i < 2000; ++i) {
        const auto [a, b, c] = mesh.surface.triangles[random.below(count(mesh.surface.triangles))];
        Real u = random.uniform(), v = random.uniform();
        if (u + v > 1) u = 1 - u, v = 1 - v;
        const Vec3s& x = mesh.surface.vertices;
        const Vec3 p = ((1 - u - v) * x[a] + u * x[b] + v * x[c] - mesh.origin) / mesh.side;
        bool held = false; // by one of the cells next to it: p may be on a border up to rounding
        for (int k = 0; k < 8; ++k) {
            LatticeMesh::Place place;
            for (int axis = 0; axis < 3; ++axis)
                place[axis] = static_cast<Index>(std::floor(p[axis] + (k >> axis & 1 ? 1e-9 : -1e-9)));
            const Index cell = mesh.cell_at(place);
            if (cell == none) continue;
            const Vec3 local = p - Vec3(place[0], place[1], place[2]);
            const LatticeMesh::Part& part = mesh.content[cell];
            held = held || holds({part.low.array() - 1e-9, part.high.array() + 1e-9}, local);
        }
        ASSERT_TRUE(held) << p.transpose();
    }
}

std::string message_of(const std::function<void()>& action)
{
    try {
        action();
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

} // namespace

TEST(Lattice, HoldsEverySurfaceOpenOrClosedHollowOrFilled)
{
    for (const bool filled : {false, true})
        for (const Index cells : {1, 3, 7}) {
            expect_lattice(make_lattice(make_sphere(0.7, 3), {cells, 0, filled}));
            expect_lattice(make_lattice(make_torus(0.5, 0.2, 31, 17), {cells, 0, filled}));
            expect_lattice(make_lattice(make_box({1, 0.5, 0.25}), {cells, 0, filled})); // walls on borders of cells
        }
    expect_lattice(make_lattice(make_grid(1, 1, 2, 2), {8})); // flat, and triangles larger than cells
    expect_lattice(make_lattice(make_cone(0.5, 0.2, 1, 20, 7), {0, 0.13}));
}

TEST(Lattice, KeepsTheCellsThatHoldSurfaceAndFilledWhatItEncloses)
{
    const LatticeMesh hollow = make_lattice(make_box({2, 2, 2}), {0, 0.5});
    EXPECT_EQ(hollow.cell_count(), 64 - 8);
    const LatticeMesh full = make_lattice(make_box({2, 2, 2}), {0, 0.5, true});
    EXPECT_EQ(full.cell_count(), 64);
    EXPECT_NEAR(sum(full.volume), 8, 1e-12);
    for (const Real v : full.volume) EXPECT_NEAR(v, 0.125, 1e-12);
}

TEST(Lattice, GridIsCentredOnTheSurface)
{
    const LatticeMesh mesh = make_lattice(make_box({2, 1.3, 0.4}), {4});
    EXPECT_DOUBLE_EQ(mesh.side, 0.5);
    EXPECT_NEAR(mesh.origin.x(), -1, 1e-14);
    EXPECT_NEAR(mesh.origin.y(), -0.75, 1e-14);
    EXPECT_NEAR(mesh.origin.z(), -0.25, 1e-14);
}

TEST(Lattice, VolumeOfABallIsSpreadOverItsCells)
{
    const LatticeMesh mesh = make_lattice(make_sphere(1, 4), {8, 0, true});
    const Real volume = enclosed_volume(mesh.surface);
    EXPECT_NEAR(sum(mesh.volume), volume, 1e-12 * volume);
    Vec3 centre = Vec3::Zero();
    for (Index c = 0; c < mesh.cell_count(); ++c) {
        const auto [i, j, k] = mesh.cell_place[c];
        centre += mesh.volume[c] * (mesh.origin + mesh.side * Vec3(i + 0.5, j + 0.5, k + 0.5));
        const Vec3 corner = mesh.origin + mesh.side * Vec3(i, j, k);
        Real farthest = 0;
        for (int n = 0; n < 8; ++n)
            farthest = std::max(farthest, (corner + mesh.side * Vec3(n & 1, n >> 1 & 1, n >> 2)).norm());
        if (farthest < 0.99) { // wholly inside
            EXPECT_NEAR(mesh.volume[c], std::pow(mesh.side, 3), 0.02 * std::pow(mesh.side, 3));
        }
    }
    EXPECT_LT(centre.norm(), 0.01 * volume);
}

TEST(Lattice, RefusesWhatItCannotHold)
{
    EXPECT_EQ(message_of([] { make_lattice(make_sphere(1, 2), {0}); }),
              "mesh: lattice: the number of cells must be at least 1, not 0.");
    EXPECT_EQ(message_of([] {
                  make_lattice(make_sphere(1, 2), {0, 1e-4});
              }),
              "mesh: lattice: a grid of about 8000000000000 cells needs more memory than a lattice is worth; ask for "
              "fewer or larger cells.");
    EXPECT_NE(message_of([] {
                  make_lattice(make_grid(1, 1, 3, 3), {4, 0, true});
              }).find("is not closed"),
              std::string::npos);
    TriangleMesh inward = make_sphere(1, 2);
    for (Triangle& t : inward.triangles) std::swap(t[0], t[1]);
    EXPECT_EQ(message_of([&] {
                  make_lattice(inward, {4, 0, true});
              }),
              "mesh: the surface faces inward; turn its triangles around.");
}
