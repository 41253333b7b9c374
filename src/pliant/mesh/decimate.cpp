#include "pliant/mesh/decimate.hpp"

#include "pliant/mesh/topology.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <queue>

namespace pliant {
namespace {

constexpr Real evenness = 1e-3;    ///< weight of the squared length of an edge beside the error of its collapse
constexpr Real longest = 4;        ///< of an edge, over the mean one of equal triangles
constexpr Real least_turn = 0.3;   ///< cosine between the normals of a triangle before and after
constexpr Real least_shape = 0.15; ///< area over that of the equilateral triangle on the longest side

/// Sum of squared distances to planes, each weighted by an area: x^T A x - 2 b x + c.
struct Quadric {
    Mat3 A = Mat3::Zero();
    Vec3 b = Vec3::Zero();
    Real c = 0;

    void add_plane(const Vec3& normal, Real offset, Real weight)
    {
        A += weight * normal * normal.transpose();
        b += weight * offset * normal;
        c += weight * offset * offset;
    }
    Quadric operator+(const Quadric& o) const { return {A + o.A, b + o.b, c + o.c}; }
    Real operator()(const Vec3& x) const { return std::max(0.0, x.dot(A * x) - 2 * b.dot(x) + c); }
};

class Decimator {
public:
    Decimator(const TriangleMesh& mesh, Index wanted)
        : mesh_(mesh), quadric_(mesh.vertices.size()), around_(mesh.vertices.size()), version_(mesh.vertices.size(), 0),
          alive_(mesh.triangles.size(), true), left_(count(mesh.triangles)), wanted_(wanted)
    {
        Real area = 0;
        for (Index t = 0; t < left_; ++t) {
            const auto& [a, b, c] = mesh_.triangles[t];
            const Vec3 doubled = normal_of(mesh_.vertices[a], mesh_.vertices[b], mesh_.vertices[c]);
            const Real twice = doubled.norm();
            for (const Index v : mesh_.triangles[t]) around_[v].push_back(t);
            if (twice == 0) continue;
            area += twice / 2;
            const Vec3 n = doubled / twice;
            for (const Index v : mesh_.triangles[t]) quadric_[v].add_plane(n, n.dot(mesh_.vertices[a]), twice / 6);
        }
        mean_edge_ = std::sqrt(area / (0.43 * std::max<Index>(wanted, 1)));
        for (const auto& [a, b] : edges_of(mesh_.triangles)) offer(a, b);
    }

    TriangleMesh run()
    {
        while (left_ > wanted_ && !offers_.empty()) {
            const Offer o = offers_.top();
            offers_.pop();
            if (o.version_a == version_[o.a] && o.version_b == version_[o.b] && may_collapse(o)) collapse(o);
        }
        return compact();
    }

private:
    struct Offer {
        Real cost;
        Index a, b; ///< a < b
        int version_a, version_b;
        Vec3 place; ///< of the vertex that is left
        bool operator<(const Offer& o) const
        {
            return std::tie(o.cost, o.a, o.b) < std::tie(cost, a, b);
        } // cheap first
    };

    static Vec3 normal_of(const Vec3& a, const Vec3& b, const Vec3& c) { return (b - a).cross(c - a); }

    void offer(Index a, Index b)
    {
        if (a > b) std::swap(a, b);
        const Vec3 middle = (mesh_.vertices[a] + mesh_.vertices[b]) / 2;
        const Real length_sq = (mesh_.vertices[a] - mesh_.vertices[b]).squaredNorm();
        const Quadric q = quadric_[a] + quadric_[b];
        const Real soft = 1e-3 * q.A.trace(); // keeps it near the middle where planes do not say
        Vec3 place = (q.A + soft * Mat3::Identity()).ldlt().solve(q.b + soft * middle);
        if (!place.allFinite() || (place - middle).squaredNorm() > length_sq) place = middle;
        offers_.push({q(place) + evenness * q.A.trace() * length_sq, a, b, version_[a], version_[b], place});
    }

