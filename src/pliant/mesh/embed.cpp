#include "pliant/mesh/embed.hpp"

#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/mesh/arguments.hpp"
#include "pliant/mesh/ray_side.hpp"
#include "pliant/mesh/topology.hpp"
#include "pliant/mesh/validate.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// The six monotone paths from corner 000 to 111 of a cell; path p is a tetrahedron (Kuhn). Even permutations first:
/// the odd ones are mirror images.
constexpr std::array<std::array<int, 3>, 6> paths = {
    {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}};
constexpr bool is_odd(std::size_t path)
{
    return path >= 3;
}
constexpr Real touch = 1e-9; ///< in cells: contact shallower than this does not count as overlap

using Cell = std::array<Index, 3>;

struct Lattice {
    Vec3 origin, size; ///< corner, and size of a cell [m]
    Cell cells;

    std::int64_t cell_count() const { return std::int64_t(cells[0]) * cells[1] * cells[2]; }
    std::int64_t cell_id(const Cell& c) const { return (std::int64_t(c[2]) * cells[1] + c[1]) * cells[0] + c[0]; }
    Cell cell_at(std::int64_t id) const
    {
        return {static_cast<Index>(id % cells[0]), static_cast<Index>(id / cells[0] % cells[1]),
                static_cast<Index>(id / cells[0] / cells[1])};
    }
    Vec3 to_cells(const Vec3& x) const { return (x - origin).cwiseQuotient(size); }
};

Lattice fit_lattice(const TriangleMesh& surface, const EmbedOptions& options, const std::string& name)
{
    Vec3 low = surface.vertices.front(), high = low;
    for (const Vec3& x : surface.vertices) {
        low = low.cwiseMin(x);
        high = high.cwiseMax(x);
    }
    const Vec3 extent = high - low;
    if (options.cell_size == 0)
        require_at_least((name + ": embedding").c_str(), "the number of cells", options.cells, 1);
    if (options.cell_size != 0) require_positive((name + ": embedding").c_str(), "the cell size", options.cell_size);
    const Real h = options.cell_size > 0 ? options.cell_size : extent.maxCoeff() / options.cells;
    Lattice lattice{low, extent, {1, 1, 1}};
    Real total = 6;
    for (int k = 0; k < 3; ++k) {
        const Real cells = std::max(1.0, std::ceil(extent[k] / h - 1e-6));
        total *= cells;
        if (total > 6e8)
            throw Error(name + ": embedding: a lattice of more than 1e8 cells is too fine; ask for fewer.");
        lattice.cells[k] = static_cast<Index>(cells);
        lattice.size[k] = extent[k] / cells;
    }
    return lattice;
}

/// Corners of a lattice tetrahedron in units of cells, in the order of its path.
std::array<Vec3, 4> tet_corners(const Cell& cell, int path)
{
    std::array<Vec3, 4> corners;
    corners[0] = Vec3(cell[0], cell[1], cell[2]);
    for (int s = 0; s < 3; ++s) {
        corners[s + 1] = corners[s];
        corners[s + 1][paths[path][s]] += 1;
    }
    return corners;
}

