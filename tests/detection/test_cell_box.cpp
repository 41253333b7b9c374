// Boxes that deform with cells: what they hold, and which of them overlap.

#include "pliant/core/parallel.hpp"
#include "pliant/core/random.hpp"
#include "pliant/detection/lattice_boxes.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/lattice.hpp"

#include <Eigen/LU>
#include <gtest/gtest.h>

#include <set>

using namespace pliant;

namespace {

std::vector<BoxCell> cells_of(const LatticeMesh& mesh, Index body = 0, Index first_block = 0)
{
    std::vector<BoxCell> cells;
    for (Index c = 0; c < mesh.cell_count(); ++c) {
        BoxCell cell{mesh.corners[c], mesh.content[c].low, mesh.content[c].high, body, mesh.cell_place[c], mesh.side};
        for (Index& b : cell.block) b += first_block;
        cells.push_back(cell);
    }
    return cells;
}

Vec3 mapped(const LatticeMesh& mesh, const Vec3s& nodes, Index vertex)
{
    Vec3 x = Vec3::Zero();
    const auto w = trilinear_weights(mesh.local[vertex]);
    for (int k = 0; k < 8; ++k) x += w[k] * nodes[mesh.corners[mesh.cell[vertex]][k]];
    return x;
}

BoxNodes unit_box()
{
    BoxNodes nodes;
    for (int k = 0; k < 8; ++k) nodes.row(k) << (k & 1), (k >> 1 & 1), (k >> 2);
    return nodes;
}

CellBox box_of(const BoxNodes& nodes, BoxPlanes planes = BoxPlanes::safe)
{
    CellBox box;
    set_nodes(box, nodes);
    set_planes(box, planes);
    return box;
}

/// A random rotation, scaling and translation of the unit box, with its nodes disturbed.
CellBox random_box(Random& random, Real disturbance, const Vec3& at)
{
    const Mat3 turn = random.rotation().toRotationMatrix();
    const Vec3 size = random.in_box(Vec3::Constant(0.2), Vec3::Constant(1));
    BoxNodes nodes = unit_box();
    for (int k = 0; k < 8; ++k) {
        const Vec3 x = Vec3(nodes.row(k).transpose()).cwiseProduct(size);
        nodes.row(k) = (turn * (x - size / 2) + at + disturbance * random.on_sphere()).transpose();
    }
    return box_of(nodes);
}

/// A point of the hull of a box's nodes.
Vec3 inside_hull(Random& random, const CellBox& box)
{
    Vec3 sum = Vec3::Zero();
    Real total = 0;
    for (int k = 0; k < 8; ++k) {
        const Real w = -std::log(1 - random.uniform());
        sum += w * Vec3(box.nodes.row(k).transpose());
        total += w;
    }
    return sum / total;
}

/// Surely in the hull of the nodes: in one of the tetrahedra between four of them.
bool in_core(const CellBox& box, const Vec3& p)
{
    constexpr int tets[5][4] = {{0, 3, 5, 6}, {1, 0, 3, 5}, {2, 0, 6, 3}, {4, 0, 5, 6}, {7, 3, 6, 5}};
    const auto node = [&](int k) { return Vec3(box.nodes.row(k).transpose()); };
    for (const auto& t : tets) {
        Mat3 m;
        m << node(t[1]) - node(t[0]), node(t[2]) - node(t[0]), node(t[3]) - node(t[0]);
        const Vec3 w = m.inverse() * (p - node(t[0]));
        if (w.minCoeff() > 1e-6 && w.sum() < 1 - 1e-6) return true;
    }
    return false;
}

bool holds(const CellBox& box, const Vec3& p, Real slack)
{
    for (int s = 0; s < 6; ++s)
        if (box.normal(s).dot(p) > box.offsets[s] + slack) return false;
    return true;
}

} // namespace

