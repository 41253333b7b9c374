#pragma once
// Internal to detection: what a detector keeps between queries.

#include "pliant/core/parallel.hpp"
#include "pliant/detection/detector.hpp"
#include "pliant/detection/hash_grid.hpp"
#include "pliant/detection/normal_cones.hpp"
#include "pliant/detection/self_cull.hpp"

#include <chrono>

namespace pliant {

class Stopwatch {
public:
    Real lap()
    {
        const auto now = std::chrono::steady_clock::now();
        const Real seconds = std::chrono::duration<Real>(now - last_).count();
        last_ = now;
        return seconds;
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

struct Detector::Implementation {
    const Surface& surface;
    PairFilter filter;
    NormalCones cones;
    BroadPhaseKind kind;
    SurfaceTrees trees;
    HashGrid hash;
    std::optional<SelfCull> self_cull;
    Rooms rooms; ///< that collected the candidates
    Rooms own;   ///< boxes of the query at hand
    std::vector<char> marked_edges, marked_faces;
    Sieve room_sieve; ///< drops pairs as they are collected
    Sieve sieve;      ///< drops pairs of a query
    CandidateChunks candidates;
    bool has_candidates = false, has_own = false;
    std::int64_t collected = 0; ///< candidates when all were collected
    std::vector<char> escaped;  ///< per vertex
    Real reuse_margin = 0;
    DetectionStats stats;
    std::vector<ContactPair> pairs;
    std::vector<Impact> impacts;
    Vec3s x_end; ///< scratch of earliest_impact

    Implementation(const Surface& s, std::span<const std::array<Index, 2>> no_contact, BroadPhaseKind k)
        : surface(s), filter(s, no_contact), cones(s), kind(k), trees(s), hash(s), room_sieve(s), sieve(s)
    {}

    /// Throws Error unless both arrays hold one finite position for every vertex.
    void require_positions(const Vec3s& x_t0, const Vec3s& x_t1) const;
    /// Marks the vertices for whose pairs the candidates at hand may not be enough; returns how many they are.
    Index find_escaped(const VertexBalls& query);
    /// With the boxes of `wanted` for the vertices that have escaped. False, and nothing is done, where collecting all
    /// anew costs less.
    bool collect_escaped(Index escaped_count, const VertexBalls& wanted);
    /// What a collection leaves out: nothing; patches in which nothing can meet; and pairs that are apart all the same,
    /// wherever in their rooms vertices are.
    enum class Leave { nothing, patches, patches_and_pairs };
    /// All pairs of the motion but these. stride: see SurfaceTrees::collect; the other broad phases collect everything.
    void collect(const VertexBalls& motion, Leave leave, std::size_t stride = 1);
    /// Candidates of the motion, or a superset that is at hand.
    void find_candidates(const VertexBalls& query);

    /// Candidates collected with grown boxes are more than those of the query. Where results could depend on them, and
    /// so on what was asked before, only the query's own are looked at: those whose boxes overlap.
    bool wanted_vertex_face(const VertexBalls& query, const Pair& p) const
    {
        return wanted(query, std::array{p[0]}, surface.triangles[p[1]]);
    }
    bool wanted_edge_edge(const VertexBalls& query, const Pair& p) const
    {
        return wanted(query, surface.edges[p[0]], surface.edges[p[1]]);
    }
    template <std::size_t N, std::size_t M>
    bool wanted(const VertexBalls& query, const std::array<Index, N>& a, const std::array<Index, M>& b) const
    {
        if (has_own) return overlap(own.boxes().both(a), own.boxes().both(b));
        return reuse_margin == 0 || overlap(query.box(a), query.box(b));
    }
    /// Where candidates are many, makes the boxes of all vertices beforehand.
    void prepare_own(const VertexBalls& query);
    /// Marks the edges and faces that have a marked vertex.
    void mark_features(std::span<const char> vertices);

    /// Which candidates are looked at: pairs of either kind that `wanted` says, and of those what the sieve leaves.
    template <class WantedFace, class WantedEdge, class NearFace, class NearEdge>
    struct Sifting {
        WantedFace wanted_face;
        WantedEdge wanted_edge;
        NearFace near_face;
        NearEdge near_edge;
    };
    template <class... Questions> // Clang deduces those of an aggregate from version 17 on
    Sifting(Questions...)->Sifting<Questions...>;

    /// Looks at all candidates that are left after sifting in parallel: vertex_face(pair, list) and edge_edge(pair,
    /// list) append what they find to a list a chunk, vertex(v, list) does so for every vertex (planes). The lists are
    /// then joined, sorted by key, and of equal keys the first by `before` is kept; `before` must look at content only,
    /// so that the choice depends neither on threads nor on the shape of the tree.
    template <class T, class Sift, class VertexFace, class EdgeEdge, class Vertex, class Before>
    void narrow(std::vector<T>& out, const Sift& sift, VertexFace&& vertex_face, EdgeEdge&& edge_edge, Vertex&& vertex,
                Before&& before) const
    {
        constexpr Index vertices_a_chunk = 4096;
        const Index vf = count(candidates.vertex_face), ee = count(candidates.edge_edge);
        const Index vertices = surface.vertex_count(), v = (vertices + vertices_a_chunk - 1) / vertices_a_chunk;
        std::vector<std::vector<T>> found(static_cast<std::size_t>(vf + ee + v));
        parallel_for(
            count(found),
            [&](Index i) {
                if (i < vf)
                    Sieve::for_each(candidates.vertex_face[i], sift.wanted_face, sift.near_face,
                                    [&](const Pair& p) { vertex_face(p, found[i]); });
                else if (i < vf + ee)
                    Sieve::for_each(candidates.edge_edge[i - vf], sift.wanted_edge, sift.near_edge,
                                    [&](const Pair& p) { edge_edge(p, found[i]); });
                else {
                    const Index begin = (i - vf - ee) * vertices_a_chunk;
                    for (Index k = begin; k < std::min(vertices, begin + vertices_a_chunk); ++k) vertex(k, found[i]);
                }
            },
            1);
        join(found, out, before);
    }

private:
    template <class T, class Before>
    static void join(const std::vector<std::vector<T>>& lists, std::vector<T>& out, Before&& before)
    {
        struct Entry {
            PairKey key;
            Index list, place;
        };
        std::vector<std::size_t> first(lists.size() + 1, 0);
        for (std::size_t i = 0; i < lists.size(); ++i) first[i + 1] = first[i] + lists[i].size();
        std::vector<Entry> entries(first.back());
        parallel_for(
            count(lists),
            [&](Index i) {
                for (Index k = 0; k < count(lists[i]); ++k) entries[first[i] + k] = {lists[i][k].key, i, k};
            },
            16);
        const auto item = [&](const Entry& e) -> const T& { return lists[e.list][e.place]; };
        parallel_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
            return a.key != b.key ? a.key < b.key : before(item(a), item(b));
        });
        const auto last =
            std::unique(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.key == b.key; });
        entries.erase(last, entries.end());
        out.resize(entries.size());
        parallel_for(
            count(entries), [&](Index i) { out[i] = item(entries[i]); }, 1024);
    }
};

} // namespace pliant
