#include "pliant/detection/tree.hpp"

#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {

SurfaceTree::SurfaceTree(const Surface& surface) : surface_(surface)
{
    assign_owners();
    item_count_ = count(surface.triangles) + count(loose_vertices_);
    while ((static_cast<std::int64_t>(items_per_leaf) << leaf_level_) < item_count_) ++leaf_level_;
    leaf_count_ = Index(1) << leaf_level_;
}

void SurfaceTree::assign_owners()
{
    const Index faces = count(surface_.triangles);
    std::vector<std::uint8_t> vertex_taken(static_cast<std::size_t>(surface_.vertex_count()), 0);
    std::vector<std::uint8_t> edge_taken(surface_.edges.size(), 0);
    owned_vertices_.resize(static_cast<std::size_t>(faces));
    owned_edges_.resize(static_cast<std::size_t>(faces));
    for (Index f = 0; f < faces; ++f)
        for (int k = 0; k < 3; ++k) {
            const Index v = surface_.triangles[f][k], e = surface_.triangle_edges[f][k];
            owned_vertices_[f][k] = vertex_taken[v] ? none : v;
            owned_edges_[f][k] = edge_taken[e] ? none : e;
            vertex_taken[v] = edge_taken[e] = 1;
        }
    for (Index v = 0; v < surface_.vertex_count(); ++v)
        if (!vertex_taken[v]) loose_vertices_.push_back(v);
}

void SurfaceTree::update(const VertexBoxes& boxes)
{
    assert(count(boxes.t0) == surface_.vertex_count());
    if (item_count_ == 0) return;
    const auto fit = [&] { boxes.moving() ? refit<true>(boxes) : refit<false>(boxes); };
    moving_ = boxes.moving();
    if (builds_ > 0) {
        find_stale(boxes);
        fit();
        if (surface_area() <= decay * built_area_) return;
    }
    build(boxes);
    fitted_ = {};
    find_stale(boxes);
    fit();
    built_area_ = surface_area();
    ++builds_;
}

void SurfaceTree::build(const VertexBoxes& boxes)
{
    struct Item {
        std::array<float, 3> centre;
        Index id;
    };
    std::vector<Item> items(static_cast<std::size_t>(item_count_));
    const Index faces = count(surface_.triangles);
    parallel_for(item_count_, [&](Index i) {
        const Box b = i < faces ? boxes.end(0, surface_.triangles[i]) : boxes.end(0, loose_vertices_[i - faces]);
        for (int k = 0; k < 3; ++k) {
            const float middle = 0.5f * b.lo(k) + 0.5f * b.hi(k);
            items[i].centre[k] = std::isfinite(middle) ? middle : 0; // positions beyond the floats have infinite boxes
        }
        items[i].id = i;
    });
    // Node i of a level of n nodes holds the items [i N / n, (i + 1) N / n).
    const auto begin_of = [&](Index node, Index level) {
        return static_cast<Index>((static_cast<std::int64_t>(node) * item_count_) >> level);
    };
    const auto split = [&](const auto& self, Index node, Index level) -> void {
        if (level == leaf_level_) return;
        const Index begin = begin_of(node, level), end = begin_of(node + 1, level);
        const Index middle = begin_of(2 * node + 1, level + 1);
        std::array<float, 3> lo, hi;
        lo.fill(Box::inf);
        hi.fill(-Box::inf);
        for (Index i = begin; i < end; ++i)
            for (int k = 0; k < 3; ++k) {
                lo[k] = std::min(lo[k], items[i].centre[k]);
                hi[k] = std::max(hi[k], items[i].centre[k]);
            }
        int axis = 0;
        for (int k = 1; k < 3; ++k)
            if (hi[k] - lo[k] > hi[axis] - lo[axis]) axis = k;
        std::nth_element(items.begin() + begin, items.begin() + middle, items.begin() + end,
                         [axis](const Item& a, const Item& b) {
                             return a.centre[axis] != b.centre[axis] ? a.centre[axis] < b.centre[axis] : a.id < b.id;
                         });
        const auto left = [&] { self(self, 2 * node, level + 1); };
        const auto right = [&] { self(self, 2 * node + 1, level + 1); };
        if (end - begin > 4096 && thread_count() > 1)
            parallel_both(left, right);
        else
            left(), right();
    };
    split(split, 0, 0);

    groups_.clear();
    faces_.clear(), edges_.clear(), vertices_.clear();
    leaves_.assign(static_cast<std::size_t>(leaf_count_) + 1, {});
    for (Index leaf = 0; leaf < leaf_count_; ++leaf) {
        leaves_[leaf] = {count(faces_), count(edges_), count(vertices_)};
        for (Index i = begin_of(leaf, leaf_level_); i < begin_of(leaf + 1, leaf_level_); ++i) {
            const Index id = items[i].id;
            if (id >= faces) {
                vertices_.push_back(loose_vertices_[id - faces]);
                continue;
            }
            faces_.push_back(id);
            for (Index v : owned_vertices_[id])
                if (v != none) vertices_.push_back(v);
            for (Index e : owned_edges_[id])
                if (e != none) edges_.push_back(e);
        }
    }
    leaves_[leaf_count_] = {count(faces_), count(edges_), count(vertices_)};
    for (int k = 0; k < 3; ++k) {
        face_corners_[k].clear();
        for (Index f : faces_) face_corners_[k].push_back(surface_.triangles[f][k]);
        face_corners_[k].pad();
    }
    for (int k = 0; k < 2; ++k) {
        edge_ends_[k].clear();
        for (Index e : edges_) edge_ends_[k].push_back(surface_.edges[e][k]);
        edge_ends_[k].pad();
    }
}

