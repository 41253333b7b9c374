#include "pliant/detection/self_cull.hpp"

#include "pliant/core/float8.hpp"
#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

namespace pliant {

SelfCull::SelfCull(const Surface& surface, const SurfaceTrees& trees, const PairFilter& filter, Culling kind)
    : surface_(surface), trees_(trees), filter_(filter), kind_(kind), top_(trees.nodes().size(), none)
{}

void SelfCull::prepare()
{
    prepared_ = true;
    const std::size_t nodes = trees_.nodes().size();
    neighbours_.resize(nodes);
    windows_.resize(nodes);
    looked_.assign(nodes, 0);
    altitude_.assign(nodes, std::numeric_limits<Real>::infinity());
    hint_.assign(nodes, none);
    nodes_.resize(nodes);
    cones_.resize(kind_ == Culling::sound ? 0 : nodes);
    rest_.resize(trees_.faces().size());
    gradients_.resize(trees_.faces().size());
    builder_.emplace(surface_, trees_);
    for (Index i = 0; i < count(trees_.trees()); ++i) {
        const SurfaceTrees::Tree& tree = trees_.trees()[i];
        if (!filter_.bodies(tree.body, tree.body)) continue;
        TreeState state{i};
        const SurfaceTrees::Node& root = trees_.nodes()[tree.root];
        trees_.for_faces(root.leaf, root.leaf + root.leaves, [&](Index, Index) { ++state.triangles; });
        triangles_ += state.triangles;
        states_.push_back(state);
        for (Index n = end(tree.root) - 1; n >= tree.root; --n) {
            const SurfaceTrees::Node& node = trees_.nodes()[n];
            if (node.second != none) altitude_[n] = std::min(altitude_[n + 1], altitude_[node.second]);
            if (node.second == none)
                trees_.for_faces(node.leaf, node.leaf + 1, [&](Index, Index face) {
                    altitude_[n] = std::min(altitude_[n], builder_->altitude(face));
                });
        }
        find_neighbours(surface_, trees_, tree, neighbours_);
    }
    for (Index b = 0; b < count(rest_); ++b)
        for (int lane = 0; lane < 8; ++lane) {
            const auto& vertex = trees_.faces()[b].vertex;
            const Vec3 &x0 = surface_.rest[vertex[0][lane]], a = surface_.rest[vertex[1][lane]] - x0,
                       c = surface_.rest[vertex[2][lane]] - x0;
            const Real length = a.norm();
            const Vec3 e1 = a / length;
            const Real shear = c.dot(e1);
            const Vec3 across = c - shear * e1;
            const Real height = across.norm();
            const Vec3 e2 = across / height;
            for (int k = 0; k < 3; ++k) {
                rest_[b].frame[k][lane] = float(e1[k]);
                rest_[b].frame[3 + k][lane] = float(e2[k]);
            }
            rest_[b].inverse_length[lane] = float(1 / length);
            rest_[b].shear[lane] = float(shear);
            rest_[b].inverse_height[lane] = float(1 / height);
        }
}

/// Gradients, and sums over nodes.
void SelfCull::measure(const TreeState& state, const Rooms& rooms)
{
    const SurfaceTrees::Tree& tree = trees_.trees()[state.tree];
    const SurfaceTrees::Node& root = trees_.nodes()[tree.root];
    const int ends = moving_ ? 2 : 1;
    parallel_for(
        root.leaves,
        [&](Index i) {
            const auto &leaf = trees_.leaves()[root.leaf + i], &next = trees_.leaves()[root.leaf + i + 1];
            NodeState& node = nodes_[leaf.node];
            node = {};
            for (Index b = leaf.face; b < next.face; ++b) {
                const FeatureBlock<3>& block = trees_.faces()[b];
                const RestBlock& rest = rest_[b];
                for (int t = 0; t < ends; ++t) {
                    auto& column = gradients_[b].column[t];
                    for (int lane = 0; lane < 8; ++lane) {
                        const Vec3& x0 = rooms.centre(t, block.vertex[0][lane]);
                        const Vec3 a = rooms.centre(t, block.vertex[1][lane]) - x0;
                        const Vec3 c = rooms.centre(t, block.vertex[2][lane]) - x0;
                        for (int k = 0; k < 3; ++k) column[k][lane] = float(a[k]), column[3 + k][lane] = float(c[k]);
                        for (int k = 0; k < 3; ++k)
                            node.radius[t] = std::max(node.radius[t], rooms.radius(t, block.vertex[k][lane]));
                    }
                    const Float8 inverse_length = Float8::load(rest.inverse_length), shear = Float8::load(rest.shear),
                                 inverse_height = Float8::load(rest.inverse_height);
                    std::array<Float8, 6> f;
                    for (int k = 0; k < 3; ++k) {
                        f[k] = Float8::load(column[k]) * inverse_length;
                        f[3 + k] = (Float8::load(column[3 + k]) - shear * f[k]) * inverse_height;
                        f[k].store(column[k]);
                        f[3 + k].store(column[3 + k]);
                    }
                    for (int r = 0; r < 3; ++r)
                        for (int k = 0; k < 3; ++k)
                            node.turn(r, k) +=
                                (f[r] * Float8::load(rest.frame[k]) + f[3 + r] * Float8::load(rest.frame[3 + k])).sum();
                }
            }
        },
        64);
    for (Index n = end(tree.root) - 1; n >= tree.root; --n) {
        const Index second = trees_.nodes()[n].second;
        if (second == none) continue;
        nodes_[n].turn = nodes_[n + 1].turn + nodes_[second].turn;
        for (int t = 0; t < 2; ++t) nodes_[n].radius[t] = std::max(nodes_[n + 1].radius[t], nodes_[second].radius[t]);
    }
}

namespace {

/// The closest matrix with orthonormal columns, column by column; none where there is no single one.
std::optional<std::array<float, 6>> polar(const Vec3& a, const Vec3& b)
{
    const Real aa = a.squaredNorm(), bb = b.squaredNorm(), ab = a.dot(b), det = aa * bb - ab * ab;
    if (!(det > 1e-12 * (aa + bb) * (aa + bb))) return {};
    // the square root of [aa ab; ab bb] is (itself + s) / t
    const Real s = std::sqrt(det), t = std::sqrt(aa + bb + 2 * s);
    const Real p = (aa + s) / t, q = (bb + s) / t, r = ab / t, inverse = 1 / (p * q - r * r);
    const Vec3 x = inverse * (q * a - r * b), y = inverse * (p * b - r * a);
    return std::array{float(x[0]), float(x[1]), float(x[2]), float(y[0]), float(y[1]), float(y[2])};
}

} // namespace

// With columns f of the gradient in the frame e of a triangle and p = (u.e, v.e), y = Q^T f, the criterion
// sym(Q^T F) > c in the texture is sym(P^T Y) - c P^T P > 0 in the frame, which needs no inverse.
bool SelfCull::is_flat(Index block, const std::array<float, 6>& q, const PatchWindow& w,
                       const std::array<float, 2>& threshold) const
{
    const RestBlock& rest = rest_[block];
    std::array<std::array<Float8, 2>, 2> p; // [column of the frame][axis of the texture]
    for (int e = 0; e < 2; ++e) {
        const Float8 x = Float8::load(rest.frame[3 * e]), y = Float8::load(rest.frame[3 * e + 1]),
                     z = Float8::load(rest.frame[3 * e + 2]);
        p[e][0] = x * Float8(float(w.u[0])) + y * Float8(float(w.u[1])) + z * Float8(float(w.u[2]));
        p[e][1] = x * Float8(float(w.v[0])) + y * Float8(float(w.v[1])) + z * Float8(float(w.v[2]));
    }
    const auto product = [](const std::array<Float8, 2>& a, const std::array<Float8, 2>& b) {
        return a[0] * b[0] + a[1] * b[1];
    };
    const Float8 p11 = product(p[0], p[0]), p22 = product(p[1], p[1]), p12 = product(p[0], p[1]);
    for (int t = 0; t < (moving_ ? 2 : 1); ++t) {
        const auto& column = gradients_[block].column[t];
        std::array<std::array<Float8, 2>, 2> y;
        Float8 length_sq;
        for (int e = 0; e < 2; ++e) {
            const Float8 f0 = Float8::load(column[3 * e]), f1 = Float8::load(column[3 * e + 1]),
                         f2 = Float8::load(column[3 * e + 2]);
            for (int k = 0; k < 2; ++k)
                y[e][k] = f0 * Float8(q[3 * k]) + f1 * Float8(q[3 * k + 1]) + f2 * Float8(q[3 * k + 2]);
            length_sq += f0 * f0 + f1 * f1 + f2 * f2;
        }
        const Float8 c(threshold[t]);
        const Float8 a = product(p[0], y[0]) - c * p11, d = product(p[1], y[1]) - c * p22;
        const Float8 b = Float8(0.5f) * (product(p[0], y[1]) + product(p[1], y[0])) - c * p12;
        const Float8 one(1.0f), zero(0.0f);
        // comparisons that are false for what is no number
        const Float8 good =
            where_greater(a, zero, where_greater(d, zero, where_greater(a * d, Float8(1.00001f) * b * b, one)));
        const Float8 bounded = where_greater(Float8(16.0f), length_sq, good);
        if (bounded.sum() != 8) return false;
    }
    return true;
}

/// Made when it is first needed: cloth that stays flat needs that of the root only.
const PatchWindow& SelfCull::window(Index node)
{
    if (looked_[node]) return windows_[node];
    looked_[node] = 1;
    Index leaves = 0;
    for (const Index m : neighbours_[node]) leaves += trees_.nodes()[m].leaves;
    // A patch as large as the body is that of the root.
    if (trees_.nodes()[node].leaves >= least_leaves && (neighbours_[node].size() == 1 || leaves < tree_leaves_))
        windows_[node] = builder_->window(neighbours_[node]);
    return windows_[node];
}

bool SelfCull::certify(Index node)
{
    std::array<Real, 2> radius = {0, 0};
    for (const Index m : neighbours_[node])
        for (int t = 0; t < 2; ++t) radius[t] = std::max(radius[t], nodes_[m].radius[t]);
    constexpr Real most = 1.2; // cloth that is stretched more than that is left alone
    const auto need = [&](int t) { return factor_ * 1.0001 * 2 * std::numbers::sqrt3 * radius[t]; };
    if (!(std::max(need(0), need(1)) < most * altitude_[node])) return false;
    const PatchWindow& w = window(node);
    if (!(w.altitude > 0)) return false;
    // In a box of half side r a vertex is at most sqrt(3) r from its middle. Edges are rounded by 2^-24 of their
    // length, gradients of triangles that are stretched up to four times by slenderness 2^-20, and P^T P is at least
    // 1/4.
    const Real rounding = 0x1p-15 * w.slenderness;
    std::array<float, 2> threshold;
    for (int t = 0; t < 2; ++t) threshold[t] = float(need(t) / w.altitude + rounding);
    if (!(std::max(threshold[0], threshold[1]) < float(most))) return false;
    const auto q = polar(nodes_[node].turn * w.u, nodes_[node].turn * w.v);
    if (!q) return false;
    Index& hint = hint_[node];
    if (hint != none && !is_flat(hint, *q, w, threshold)) return false;
    for (const auto& [begin, last] : w.covering)
        for (Index b = begin; b < last; ++b)
            if (!is_flat(b, *q, w, threshold)) {
                hint = b;
                return false;
            }
    hint = none;
    return true;
}

void SelfCull::cull(Index node)
{
    std::fill(top_.begin() + node, top_.begin() + end(node), node);
    const SurfaceTrees::Node& n = trees_.nodes()[node];
    trees_.for_faces(n.leaf, n.leaf + n.leaves, [&](Index, Index) { ++culled_; });
    any_ = true;
}

void SelfCull::descend(Index node)
{
    const SurfaceTrees::Node& n = trees_.nodes()[node];
    if (kind_ == Culling::sound ? certify(node) : is_narrow(cones_[node])) return cull(node);
    const Index least = kind_ == Culling::sound ? least_leaves : 1;
    if (n.second == none || n.leaves < 2 * least - 1) return;
    descend(node + 1);
    descend(n.second);
}

void SelfCull::look_at(const Rooms& rooms)
{
    any_ = false;
    culled_ = 0;
    if (!prepared_) prepare();
    moving_ = rooms.moving();
    std::fill(top_.begin(), top_.end(), none);
    for (TreeState& state : states_) {
        if (state.wait > 0) {
            --state.wait;
            continue;
        }
        const std::int64_t before = culled_;
        if (kind_ == Culling::sound)
            measure(state, rooms);
        else
            find_cones(state, rooms);
        const Index root = trees_.trees()[state.tree].root;
        tree_leaves_ = trees_.nodes()[root].leaves;
        descend(root);
        if (kind_ != Culling::sound) continue;
        state.failures = Real(culled_ - before) < least_share * state.triangles ? std::min(state.failures + 1, 3) : 0;
        state.wait = (1 << state.failures) - 1;
    }
}

bool SelfCull::is_next_to(Index top, Index node) const
{
    if (top == none) return false;
    return std::ranges::any_of(neighbours_[top], [&](Index m) { return m <= node && node < end(m); });
}

// [Provot97, 2.2]: the axis of a cone is the mean of those of its parts, and its angle alpha = beta/2 + max(a1, a2),
// where beta is the angle between their axes. That is half of the opening; the paper compares it with pi.
SelfCull::Cone SelfCull::join(const Cone& a, const Cone& b)
{
    const Vec3 sum = a.axis + b.axis;
    const Real length = sum.norm(), beta = std::acos(std::clamp(a.axis.dot(b.axis), -1.0, 1.0));
    return {length > 0 ? Vec3(sum / length) : a.axis, beta / 2 + std::max(a.angle, b.angle)};
}

bool SelfCull::is_narrow(const Cone& cone) const
{
    return cone.angle < (kind_ == Culling::cones_paper ? std::numbers::pi : std::numbers::pi / 2);
}

void SelfCull::find_cones(const TreeState& state, const Rooms& rooms)
{
    const SurfaceTrees::Tree& tree = trees_.trees()[state.tree];
    for (Index n = end(tree.root) - 1; n >= tree.root; --n) {
        const SurfaceTrees::Node& node = trees_.nodes()[n];
        if (node.second != none) {
            cones_[n] = join(cones_[n + 1], cones_[node.second]);
            continue;
        }
        std::optional<Cone> all;
        trees_.for_faces(node.leaf, node.leaf + 1, [&](Index, Index face) {
            for (int t = 0; t < (moving_ ? 2 : 1); ++t) {
                const auto& [a, b, c] = surface_.triangles[face];
                const Vec3& x = rooms.centre(t, a);
                const Cone one = {(rooms.centre(t, b) - x).cross(rooms.centre(t, c) - x).normalized(), 0};
                all = all ? join(*all, one) : one;
            }
        });
        cones_[n] = all.value_or(Cone());
    }
}

bool SelfCull::in_one_cone(Index a, Index b) const
{
    if (top_[a] != none && top_[a] == top_[b]) return true;
    const std::vector<Index>& next = neighbours_[a];
    return std::ranges::binary_search(next, b) && is_narrow(join(cones_[a], cones_[b]));
}

} // namespace pliant