/// Whether the triangle reaches into the tetrahedron deeper than `touch`: separating axes of two convex polytopes.
bool overlap(const std::array<Vec3, 3>& triangle, const std::array<Vec3, 4>& tet)
{
    const auto separated = [&](const Vec3& axis) {
        const Real length = axis.norm();
        if (length < 1e-12) return false;
        Real low_a = triangle[0].dot(axis), high_a = low_a, low_b = tet[0].dot(axis), high_b = low_b;
        for (int k = 1; k < 3; ++k) {
            const Real d = triangle[k].dot(axis);
            low_a = std::min(low_a, d);
            high_a = std::max(high_a, d);
        }
        for (int k = 1; k < 4; ++k) {
            const Real d = tet[k].dot(axis);
            low_b = std::min(low_b, d);
            high_b = std::max(high_b, d);
        }
        return high_a <= low_b + touch * length || low_a >= high_b - touch * length;
    };
    for (int k = 0; k < 3; ++k)
        if (separated(Vec3::Unit(k))) return false;
    static constexpr std::array<std::array<int, 3>, 4> faces = {{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};
    for (const auto& [a, b, c] : faces)
        if (separated((tet[b] - tet[a]).cross(tet[c] - tet[a]))) return false;
    std::array<Vec3, 3> sides;
    for (int k = 0; k < 3; ++k) sides[k] = (triangle[(k + 1) % 3] - triangle[k]).normalized();
    if (separated(sides[0].cross(sides[1]))) return false;
    for (int i = 0; i < 4; ++i)
        for (int j = i + 1; j < 4; ++j)
            for (const Vec3& side : sides)
                if (separated((tet[j] - tet[i]).cross(side))) return false;
    return true;
}

class Embedder {
public:
    Embedder(const TriangleMesh& surface, const Lattice& lattice)
        : lattice_(lattice), keep_(static_cast<std::size_t>(6 * lattice.cell_count()), 0), triangles_(surface.triangles)
    {
        for (const Vec3& x : surface.vertices) x_.push_back(lattice.to_cells(x));
    }

    void mark_surface()
    {
        for (const Triangle& t : triangles_) {
            const std::array<Vec3, 3> corners = {x_[t[0]], x_[t[1]], x_[t[2]]};
            const Vec3 low = corners[0].cwiseMin(corners[1]).cwiseMin(corners[2]);
            const Vec3 high = corners[0].cwiseMax(corners[1]).cwiseMax(corners[2]);
            Cell first, last, c;
            for (int k = 0; k < 3; ++k) {
                first[k] = clamped(std::floor(low[k]), k);
                last[k] = clamped(std::floor(high[k]), k);
            }
            for (c[2] = first[2]; c[2] <= last[2]; ++c[2])
                for (c[1] = first[1]; c[1] <= last[1]; ++c[1])
                    for (c[0] = first[0]; c[0] <= last[0]; ++c[0])
                        for (int p = 0; p < 6; ++p) {
                            char& kept = keep_[tet_id(c, p)];
                            if (!kept) kept = overlap(corners, tet_corners(c, p));
                        }
        }
    }

    /// Tetrahedra that the surface does not cross are inside or outside as a whole: their centre decides.
    void mark_interior()
    {
        bin_triangles();
        parallel_for(
            static_cast<Index>(lattice_.cell_count()),
            [&](Index id) {
                const Cell cell = lattice_.cell_at(id);
                for (int p = 0; p < 6; ++p) {
                    char& kept = keep_[tet_id(cell, p)];
                    if (!kept) kept = is_inside(centre(cell, p));
                }
            },
            512);
    }

    /// The tetrahedron that carries each surface vertex, with its weights. A vertex on a face between tetrahedra goes
    /// to one that is already kept; where rounding has kept none, the one that holds the vertex joins.
    void tie_vertices(EmbeddedMesh& out, std::vector<std::int64_t>& carriers)
    {
        for (const Vec3& x : x_) {
            Cell base;
            Vec3 f;
            for (int k = 0; k < 3; ++k) {
                base[k] = clamped(std::floor(x[k]), k);
                f[k] = std::clamp(x[k] - base[k], 0.0, 1.0);
            }
            std::int64_t carrier = none;
            Vec4 weights;
            for (const auto& [cell, offset] : cells_around(base, f)) {
                for (int p = 0; p < 6 && carrier == none; ++p)
                    if (keep_[tet_id(cell, p)] && weights_in(p, offset, weights)) carrier = tet_id(cell, p);
                if (carrier != none) break;
            }
            if (carrier == none) {
                int p = 0;
                while (!weights_in(p, f, weights)) ++p;
                carrier = static_cast<std::int64_t>(tet_id(base, p));
                keep_[static_cast<std::size_t>(carrier)] = 1;
            }
            carriers.push_back(carrier);
            out.weights.push_back(weights);
        }
    }

    const std::vector<char>& keep() const { return keep_; }

private:
    std::size_t tet_id(const Cell& c, int path) const
    {
        return static_cast<std::size_t>(6 * lattice_.cell_id(c) + path);
    }
    Index clamped(Real value, int axis) const
    {
        return static_cast<Index>(std::clamp(value, 0.0, Real(lattice_.cells[axis] - 1)));
    }

    /// A point well inside the tetrahedron, off its centre by odd amounts so that no ray runs along a lattice-aligned
    /// edge of the surface.
    static Vec3 centre(const Cell& cell, int path)
    {
        const std::array<Vec3, 4> c = tet_corners(cell, path);
        return 0.2534172 * c[0] + 0.2481933 * c[1] + 0.2512347 * c[2] + 0.2471548 * c[3];
    }

    void bin_triangles()
    {
        bins_.assign(static_cast<std::size_t>(lattice_.cells[1]) * lattice_.cells[2], {});
        for (Index t = 0; t < count(triangles_); ++t) {
            const Vec3 &a = x_[triangles_[t][0]], &b = x_[triangles_[t][1]], &c = x_[triangles_[t][2]];
            const Vec3 low = a.cwiseMin(b).cwiseMin(c), high = a.cwiseMax(b).cwiseMax(c);
            for (Index k = clamped(std::floor(low.z()), 2); k <= clamped(std::floor(high.z()), 2); ++k)
                for (Index j = clamped(std::floor(low.y()), 1); j <= clamped(std::floor(high.y()), 1); ++j)
                    bins_[static_cast<std::size_t>(k) * lattice_.cells[1] + j].push_back(t);
        }
    }

    /// Winding number of the surface around p, by the signed crossings of a ray along +x.
    bool is_inside(const Vec3& p) const
    {
        Index winding = 0;
        for (const Index t : bins_[static_cast<std::size_t>(clamped(std::floor(p.z()), 2)) * lattice_.cells[1] +
                                   clamped(std::floor(p.y()), 1)]) {
            const auto [ia, ib, ic] = triangles_[t];
            const bool side = left_of(x_, ia, ib, p);
            if (left_of(x_, ib, ic, p) != side || left_of(x_, ic, ia, p) != side) continue;
            const Vec3& a = x_[ia];
            const Vec3 n = (x_[ib] - a).cross(x_[ic] - a);
            if (n.x() == 0) continue;
            const Real x = a.x() - (n.y() * (p.y() - a.y()) + n.z() * (p.z() - a.z())) / n.x();
            if (x > p.x()) winding += side ? 1 : -1;
        }
        return winding > 0;
    }

    /// The cells whose closure holds the point, each with the point's place in it.
    std::vector<std::pair<Cell, Vec3>> cells_around(const Cell& base, const Vec3& f) const
    {
        std::vector<std::pair<Cell, Vec3>> around = {{base, f}};
        for (int k = 0; k < 3; ++k) {
            const int step = f[k] < touch ? -1 : f[k] > 1 - touch ? 1 : 0;
            if (step == 0 || base[k] + step < 0 || base[k] + step >= lattice_.cells[k]) continue;
            const std::size_t n = around.size();
            for (std::size_t i = 0; i < n; ++i) {
                auto [cell, offset] = around[i];
                cell[k] += step;
                offset[k] = step < 0 ? 1 : 0;
                around.emplace_back(cell, offset);
            }
        }
        return around;
    }

    /// Along a path the coordinates fall: f[p0] >= f[p1] >= f[p2], and the weights are their differences.
    static bool weights_in(int path, const Vec3& f, Vec4& weights)
    {
        const Real a = f[paths[path][0]], b = f[paths[path][1]], c = f[paths[path][2]];
        if (a < b - touch || b < c - touch) return false;
        weights = Vec4(1 - a, a - b, b - c, c).cwiseMax(0.0);
        weights /= weights.sum();
        return true;
    }

    Lattice lattice_;
    std::vector<char> keep_; ///< per cell and path
    const std::vector<Triangle>& triangles_;
    Vec3s x_;                              ///< surface vertices in units of cells
    std::vector<std::vector<Index>> bins_; ///< triangles by the column of cells along x that they may cross
};

/// Numbers what is kept: tetrahedra by cell, vertices by lattice point. Odd paths are mirror images: two of their
/// corners swap places, and the weights with them.
void collect(const Lattice& lattice, const std::vector<char>& keep, const std::vector<std::int64_t>& carriers,
             EmbeddedMesh& out)
{
    const std::int64_t row = lattice.cells[0] + 1, layer = row * (lattice.cells[1] + 1);
    const std::array<std::int64_t, 3> stride = {1, row, layer};
    std::vector<std::array<std::int64_t, 4>> corners; // lattice points of the tetrahedra kept
    std::vector<std::int64_t> points;
    std::vector<Index> index_of(keep.size(), none);
    for (std::size_t id = 0; id < keep.size(); ++id) {
        if (!keep[id]) continue;
        const Cell cell = lattice.cell_at(static_cast<std::int64_t>(id / 6));
        std::array<std::int64_t, 4> c;
        c[0] = cell[0] + cell[1] * row + cell[2] * layer;
        for (int s = 0; s < 3; ++s) c[s + 1] = c[s] + stride[paths[id % 6][s]];
        points.insert(points.end(), c.begin(), c.end());
        if (is_odd(id % 6)) std::swap(c[1], c[2]);
        index_of[id] = count(corners);
        corners.push_back(c);
    }
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    for (const std::int64_t p : points) {
        const Vec3 at(Real(p % row), Real(p / row % (lattice.cells[1] + 1)), Real(p / layer));
        out.tets.vertices.push_back(lattice.origin + at.cwiseProduct(lattice.size));
    }
    const auto vertex = [&](std::int64_t p) {
        return static_cast<Index>(std::lower_bound(points.begin(), points.end(), p) - points.begin());
    };
    for (const auto& c : corners) out.tets.tets.push_back({vertex(c[0]), vertex(c[1]), vertex(c[2]), vertex(c[3])});
    for (std::size_t v = 0; v < carriers.size(); ++v) {
        out.tet.push_back(index_of[static_cast<std::size_t>(carriers[v])]);
        if (is_odd(static_cast<std::size_t>(carriers[v]) % 6)) std::swap(out.weights[v][1], out.weights[v][2]);
    }
}

} // namespace

EmbeddedMesh embed(const TriangleMesh& surface, const EmbedOptions& options, const std::string& name)
{
    require_closed(surface, name);
    const Real volume = enclosed_volume(surface);
    if (!(volume > 0)) throw Error(name + ": the surface faces inward; turn its triangles around.");
    const Lattice lattice = fit_lattice(surface, options, name);
    EmbeddedMesh out;
    out.surface = surface;
    Embedder embedder(surface, lattice);
    embedder.mark_surface();
    embedder.mark_interior();
    std::vector<std::int64_t> carriers;
    embedder.tie_vertices(out, carriers);

    collect(lattice, embedder.keep(), carriers, out);
    const Real lattice_volume = lattice.size.prod() / 6 * static_cast<Real>(out.tets.tets.size());
    out.volume_error = (lattice_volume - volume) / volume;
    return out;
}

} // namespace pliant