TEST(CellBox, OfARigidMotionIsTheMovedBox)
{
    Random random(1);
    const Quat turn = random.rotation();
    const Vec3 at(3, -2, 5), low(0.1, 0.2, 0.3), high(0.9, 0.5, 0.8);
    BoxNodes corners = unit_box();
    for (int k = 0; k < 8; ++k) corners.row(k) = (turn * Vec3(corners.row(k).transpose()) + at).transpose();
    const CellBox box = box_of(box_nodes(corners, low, high));
    EXPECT_FALSE(box.inverted);
    for (int k = 0; k < 8; ++k) {
        const Vec3 local(k & 1 ? high.x() : low.x(), k & 2 ? high.y() : low.y(), k & 4 ? high.z() : low.z());
        EXPECT_LT((Vec3(box.nodes.row(k).transpose()) - (turn * local + at)).norm(), 1e-14);
    }
    for (int axis = 0; axis < 3; ++axis)
        for (const int side : {0, 1}) {
            const Vec3 n = turn * Vec3((side ? 1 : -1) * Vec3::Unit(axis));
            EXPECT_LT((box.normal(2 * axis + side) - n).norm(), 1e-12);
            const Vec3 on_side = turn * (side ? high : low) + at;
            EXPECT_NEAR(box.offsets[2 * axis + side], n.dot(on_side), 1e-12);
        }
}

TEST(CellBox, SafePlanesHoldEveryVertexOfAnyDeformation)
{
    Random random(2);
    int outside_paper = 0, inverted = 0;
    for (int trial = 0; trial < 40; ++trial) {
        const LatticeMesh mesh = make_lattice(make_torus(0.5, 0.2, 30, 16), {Index(4 + trial % 5), 0, trial % 2 == 1});
        const Real disturbance = mesh.side * random.uniform(0.05, 0.6);
        Vec3s nodes;
        for (const Vec3& x : mesh.nodes) nodes.push_back(x + disturbance * random.on_sphere());
        LatticeBoxes safe(cells_of(mesh), {BoxPlanes::safe}), paper(cells_of(mesh), {BoxPlanes::paper});
        for (Index c = 0; c < safe.size(); ++c) {
            safe.update(c, nodes);
            paper.update(c, nodes);
            inverted += safe.box(c).inverted;
        }
        for (Index v = 0; v < count(mesh.cell); ++v) {
            const Vec3 x = mapped(mesh, nodes, v);
            ASSERT_TRUE(holds(safe.box(mesh.cell[v]), x, 1e-13)) << "trial " << trial << ", vertex " << v;
            outside_paper += !holds(paper.box(mesh.cell[v]), x, 1e-13);
        }
    }
    EXPECT_GT(outside_paper, 0) << "the planes of the paper leave some out, so the test can tell";
    EXPECT_GT(inverted, 0) << "some cells were turned inside out";
}

TEST(CellBox, InvertedCellFallsBackToItsAxisAlignedBox)
{
    BoxNodes nodes = unit_box();
    nodes.row(7) << -0.5, -0.5, -0.5; // a corner pulled through the others
    const CellBox box = box_of(nodes);
    EXPECT_TRUE(box.inverted);
    for (int k = 0; k < 8; ++k) EXPECT_TRUE(holds(box, nodes.row(k).transpose(), 0));
    EXPECT_FALSE(holds(box, {1.01, 0, 0}, 0));
}

TEST(CellBox, AxesFindEveryOverlapAndTheirDepthSeparates)
{
    Random random(3);
    int overlaps = 0, apart = 0, only_by_axes = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        const CellBox a = random_box(random, 0.05, Vec3::Zero());
        CellBox b = random_box(random, 0.05, random.on_sphere() * random.uniform(0, 1.2));
        const BoxOverlap found = overlap_by_axes(a, b);
        if (!(found.depth > 0)) {
            ++apart;
            for (int i = 0; i < 30; ++i) ASSERT_FALSE(in_core(b, inside_hull(random, a))) << "trial " << trial;
            continue;
        }
        ++overlaps;
        only_by_axes += overlap_by_nodes(a, b, 1).depth <= 0;
        EXPECT_NEAR(found.normal.norm(), 1, 1e-12);
        BoxNodes moved = b.nodes;
        moved.rowwise() += ((found.depth * (1 + 1e-9) + 1e-12) * found.normal).transpose().array();
        EXPECT_LE(overlap_by_axes(a, box_of(moved)).depth, 1e-9) << "trial " << trial;
    }
    EXPECT_GT(overlaps, 1000);
    EXPECT_GT(apart, 1000);
    EXPECT_GT(only_by_axes, 50) << "crossings without a node inside";
}

