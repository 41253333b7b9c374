// Marching tetrahedra [Doi and Koide 1991] on a body-centred cubic lattice, whose tetrahedra are all alike and nearly
// regular: two neighbouring cells' centres with an edge of the face between them.

#include "pliant/mesh/blend_march.hpp"

#include "pliant/core/parallel.hpp"
#include "pliant/mesh/topology.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr Real cell_per_edge = 2.32; ///< side of a cell over the mean edge that comes out, measured on balls
constexpr Index block = 8;           ///< cells along a side of what one task looks at
constexpr Real off_ends = 0.1;       ///< cuts keep off the ends of a lattice edge, or triangles could have no area
constexpr int smoothing_rounds = 4;

/// A point of the lattice: corners have even numbers in each axis, centres odd ones.
using Point = std::array<Index, 3>;

struct Cut {
    std::array<Point, 2> ends; ///< of the lattice's edge, the smaller first
    bool operator==(const Cut&) const = default;
    auto operator<=>(const Cut&) const = default;
};

class Marcher {
public:
    Marcher(const MarchField& field, Real cell) : field_(field), cell_(cell)
    {
        const Eigen::AlignedBox<Real, 3> box = field.bounds();
        for (int k = 0; k < 3; ++k) {
            const Real cells = std::ceil(box.sizes()[k] / cell) + 2;
            blocks_[k] = static_cast<Index>(std::ceil(cells / block));
            // Off the grid of round numbers, on which symmetric figures have flat spots.
            origin_[k] = box.center()[k] - (blocks_[k] * block / 2.0 + 0.0137 * (k + 1)) * cell;
        }
    }

    TriangleMesh make()
    {
        std::vector<Point> active;
        for (Index k = 0; k < blocks_[2]; ++k)
            for (Index j = 0; j < blocks_[1]; ++j)
                for (Index i = 0; i < blocks_[0]; ++i)
                    if (is_active({i, j, k})) active.push_back({i, j, k});
        std::vector<std::vector<std::array<Cut, 3>>> parts(active.size());
        parallel_for(
            count(active), [&](Index i) { march_block(active[i], parts[i]); }, 1);
        return join(parts);
    }

private:
    Vec3 place(const Point& p) const { return origin_ + cell_ / 2 * Vec3(p[0], p[1], p[2]); }

    bool is_active(const Point& b) const
    {
        const Index middle = block; // in half cells
        const Point centre = {2 * block * b[0] + middle, 2 * block * b[1] + middle, 2 * block * b[2] + middle};
        return field_.may_cross(place(centre), std::sqrt(3.0) * (block / 2.0 + 1) * cell_);
    }

    /// The field at the points of a block: corners and centres of its cells and of the next ones.
    struct Values {
        static constexpr Index side = block + 1;
        std::vector<Real> at = std::vector<Real>(2 * side * side * side);
        Real& operator()(Index i, Index j, Index k, bool centre)
        {
            return at[static_cast<std::size_t>(((k * side + j) * side + i) * 2 + centre)];
        }
    };

    void march_block(const Point& b, std::vector<std::array<Cut, 3>>& out) const
    {
        Values values;
        const Point first = {2 * block * b[0], 2 * block * b[1], 2 * block * b[2]};
        for (Index k = 0; k <= block; ++k)
            for (Index j = 0; j <= block; ++j)
                for (Index i = 0; i <= block; ++i)
                    for (const Index c : {0, 1})
                        values(i, j, k, c != 0) =
                            field_.value(place({first[0] + 2 * i + c, first[1] + 2 * j + c, first[2] + 2 * k + c}));
        for (Index k = 0; k < block; ++k)
            for (Index j = 0; j < block; ++j)
                for (Index i = 0; i < block; ++i)
                    for (int axis = 0; axis < 3; ++axis) march_face({i, j, k}, axis, first, values, out);
    }

    /// The four tetrahedra around the face between a cell and the next one along an axis.
    void march_face(const Point& cell, int axis, const Point& first, Values& values,
                    std::vector<std::array<Cut, 3>>& out) const
    {
        Point next = cell;
        ++next[axis];
        const int u = (axis + 1) % 3, v = (axis + 2) % 3;
        std::array<Point, 4> corner;
        for (int n = 0; n < 4; ++n) {
            corner[n] = next;
            corner[n][u] += n == 1 || n == 2;
            corner[n][v] += n >= 2;
        }
        for (int n = 0; n < 4; ++n) {
            const Point &a = corner[n], &b = corner[(n + 1) % 4];
            // Seen from the next cell's centre, the face's corners go around counter-clockwise: positive volume.
            const std::array<Point, 4> local = {cell, next, a, b};
            std::array<Point, 4> points;
            std::array<Real, 4> value;
            for (int m = 0; m < 4; ++m) {
                value[m] = values(local[m][0], local[m][1], local[m][2], m < 2);
                for (int k = 0; k < 3; ++k) points[m][k] = first[k] + 2 * local[m][k] + (m < 2);
            }
            march_tet(points, value, out);
        }
    }