    std::vector<Index> neighbours(Index v) const
    {
        std::vector<Index> out;
        for (const Index t : around_[v])
            for (const Index u : mesh_.triangles[t])
                if (u != v) out.push_back(u);
        std::ranges::sort(out);
        out.erase(std::unique(out.begin(), out.end()), out.end());
        return out;
    }

    bool may_collapse(const Offer& o) const
    {
        const std::vector<Index> of_a = neighbours(o.a), of_b = neighbours(o.b);
        std::vector<Index> common;
        std::ranges::set_intersection(of_a, of_b, std::back_inserter(common));
        if (common.size() != 2) return false; // or the surface would be pinched there
        for (const Index v : common)
            if (around_[v].size() <= 3) return false;
        return keeps_shape(o, o.a, o.b) && keeps_shape(o, o.b, o.a);
    }

    /// No triangle around v is turned over, thin or long when v moves.
    bool keeps_shape(const Offer& o, Index v, Index other) const
    {
        for (const Index t : around_[v]) {
            const Triangle& corner = mesh_.triangles[t];
            if (std::ranges::find(corner, other) != corner.end()) continue;
            std::array<Vec3, 3> x;
            Real side_sq = 0;
            for (std::size_t k = 0; k < 3; ++k) x[k] = corner[k] == v ? o.place : mesh_.vertices[corner[k]];
            for (std::size_t k = 0; k < 3; ++k) side_sq = std::max(side_sq, (x[k] - x[(k + 1) % 3]).squaredNorm());
            const Vec3 before =
                normal_of(mesh_.vertices[corner[0]], mesh_.vertices[corner[1]], mesh_.vertices[corner[2]]);
            const Vec3 after = normal_of(x[0], x[1], x[2]);
            if (before.dot(after) < least_turn * before.norm() * after.norm()) return false;
            if (after.norm() < least_shape * 0.866 * side_sq || side_sq > longest * longest * mean_edge_ * mean_edge_)
                return false;
        }
        return true;
    }

    void collapse(const Offer& o)
    {
        for (const Index t : around_[o.b]) {
            Triangle& corner = mesh_.triangles[t];
            if (std::ranges::find(corner, o.a) != corner.end()) {
                alive_[t] = false;
                --left_;
                for (const Index v : corner)
                    if (v != o.b) std::erase(around_[v], t);
            } else {
                std::ranges::replace(corner, o.b, o.a);
                around_[o.a].push_back(t);
            }
        }
        around_[o.b].clear();
        mesh_.vertices[o.a] = o.place;
        quadric_[o.a] = quadric_[o.a] + quadric_[o.b];
        ++version_[o.a];
        ++version_[o.b];
        for (const Index v : neighbours(o.a)) offer(o.a, v);
    }

    TriangleMesh compact() const
    {
        TriangleMesh out;
        std::vector<Index> number(mesh_.vertices.size(), none);
        for (Index v = 0; v < count(number); ++v) {
            if (around_[v].empty()) continue;
            number[v] = count(out.vertices);
            out.vertices.push_back(mesh_.vertices[v]);
        }
        for (Index t = 0; t < count(alive_); ++t) {
            if (!alive_[t]) continue;
            const auto& [a, b, c] = mesh_.triangles[t];
            out.triangles.push_back({number[a], number[b], number[c]});
        }
        return out;
    }

    TriangleMesh mesh_;
    std::vector<Quadric> quadric_;
    std::vector<std::vector<Index>> around_; ///< per vertex: its triangles
    std::vector<int> version_;               ///< per vertex: an offer of an older one is void
    std::vector<char> alive_;                ///< per triangle
    std::priority_queue<Offer> offers_;
    Index left_, wanted_;
    Real mean_edge_ = 0;
};

} // namespace

TriangleMesh decimate(const TriangleMesh& mesh, Index triangles)
{
    return Decimator(mesh, triangles).run();
}

} // namespace pliant