TEST(CellBox, DepthOfAlignedBoxesIsTheirSmallestOverlap)
{
    const CellBox a = box_of(unit_box());
    BoxNodes nodes = unit_box();
    nodes.col(0) += 0.9;
    nodes.col(1) += 0.3;
    nodes.col(2) += 0.2;
    const CellBox b = box_of(nodes);
    for (const BoxOverlap& o : {overlap_by_axes(a, b), overlap_by_nodes(a, b, 1)}) {
        EXPECT_NEAR(o.depth, 0.1, 1e-12);
        EXPECT_LT((o.normal - Vec3::UnitX()).norm(), 1e-12);
    }
}

TEST(CellBox, BoxesThatAreApartByLessThanTheReachHaveANegativeDepth)
{
    Random random(8);
    const CellBox a = box_of(unit_box());
    BoxNodes nodes = unit_box();
    nodes.col(0) += 1.1;
    nodes.col(1) += 0.3;
    const BoxOverlap near = overlap_by_axes(a, box_of(nodes), 0.2);
    EXPECT_NEAR(near.depth, -0.1, 1e-12);
    EXPECT_LT((near.normal - Vec3::UnitX()).norm(), 1e-12);
    EXPECT_EQ(overlap_by_axes(a, box_of(nodes), 0.05).depth, 0);
    EXPECT_EQ(overlap_by_axes(a, box_of(nodes)).depth, 0);
    // Moved by the gap along the normal they touch, however they are turned.
    int gaps = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        const CellBox p = random_box(random, 0.05, Vec3::Zero());
        const CellBox q = random_box(random, 0.05, 1.2 * random.on_sphere());
        const BoxOverlap found = overlap_by_axes(p, q, 0.3);
        if (!(found.depth < 0)) continue;
        ++gaps;
        BoxNodes moved = q.nodes;
        moved.rowwise() += ((found.depth + 1e-9) * found.normal).transpose().array(); // apart by 1e-9 along that axis
        EXPECT_LE(overlap_by_axes(p, box_of(moved)).depth, 0) << "trial " << trial;
        EXPECT_GE(overlap_by_axes(p, box_of(moved), 0.3).depth, -0.3);
    }
    EXPECT_GT(gaps, 200);
}

TEST(LatticeBoxes, TellTheSameOfTwoBoxesAloneAndAmongAll)
{
    // Crooked boxes, of which some overlap by planes and edges and are apart along the line through their centres: an
    // overlap that is found among all and not alone would be taken away in no pass.
    Random random(21);
    const Index n = 300;
    std::vector<BoxCell> cells;
    Vec3s nodes;
    for (Index body = 0; body < n; ++body) {
        BoxCell cell{{}, Vec3::Zero(), Vec3::Ones(), body, {0, 0, 0}, 1};
        const CellBox box = random_box(random, 0.3, random.in_box(Vec3::Constant(-3), Vec3::Constant(3)));
        for (Index k = 0; k < 8; ++k) {
            cell.block[k] = count(nodes);
            nodes.push_back(box.nodes.row(k).transpose());
        }
        cells.push_back(cell);
    }
    LatticeBoxes boxes(cells, {});
    boxes.update(nodes);
    boxes.find_candidates(0.05);
    std::set<std::array<Index, 2>> overlapping;
    int apart_along_centres = 0;
    for (const BoxPair& found : boxes.find_overlaps()) {
        overlapping.insert({found.a, found.b});
        const BoxOverlap alone = boxes.overlap_of(found.a, found.b);
        EXPECT_EQ(alone.depth, found.overlap.depth);
        EXPECT_EQ(alone.normal, found.overlap.normal);
        apart_along_centres += gap_along_centres(boxes.box(found.a), boxes.box(found.b)).more_than(0);
    }
    EXPECT_GT(apart_along_centres, 3) << "or nothing is shown";
    for (const auto& [a, b] : boxes.candidates()) {
        boxes.update(a, nodes); // with planes
        boxes.update(b, nodes);
        EXPECT_EQ(boxes.overlap_of(a, b).depth > 0, overlapping.contains({a, b}));
    }
}