    static void march_tet(const std::array<Point, 4>& p, const std::array<Real, 4>& value,
                          std::vector<std::array<Cut, 3>>& out)
    {
        std::array<int, 4> inside{}, outside{};
        int n = 0, m = 0;
        for (int k = 0; k < 4; ++k) (value[k] < 0 ? inside[n++] : outside[m++]) = k;
        if (n == 0 || m == 0) return;
        const auto cut = [&](int i, int j) { return Cut{{std::min(p[i], p[j]), std::max(p[i], p[j])}}; };
        // An even permutation keeps the tetrahedron's orientation.
        const auto even = [](std::array<int, 4> o) {
            int swaps = 0;
            for (int i = 0; i < 4; ++i)
                for (int j = i + 1; j < 4; ++j) swaps += o[i] > o[j];
            return swaps % 2 == 0;
        };
        std::array<int, 4> o;
        for (int k = 0; k < n; ++k) o[k] = inside[k];
        for (int k = 0; k < m; ++k) o[n + k] = outside[k];
        if (!even(o)) n == 3 ? std::swap(o[0], o[1]) : std::swap(o[2], o[3]); // both on one side
        const auto [a, b, c, d] = o;
        if (n == 1) {
            out.push_back({cut(a, b), cut(a, c), cut(a, d)});
        } else if (n == 3) {
            out.push_back({cut(a, d), cut(b, d), cut(c, d)});
        } else {
            out.push_back({cut(a, c), cut(a, d), cut(b, d)});
            out.push_back({cut(a, c), cut(b, d), cut(b, c)});
        }
    }

    TriangleMesh join(const std::vector<std::vector<std::array<Cut, 3>>>& parts) const
    {
        std::vector<Cut> cuts;
        for (const auto& part : parts)
            for (const auto& t : part) cuts.insert(cuts.end(), t.begin(), t.end());
        parallel_sort(cuts.begin(), cuts.end(), std::less<Cut>());
        cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
        TriangleMesh mesh;
        mesh.vertices.resize(cuts.size());
        parallel_for(count(cuts), [&](Index i) {
            const Vec3 a = place(cuts[i].ends[0]), b = place(cuts[i].ends[1]);
            const Real fa = field_.value(a), fb = field_.value(b);
            mesh.vertices[i] = a + std::clamp(fa / (fa - fb), off_ends, 1 - off_ends) * (b - a);
        });
        for (const auto& part : parts)
            for (const auto& t : part) {
                Triangle triangle;
                for (int k = 0; k < 3; ++k)
                    triangle[k] = static_cast<Index>(std::lower_bound(cuts.begin(), cuts.end(), t[k]) - cuts.begin());
                mesh.triangles.push_back(triangle);
            }
        return mesh;
    }

    const MarchField& field_;
    Real cell_;
    Vec3 origin_;
    Point blocks_;
};

/// Moves vertices along the surface to the middle of their neighbours, and onto it.
void smooth(const MarchField& field, Real edge, TriangleMesh& mesh)
{
    const std::vector<Edge> edges = edges_of(mesh.triangles);
    std::vector<Index> begin(mesh.vertices.size() + 1, 0), fill, neighbour(2 * edges.size());
    for (const auto& [a, b] : edges) ++begin[a + 1], ++begin[b + 1];
    for (std::size_t i = 0; i + 1 < begin.size(); ++i) begin[i + 1] += begin[i];
    fill = begin;
    for (const auto& [a, b] : edges) neighbour[fill[a]++] = b, neighbour[fill[b]++] = a;
    const Real eps = 1e-4 * edge, longest = 0.3 * edge;
    Vec3s next(mesh.vertices.size());
    for (int round = 0; round < smoothing_rounds; ++round) {
        parallel_for(count(next), [&](Index i) {
            const Vec3& x = mesh.vertices[i];
            Vec3 mean = Vec3::Zero();
            for (Index k = begin[i]; k < begin[i + 1]; ++k) mean += mesh.vertices[neighbour[k]];
            mean /= begin[i + 1] - begin[i];
            const Real f = field.value(x);
            Vec3 gradient;
            for (int k = 0; k < 3; ++k) gradient[k] = (field.value(x + eps * Vec3::Unit(k)) - f) / eps;
            const Real slope_sq = gradient.squaredNorm();
            Vec3 move = 0.5 * (mean - x);
            if (slope_sq > 0.01) move -= (gradient.dot(move) + f) / slope_sq * gradient;
            if (move.norm() > longest) move *= longest / move.norm();
            next[i] = x + move;
        });
        mesh.vertices.swap(next);
    }
}

} // namespace

TriangleMesh march(const MarchField& field, Real edge)
{
    TriangleMesh mesh = Marcher(field, cell_per_edge * edge).make();
    smooth(field, edge, mesh);
    return mesh;
}

} // namespace pliant
