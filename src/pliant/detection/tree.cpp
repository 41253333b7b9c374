#include "pliant/detection/tree.hpp"

#include "pliant/core/parallel.hpp"
#include "pliant/core/union_find.hpp"

#include <algorithm>
#include <cassert>
#include <map>

namespace pliant {

/// Divides the triangles of each body, and the vertices that no triangle has, by median splits of the rest shape. Parts
/// that are not connected, such as panels, have trees of their own.
class SurfaceTrees::Builder {
public:
    explicit Builder(SurfaceTrees& trees) : trees_(trees), surface_(trees.surface_) {}

    void build()
    {
        own_features();
        const Index faces = count(surface_.triangles);
        const std::vector<Index> group = groups_of_vertices();
        std::map<std::array<Index, 2>, std::vector<Item>> items; // by body, and part of it
        const auto add = [&](Index vertex, const Vec3& centre, Index id) {
            items[{surface_.vertex_body[vertex], group[vertex]}].push_back({centre, id});
        };
        for (Index f = 0; f < faces; ++f) {
            const auto [a, b, c] = surface_.triangles[f];
            add(a, surface_.rest[a] + surface_.rest[b] + surface_.rest[c], f);
        }
        for (Index i = 0; i < count(loose_vertices_); ++i)
            add(loose_vertices_[i], 3 * surface_.rest[loose_vertices_[i]], faces + i);
        for (auto& [part, of_part] : items) {
            trees_.trees_.push_back({part[0], count(trees_.nodes_)});
            split(of_part, (count(of_part) + items_per_leaf - 1) / items_per_leaf);
        }
        trees_.leaves_.push_back(next_leaf());
        find_leaves_of_vertices();
    }

private:
    static constexpr Index vertices_of_a_part = 64; ///< at least: pairs of many small trees would cost more

    struct Item {
        Vec3 centre; ///< three times
        Index id;    ///< a face, or the number of faces and the place of a loose vertex
    };

    /// Vertices that edges connect have a number in common; 0 for parts that are too small for a tree of their own.
    std::vector<Index> groups_of_vertices() const
    {
        UnionFind parts(surface_.vertex_count());
        for (const auto& [a, b] : surface_.edges) parts.join(a, b);
        std::vector<Index> size(static_cast<std::size_t>(surface_.vertex_count()), 0), group(size);
        for (Index v = 0; v < surface_.vertex_count(); ++v) ++size[parts.find(v)];
        for (Index v = 0; v < surface_.vertex_count(); ++v) {
            const Index part = parts.find(v);
            group[v] = size[part] >= vertices_of_a_part ? 1 + part : 0;
        }
        return group;
    }

    void own_features()
    {
        const Index faces = count(surface_.triangles);
        std::vector<char> vertex_taken(static_cast<std::size_t>(surface_.vertex_count()), 0);
        std::vector<char> edge_taken(surface_.edges.size(), 0);
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

    void find_leaves_of_vertices()
    {
        std::vector<std::array<Index, 2>> places; // vertex, node of its leaf
        for (Index leaf = 0; leaf < trees_.leaf_count(); ++leaf) {
            const Leaf &begin = trees_.leaves_[leaf], &end = trees_.leaves_[leaf + 1];
            const auto add_all = [&](const auto& blocks, Index first, Index last) {
                for (Index b = first; b < last; ++b)
                    for (const auto& corner : blocks[b].vertex)
                        for (const Index v : corner) places.push_back({v, begin.node});
            };
            add_all(trees_.faces_, begin.face, end.face);
            add_all(trees_.vertices_, begin.vertex, end.vertex);
        }
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());
        trees_.vertex_begin_.assign(static_cast<std::size_t>(surface_.vertex_count()) + 1, 0);
        for (const auto& [vertex, node] : places) {
            ++trees_.vertex_begin_[vertex + 1];
            trees_.vertex_leaf_nodes_.push_back(node);
        }
        for (Index v = 0; v < surface_.vertex_count(); ++v) trees_.vertex_begin_[v + 1] += trees_.vertex_begin_[v];
    }

    Leaf next_leaf() const
    {
        return {count(trees_.faces_), count(trees_.edges_), count(trees_.vertices_), count(trees_.nodes_)};
    }