TEST(LatticeBoxes, CandidatesAreThoseOfAllPairs)
{
    Random random(4);
    for (int trial = 0; trial < 10; ++trial) {
        const LatticeMesh mesh = make_lattice(make_sphere(0.5, 3), {Index(3 + trial % 4)});
        std::vector<BoxCell> cells;
        Vec3s nodes;
        const int bodies = 5;
        for (Index b = 0; b < bodies; ++b) {
            const auto own = cells_of(mesh, b, count(nodes));
            cells.insert(cells.end(), own.begin(), own.end());
            const Quat turn = random.rotation();
            const Vec3 at = random.in_box(Vec3::Constant(-0.6), Vec3::Constant(0.6));
            for (const Vec3& x : mesh.nodes) nodes.push_back(turn * x + at + 0.3 * mesh.side * random.on_sphere());
        }
        if (trial == 9) nodes[0] = {1e6, 0, 0}; // a box over very many cubes
        const std::vector<std::array<Index, 2>> no_contact = {{0, 3}};
        std::vector<std::vector<std::array<Index, 2>>> found;
        for (const int threads : {1, 4}) {
            set_thread_count(threads);
            LatticeBoxes boxes(cells, {}, no_contact);
            boxes.update(nodes);
            found.push_back(boxes.find_candidates(0.01));
            std::vector<std::array<Index, 2>> expected;
            for (Index i = 0; i < boxes.size(); ++i)
                for (Index j = i + 1; j < boxes.size(); ++j) {
                    const BoxCell &p = cells[i], &q = cells[j];
                    if (p.body == 0 && q.body == 3) continue;
                    bool neighbours = p.body == q.body;
                    for (int k = 0; k < 3; ++k) neighbours = neighbours && std::abs(p.place[k] - q.place[k]) <= 1;
                    const auto box = [&](Index c) {
                        Box b;
                        b.add(boxes.box(c).low - Vec3::Constant(0.005));
                        b.add(boxes.box(c).high + Vec3::Constant(0.005));
                        return b;
                    };
                    // A plane across the line through their centres, with more than the margin to both.
                    const BoxNodes &m = boxes.box(i).nodes, &n = boxes.box(j).nodes;
                    const Vec3 way = (n.colwise().mean() - m.colwise().mean()).transpose().matrix().normalized();
                    const bool apart = along(n, way).minCoeff() - along(m, way).maxCoeff() > 0.01;
                    if (!neighbours && !apart && overlap(box(i), box(j))) expected.push_back({i, j});
                }
            EXPECT_GT(expected.size(), 10u);
            EXPECT_EQ(found.back(), expected);
        }
        set_thread_count(0);
        EXPECT_EQ(found[0], found[1]);
    }
}