void SurfaceTree::find_stale(const VertexBoxes& boxes)
{
    const std::size_t n = boxes.t0.size();
    const bool other_kind = fitted_.t0.size() != n || fitted_.moving() != boxes.moving();
    if (other_kind) fitted_ = boxes;
    stale_.resize(n);
    parallel_for(
        count(boxes.t0),
        [&](Index v) {
            bool same = !other_kind;
            const auto compare = [&](std::vector<Box>& fitted, const std::vector<Box>& now) {
                if (now.empty() || fitted[v].bound == now[v].bound) return;
                fitted[v] = now[v];
                same = false;
            };
            compare(fitted_.t0, boxes.t0);
            compare(fitted_.t1, boxes.t1);
            stale_[v] = !same;
        },
        1024);
}

bool SurfaceTree::is_stale(Index leaf) const
{
    const Leaf &begin = leaves_[leaf], &end = leaves_[leaf + 1];
    for (Index i = begin.face; i < end.face; ++i)
        for (const IndexLanes& corners : face_corners_)
            if (stale_[corners[i]]) return true;
    for (Index i = begin.vertex; i < end.vertex; ++i)
        if (stale_[vertices_[i]]) return true;
    return false;
}

template <bool moving>
void SurfaceTree::refit(const VertexBoxes& boxes)
{
    constexpr int ends = moving ? 2 : 1;
    face_lanes_.resize(count(faces_), moving);
    edge_lanes_.resize(count(edges_), moving);
    vertex_lanes_.resize(count(vertices_), moving);
    nodes_t0_.resize(2 * static_cast<std::size_t>(leaf_count_));
    nodes_t1_.resize(moving ? nodes_t0_.size() : 0);
    changed_.resize(nodes_t0_.size());
    parallel_for(
        leaf_count_,
        [&](Index leaf) {
            const Leaf &begin = leaves_[leaf], &end = leaves_[leaf + 1];
            changed_[leaf_count_ + leaf] = is_stale(leaf);
            if (!changed_[leaf_count_ + leaf]) return;
            for (int t = 0; t < ends; ++t) {
                Box node;
                for (Index i = begin.face; i < end.face; ++i) {
                    const Box b = boxes.end(t, surface_.triangles[faces_[i]]);
                    face_lanes_.set(i, t, b);
                    node.add(b);
                }
                for (Index i = begin.edge; i < end.edge; ++i)
                    edge_lanes_.set(i, t, boxes.end(t, surface_.edges[edges_[i]]));
                for (Index i = begin.vertex; i < end.vertex; ++i) {
                    const Box& b = boxes.end(t, vertices_[i]);
                    vertex_lanes_.set(i, t, b);
                    node.add(b);
                }
                (t == 0 ? nodes_t0_ : nodes_t1_)[leaf_count_ + leaf] = node;
            }
        },
        64);
    for (Index first = leaf_count_ / 2; first > 0; first /= 2)
        parallel_for(
            first,
            [&](Index i) {
                const Index node = first + i;
                changed_[node] = changed_[2 * node] | changed_[2 * node + 1];
                nodes_t0_[node] = nodes_t0_[2 * node];
                nodes_t0_[node].add(nodes_t0_[2 * node + 1]);
                if constexpr (moving) {
                    nodes_t1_[node] = nodes_t1_[2 * node];
                    nodes_t1_[node].add(nodes_t1_[2 * node + 1]);
                }
            },
            1024);
}

Real SurfaceTree::surface_area() const
{
    return parallel_sum(count(nodes_t0_), 0.0, [&](Index i) {
        const Box& b = nodes_t0_[i];
        if (i == 0 || b.empty()) return 0.0;
        const Real x = b.hi(0) - b.lo(0), y = b.hi(1) - b.lo(1), z = b.hi(2) - b.lo(2);
        return x * y + y * z + z * x;
    });
}

std::size_t SurfaceTree::bytes() const
{
    const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
    std::size_t numbers = 0;
    for (const IndexLanes& lanes : face_corners_) numbers += lanes.bytes();
    for (const IndexLanes& lanes : edge_ends_) numbers += lanes.bytes();
    return numbers + face_lanes_.bytes() + edge_lanes_.bytes() + vertex_lanes_.bytes() + of(nodes_t0_) + of(nodes_t1_) +
           of(leaves_) + of(fitted_.t0) + of(fitted_.t1) + of(stale_) + of(changed_) + of(faces_) + of(edges_) +
           of(vertices_) + of(owned_vertices_) + of(owned_edges_);
}

} // namespace pliant