    /// So many leaves, which share the items evenly.
    void split(std::span<Item> items, Index leaves)
    {
        const Index node = count(trees_.nodes_);
        trees_.nodes_.push_back({none, count(trees_.leaves_), leaves});
        if (leaves == 1) return add_leaf(items, node);
        Vec3 lo = items[0].centre, hi = lo;
        for (const Item& i : items) {
            lo = lo.cwiseMin(i.centre);
            hi = hi.cwiseMax(i.centre);
        }
        int axis;
        (hi - lo).maxCoeff(&axis);
        const Index first_leaves = (leaves + 1) / 2;
        const auto middle = items.begin() + std::int64_t(items.size()) * first_leaves / leaves;
        std::nth_element(items.begin(), middle, items.end(), [axis](const Item& a, const Item& b) {
            return a.centre[axis] != b.centre[axis] ? a.centre[axis] < b.centre[axis] : a.id < b.id;
        });
        split({items.begin(), middle}, first_leaves);
        trees_.nodes_[node].second = count(trees_.nodes_);
        split({middle, items.end()}, leaves - first_leaves);
    }

    template <class Block, class Vertices>
    static void add(std::vector<Block>& blocks, Index first, Index id, const Vertices& vertices)
    {
        if (count(blocks) == first || blocks.back().full()) blocks.emplace_back();
        blocks.back().add(id, vertices);
    }

    void add_leaf(std::span<const Item> items, Index node)
    {
        Leaf leaf = next_leaf();
        leaf.node = node;
        trees_.leaves_.push_back(leaf);
        const Index faces = count(surface_.triangles);
        for (const Item& i : items) {
            if (i.id >= faces) {
                const Index v = loose_vertices_[i.id - faces];
                add(trees_.vertices_, leaf.vertex, v, std::array{v});
                continue;
            }
            add(trees_.faces_, leaf.face, i.id, surface_.triangles[i.id]);
            for (Index v : owned_vertices_[i.id])
                if (v != none) add(trees_.vertices_, leaf.vertex, v, std::array{v});
            for (Index e : owned_edges_[i.id])
                if (e != none) add(trees_.edges_, leaf.edge, e, surface_.edges[e]);
        }
    }

    SurfaceTrees& trees_;
    const Surface& surface_;
    std::vector<Index> loose_vertices_;
    std::vector<std::array<Index, 3>> owned_vertices_, owned_edges_; ///< per face, `none` if another face owns it
};

SurfaceTrees::SurfaceTrees(const Surface& surface) : surface_(surface)
{
    Builder(*this).build();
}

template <bool moving>
void SurfaceTrees::refit(const VertexBoxes& boxes)
{
    boxes_t0_.resize(nodes_.size());
    boxes_t1_.resize(moving ? nodes_.size() : 0);
    parallel_for(
        leaf_count(),
        [&](Index i) {
            const Leaf &begin = leaves_[i], &end = leaves_[i + 1];
            if (!changed_[begin.node]) return;
            for (int t = 0; t < (moving ? 2 : 1); ++t) {
                Box box;
                const std::vector<Box>& of_vertices = t == 0 ? boxes.t0 : boxes.t1;
                for (Index b = begin.face; b < end.face; ++b) faces_[b].fit(t, of_vertices, box);
                for (Index b = begin.edge; b < end.edge; ++b) edges_[b].fit(t, of_vertices, box);
                for (Index b = begin.vertex; b < end.vertex; ++b) vertices_[b].fit(t, of_vertices, box);
                (t == 0 ? boxes_t0_ : boxes_t1_)[begin.node] = box;
            }
        },
        64);
    for (Index node = count(nodes_) - 1; node >= 0; --node) { // children come after their parents
        const Index second = nodes_[node].second;
        if (second == none) continue;
        changed_[node] = changed_[node + 1] | changed_[second];
        if (!changed_[node]) continue;
        boxes_t0_[node] = boxes_t0_[node + 1];
        boxes_t0_[node].add(boxes_t0_[second]);
        if constexpr (moving) {
            boxes_t1_[node] = boxes_t1_[node + 1];
            boxes_t1_[node].add(boxes_t1_[second]);
        }
    }
}

void SurfaceTrees::update(const VertexBoxes& boxes, std::span<const char> changed)
{
    assert(count(boxes.t0) == surface_.vertex_count() && boxes.t0.size() == changed.size());
    moving_ = boxes.moving();
    changed_.assign(nodes_.size(), 0);
    for (Index v = 0; v < count(changed); ++v)
        if (changed[v])
            for (Index i = vertex_begin_[v]; i < vertex_begin_[v + 1]; ++i) changed_[vertex_leaf_nodes_[i]] = 1;
    if (moving_)
        refit<true>(boxes);
    else
        refit<false>(boxes);
}

std::size_t SurfaceTrees::bytes() const
{
    const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
    return of(trees_) + of(nodes_) + of(leaves_) + of(faces_) + of(edges_) + of(vertices_) + of(boxes_t0_) +
           of(boxes_t1_) + of(changed_) + of(vertex_begin_) + of(vertex_leaf_nodes_);
}

} // namespace pliant