TEST(LatticeBoxes, CandidatesDoNotDependOnWhatIsRemembered)
{
    // Balls drift through each other, now slow, now fast, and for a while fall together, and a few corners jump:
    // searches that begin with what the last one knows find what a first one finds.
    Random random(12);
    const LatticeMesh mesh = make_lattice(make_sphere(0.5, 3), {6});
    std::vector<BoxCell> cells;
    Vec3s nodes;
    std::vector<Index> body_of;
    const Index bodies = 6;
    for (Index b = 0; b < bodies; ++b) {
        const auto own = cells_of(mesh, b, count(nodes));
        cells.insert(cells.end(), own.begin(), own.end());
        const Quat turn = random.rotation();
        const Vec3 at = random.in_box(Vec3::Constant(-0.9), Vec3::Constant(0.9));
        for (const Vec3& x : mesh.nodes) {
            nodes.push_back(turn * x + at);
            body_of.push_back(b);
        }
    }
    LatticeBoxes lasting(cells, {});
    lasting.watch([](Index, const Box&) { return false; });
    std::size_t asleep = 0, asleep_in_fall = 0, found = 0;
    for (int step = 0; step < 120; ++step) {
        const Real speed = (step % 40 < 30 ? 0.01 : 0.4) * mesh.side;
        const Vec3 fall(0, step >= 40 && step < 70 ? -0.5 * mesh.side : 0, 0);
        std::vector<Vec3> drift;
        for (Index b = 0; b < bodies; ++b) drift.push_back(speed * random.on_sphere() + fall);
        BlockVelocities way;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const Vec3 v = drift[body_of[i]] + 0.1 * speed * random.on_sphere();
            way.push_back({v.x(), v.y(), v.z(), 1e30});
        }
        if (step % 7 == 0) way[step] = {mesh.side, 0, 0, 1};
        LatticeBoxes first(cells, {});
        lasting.update(nodes);
        first.update(nodes);
        EXPECT_EQ(lasting.find_candidates(0.01, way, 1), first.find_candidates(0.01, way, 1)) << "step " << step;
        (step >= 40 && step < 70 ? asleep_in_fall : asleep) += cells.size() - lasting.awake().size();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            alignas(32) Real v[4];
            way[i].store(v);
            nodes[i] += Vec3(v[0], v[1], v[2]);
        }
        lasting.update(nodes);
        first.update(nodes);
        const auto &a = lasting.find_overlaps(), &b = first.find_overlaps();
        ASSERT_EQ(a.size(), b.size()) << "step " << step;
        for (std::size_t k = 0; k < a.size(); ++k) EXPECT_EQ(a[k].overlap.depth, b[k].overlap.depth);
        found += a.size();
    }
    EXPECT_GT(asleep, 1000u) << "or nothing was remembered";
    EXPECT_GT(asleep_in_fall, 1000u) << "or a common fall was taken for motion";
    EXPECT_GT(found, 1000u);
}

TEST(LatticeBoxes, AreAwakeWhereTheyAreWatchedWhileTheyFallTogether)
{
    const LatticeMesh mesh = make_lattice(make_sphere(0.5, 3), {6});
    LatticeBoxes boxes(cells_of(mesh), {});
    const Real watched_below = -1;
    boxes.watch([&](Index, const Box& around) { return around.lo(1) < watched_below; });
    Vec3s nodes = mesh.nodes;
    std::size_t watched = 0;
    for (int step = 0; step < 60; ++step) {
        const BlockVelocities way(nodes.size(), Real4(0, -0.02, 0, 1));
        boxes.update(nodes);
        for (Index i = 0; i < boxes.size(); ++i) {
            Real lowest = 1e30;
            for (const Index b : boxes.cell(i).block) lowest = std::min(lowest, nodes[b].y());
            if (lowest + mesh.side >= watched_below) continue; // the box may be anywhere in its cell
            ++watched;
            EXPECT_TRUE(std::ranges::binary_search(boxes.awake(), i)) << "step " << step << ", box " << i;
        }
        boxes.find_candidates(0.01, way, 1);
        for (Vec3& x : nodes) x.y() -= 0.02;
        if (step < 10) {
            EXPECT_TRUE(boxes.awake().empty()) << "nothing is watched yet";
        }
    }
    EXPECT_GT(watched, 500u);
}

TEST(LatticeBoxes, NothingOverlapsInTheRestShape)
{
    for (const bool filled : {false, true}) {
        const LatticeMesh mesh = make_lattice(make_torus(0.5, 0.2, 40, 20), {12, 0, filled});
        LatticeBoxes boxes(cells_of(mesh), {});
        boxes.update(mesh.nodes);
        boxes.find_candidates(0);
        EXPECT_TRUE(boxes.find_overlaps().empty());
    }
}

TEST(LatticeBoxes, FlatSurfaceHasABoxWithAnInside)
{
    const LatticeMesh mesh = make_lattice(make_grid(1, 1, 5, 5), {4});
    LatticeBoxes boxes(cells_of(mesh), {});
    for (Index c = 0; c < boxes.size(); ++c) {
        boxes.update(c, mesh.nodes);
        EXPECT_FALSE(boxes.box(c).inverted);
        EXPECT_NEAR(boxes.box(c).high.y() - boxes.box(c).low.y(), LatticeBoxes::least_thickness * mesh.side, 1e-12);
    }
}
