#include "pliant/detection/tree.hpp"

#include "pliant/core/parallel.hpp"

#include <tbb/parallel_invoke.h>

#include <algorithm>
#include <bit>

namespace pliant {

BoxTree::BoxTree(const Surface& surface) : surface_(surface)
{
    assign_owners();
    item_count_ = count(surface.triangles) + count(loose_vertices_);
    while ((item_count_ >> leaf_level_) > items_per_leaf) ++leaf_level_;
    if ((items_per_leaf << leaf_level_) < item_count_) ++leaf_level_;
    leaf_count_ = Index(1) << leaf_level_;
}

void BoxTree::assign_owners()
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

void BoxTree::update(const FeatureBoxes& boxes)
{
    if (item_count_ == 0) return;
    if (builds_ > 0) {
        refit(boxes);
        if (surface_area() <= decay * built_area_) return;
    }
    build(boxes);
    refit(boxes);
    built_area_ = surface_area();
    ++builds_;
}

void BoxTree::build(const FeatureBoxes& boxes)
{
    struct Item {
        std::array<float, 3> centre;
        Index id;
    };
    std::vector<Item> items(static_cast<std::size_t>(item_count_));
    const Index faces = count(surface_.triangles);
    parallel_for(item_count_, [&](Index i) {
        const Box& b = i < faces ? boxes.face[i] : boxes.vertex[loose_vertices_[i - faces]];
        for (int k = 0; k < 3; ++k) items[i].centre[k] = 0.5f * b.lo(k) + 0.5f * b.hi(k);
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
            tbb::parallel_invoke(left, right);
        else
            left(), right();
    };
    split(split, 0, 0);

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
    face_lanes_.resize(count(faces_));
    edge_lanes_.resize(count(edges_));
    vertex_lanes_.resize(count(vertices_));
    edge_boxes_.resize(edges_.size());
    vertex_boxes_.resize(vertices_.size());
    nodes_.assign(2 * static_cast<std::size_t>(leaf_count_), {});
}

void BoxTree::refit(const FeatureBoxes& boxes)
{
    parallel_for(
        leaf_count_,
        [&](Index leaf) {
            const Leaf &begin = leaves_[leaf], &end = leaves_[leaf + 1];
            Box node;
            for (Index i = begin.face; i < end.face; ++i) {
                const Box& b = boxes.face[faces_[i]];
                face_lanes_.set(i, b);
                node.add(b);
            }
            for (Index i = begin.edge; i < end.edge; ++i) {
                edge_boxes_[i] = boxes.edge[edges_[i]];
                edge_lanes_.set(i, edge_boxes_[i]);
            }
            for (Index i = begin.vertex; i < end.vertex; ++i) {
                vertex_boxes_[i] = boxes.vertex[vertices_[i]];
                vertex_lanes_.set(i, vertex_boxes_[i]);
                node.add(vertex_boxes_[i]);
            }
            nodes_[leaf_count_ + leaf] = node;
        },
        64);
    for (Index first = leaf_count_ / 2; first > 0; first /= 2)
        parallel_for(
            first,
            [&](Index i) {
                Box b = nodes_[2 * (first + i)];
                b.add(nodes_[2 * (first + i) + 1]);
                nodes_[first + i] = b;
            },
            1024);
}

Real BoxTree::surface_area() const
{
    return parallel_sum(count(nodes_), 0.0, [&](Index i) {
        if (i == 0 || nodes_[i].empty()) return 0.0;
        const Box& b = nodes_[i];
        const Real x = b.hi(0) - b.lo(0), y = b.hi(1) - b.lo(1), z = b.hi(2) - b.lo(2);
        return x * y + y * z + z * x;
    });
}

std::vector<BoxTree::Task> BoxTree::tasks() const
{
    constexpr std::size_t wanted = 1024; // enough to share out evenly, few enough to keep their buffers
    std::vector<Task> now = {{1, 1}}, next;
    for (Index level = 0; level < leaf_level_ && now.size() < wanted; ++level) {
        next.clear();
        for (auto [a, b] : now) {
            if (a == b) {
                next.push_back({2 * a, 2 * a});
                next.push_back({2 * a + 1, 2 * a + 1});
                if (overlap(nodes_[2 * a], nodes_[2 * a + 1])) next.push_back({2 * a, 2 * a + 1});
                continue;
            }
            for (Index i : {2 * a, 2 * a + 1})
                for (Index j : {2 * b, 2 * b + 1})
                    if (overlap(nodes_[i], nodes_[j])) next.push_back({i, j});
        }
        now.swap(next);
    }
    return now;
}

template <class Sink>
void BoxTree::traverse(Index a, Index b, const PairFilter& filter, Sink& sink) const
{
    if (a >= leaf_count_) {
        if (a == b)
            leaf_self(a - leaf_count_, filter, sink);
        else
            leaf_pair(a - leaf_count_, b - leaf_count_, filter, sink);
        return;
    }
    if (a == b) {
        traverse(2 * a, 2 * a, filter, sink);
        if (overlap(nodes_[2 * a], nodes_[2 * a + 1])) traverse(2 * a, 2 * a + 1, filter, sink);
        traverse(2 * a + 1, 2 * a + 1, filter, sink);
        return;
    }
    for (Index i : {2 * a, 2 * a + 1})
        for (Index j : {2 * b, 2 * b + 1})
            if (overlap(nodes_[i], nodes_[j])) traverse(i, j, filter, sink);
}

namespace {

/// visit(i) for every box of lanes[begin, end) that overlaps q.
template <class Visit>
void for_overlaps(const BoxLanes& lanes, Index begin, Index end, const Box& q, Visit&& visit)
{
    for (Index i = begin; i < end; i += BoxLanes::width) {
        unsigned mask = lanes.overlaps(i, std::min(BoxLanes::width, end - i), q);
        for (; mask; mask &= mask - 1) visit(i + std::countr_zero(mask));
    }
}

struct Buffers {
    std::vector<Pair>&vertex_face, &edge_edge;
};

} // namespace

template <class Sink>
void BoxTree::leaf_pair(Index a, Index b, const PairFilter& filter, Sink& sink) const
{
    const Leaf &a0 = leaves_[a], &a1 = leaves_[a + 1], &b0 = leaves_[b], &b1 = leaves_[b + 1];
    const Box &box_a = nodes_[leaf_count_ + a], &box_b = nodes_[leaf_count_ + b];
    for_overlaps(edge_lanes_, a0.edge, a1.edge, box_b, [&](Index i) {
        const Index e = edges_[i];
        for_overlaps(edge_lanes_, b0.edge, b1.edge, edge_boxes_[i], [&](Index j) {
            const Index g = edges_[j];
            if (filter.edge_edge(e, g)) sink.edge_edge.push_back({std::min(e, g), std::max(e, g)});
        });
    });
    const auto vertex_face = [&](Index v0, Index v1, const Box& faces_box, Index f0, Index f1) {
        for_overlaps(vertex_lanes_, v0, v1, faces_box, [&](Index i) {
            for_overlaps(face_lanes_, f0, f1, vertex_boxes_[i], [&](Index j) {
                if (filter.vertex_face(vertices_[i], faces_[j])) sink.vertex_face.push_back({vertices_[i], faces_[j]});
            });
        });
    };
    vertex_face(a0.vertex, a1.vertex, box_b, b0.face, b1.face);
    vertex_face(b0.vertex, b1.vertex, box_a, a0.face, a1.face);
}

template <class Sink>
void BoxTree::leaf_self(Index a, const PairFilter& filter, Sink& sink) const
{
    const Leaf &a0 = leaves_[a], &a1 = leaves_[a + 1];
    for (Index i = a0.edge; i < a1.edge; ++i)
        for_overlaps(edge_lanes_, i + 1, a1.edge, edge_boxes_[i], [&](Index j) {
            const Index e = edges_[i], g = edges_[j];
            if (filter.edge_edge(e, g)) sink.edge_edge.push_back({std::min(e, g), std::max(e, g)});
        });
    for (Index i = a0.vertex; i < a1.vertex; ++i)
        for_overlaps(face_lanes_, a0.face, a1.face, vertex_boxes_[i], [&](Index j) {
            if (filter.vertex_face(vertices_[i], faces_[j])) sink.vertex_face.push_back({vertices_[i], faces_[j]});
        });
}

void BoxTree::collect(const PairFilter& filter, CandidateChunks& out) const
{
    out.clear();
    if (item_count_ == 0) return;
    const std::vector<Task> list = tasks();
    out.vertex_face.resize(list.size());
    out.edge_edge.resize(list.size());
    parallel_for(
        count(list),
        [&](Index i) {
            Buffers sink{out.vertex_face[i], out.edge_edge[i]};
            traverse(list[i].a, list[i].b, filter, sink);
        },
        1);
}

std::size_t BoxTree::bytes() const
{
    const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
    const std::size_t lanes = 6 * sizeof(float) * (faces_.size() + edges_.size() + vertices_.size());
    return lanes + of(nodes_) + of(leaves_) + of(faces_) + of(edges_) + of(vertices_) + of(edge_boxes_) +
           of(vertex_boxes_) + of(owned_vertices_) + of(owned_edges_);
}

} // namespace pliant
