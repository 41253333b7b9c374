#include "pliant/mesh/lattice.hpp"

#include "pliant/core/error.hpp"
#include "pliant/mesh/arguments.hpp"
#include "pliant/mesh/ray_side.hpp"
#include "pliant/mesh/topology.hpp"
#include "pliant/mesh/validate.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Place = LatticeMesh::Place;
using Part = LatticeMesh::Part;

constexpr Real most_grid_cells = 1e8; ///< a grid of them takes about half a gigabyte while the lattice is made
constexpr Index samples = 4;          ///< along each side of a cell, to tell what a closed surface encloses

struct Grid {
    Vec3 origin;
    Real side;
    Place cells;

    std::int64_t id(const Place& c) const { return (std::int64_t(c[2]) * cells[1] + c[1]) * cells[0] + c[0]; }
    Vec3 to_cells(const Vec3& x) const { return (x - origin) / side; }
    /// The cell that a coordinate in cells belongs to: borders to the upper one, the last border to the last cell.
    Index clamped(Real value, int axis) const
    {
        return static_cast<Index>(std::clamp(std::floor(value), 0.0, Real(cells[axis] - 1)));
    }
    Place cell_of(const Vec3& x) const { return {clamped(x[0], 0), clamped(x[1], 1), clamped(x[2], 2)}; }
};

Real cell_side(const Vec3& extent, const LatticeOptions& options)
{
    return options.cell_size > 0 ? options.cell_size : extent.maxCoeff() / options.cells;
}

/// Cells that a side of the box needs; a little rounding does not ask for one more.
Real cells_along(Real extent, Real side)
{
    return std::max(1.0, std::ceil(extent / side - 1e-9));
}

Eigen::AlignedBox<Real, 3> box_of(const TriangleMesh& surface)
{
    Eigen::AlignedBox<Real, 3> box;
    for (const Vec3& x : surface.vertices) box.extend(x);
    return box;
}

Grid fit_grid(const TriangleMesh& surface, const LatticeOptions& options)
{
    const Eigen::AlignedBox<Real, 3> box = box_of(surface);
    Grid grid;
    grid.side = cell_side(box.sizes(), options);
    Vec3 size;
    for (int k = 0; k < 3; ++k) {
        grid.cells[k] = static_cast<Index>(cells_along(box.sizes()[k], grid.side));
        size[k] = grid.side * grid.cells[k];
    }
    grid.origin = box.center() - size / 2;
    return grid;
}

using Polygon = std::vector<Vec3>;

/// The part of a polygon with sign * x[axis] <= sign * bound [Sutherland and Hodgman 1974].
void clip(const Polygon& in, int axis, Real sign, Real bound, Polygon& out)
{
    out.clear();
    for (std::size_t i = 0; i < in.size(); ++i) {
        const Vec3 &a = in[i], &b = in[(i + 1) % in.size()];
        const Real da = sign * (a[axis] - bound), db = sign * (b[axis] - bound);
        if (da <= 0) out.push_back(a);
        if ((da < 0 && db > 0) || (da > 0 && db < 0)) {
            Vec3 x = a + da / (da - db) * (b - a);
            x[axis] = bound;
            out.push_back(x);
        }
    }
}

Real area_of(const Polygon& p)
{
    Vec3 sum = Vec3::Zero();
    for (std::size_t i = 2; i < p.size(); ++i) sum += (p[i - 1] - p[0]).cross(p[i] - p[0]);
    return sum.norm() / 2;
}

/// Collects the cells that hold something, in any order.
class Collector {
public:
    Collector(const TriangleMesh& surface, const Grid& grid)
        : grid_(grid), triangles_(surface.triangles),
          number_(static_cast<std::size_t>(grid.id({0, 0, grid.cells[2]})), none)
    {
        for (const Vec3& x : surface.vertices) x_.push_back(grid.to_cells(x));
    }

    void add_surface()
    {
        for (const Triangle& t : triangles_) add_triangle({x_[t[0]], x_[t[1]], x_[t[2]]});
        for (const Vec3& x : x_) extend(use(grid_.cell_of(x)), x, x);
    }

    /// What the surface encloses, by samples; `volume` [m^3] is spread over the cells in proportion.
    void add_inside(Real volume)
    {
        const Index ny = samples * grid_.cells[1], nz = samples * grid_.cells[2];
        const std::vector<std::vector<Crossing>> columns = crossings(ny, nz);
        std::int64_t total = 0;
        for (Index k = 0; k < nz; ++k)
            for (Index j = 0; j < ny; ++j) total += add_column(columns[static_cast<std::size_t>(k) * ny + j], j, k);
        for (Real& v : volume_) v *= volume / static_cast<Real>(total);
        for (std::size_t c = 0; c < place_.size(); ++c) // what holds no surface is full
            if (area_[c] == 0) content_[c] = {};
    }

    void finish(LatticeMesh& out) const;

private:
    struct Crossing {
        Real x;
        int sign; ///< of the winding number's change along +x
    };

    /// The cell's number, new if need be.
    Index use(const Place& place)
    {
        Index& n = number_[grid_.id(place)];
        if (n == none) {
            n = count(place_);
            place_.push_back(place);
            content_.push_back({Vec3::Constant(2), Vec3::Constant(-1)});
            area_.push_back(0);
            volume_.push_back(0);
        }
        return n;
    }

    /// Makes the cell's content reach from low to high, in cells.
    void extend(Index cell, const Vec3& low, const Vec3& high)
    {
        const Vec3 corner(place_[cell][0], place_[cell][1], place_[cell][2]);
        Part& part = content_[cell];
        part.low = part.low.cwiseMin((low - corner).cwiseMax(0.0).cwiseMin(1.0));
        part.high = part.high.cwiseMax((high - corner).cwiseMax(0.0).cwiseMin(1.0));
    }

    void add_triangle(const std::array<Vec3, 3>& t)
    {
        const Vec3 low = t[0].cwiseMin(t[1]).cwiseMin(t[2]), high = t[0].cwiseMax(t[1]).cwiseMax(t[2]);
        const Place first = grid_.cell_of(low), last = grid_.cell_of(high);
        const Real negligible = 1e-12 * (t[1] - t[0]).cross(t[2] - t[0]).norm();
        Place c;
        for (c[2] = first[2]; c[2] <= last[2]; ++c[2])
            for (c[1] = first[1]; c[1] <= last[1]; ++c[1])
                for (c[0] = first[0]; c[0] <= last[0]; ++c[0]) {
                    piece_.assign(t.begin(), t.end());
                    if (first != last) clip_to(c);
                    const Real area = area_of(piece_);
                    // What lies in the wall between two cells belongs to the upper one, as its vertices do.
                    if (!(area > negligible) || (first != last && in_upper_wall(c))) continue;
                    const Index cell = use(c);
                    area_[cell] += area * grid_.side * grid_.side;
                    for (const Vec3& x : piece_) extend(cell, x, x);
                }
    }

    void clip_to(const Place& c)
    {
        for (int axis = 0; axis < 3 && !piece_.empty(); ++axis) {
            clip(piece_, axis, -1, c[axis], clipped_);
            clip(clipped_, axis, 1, c[axis] + 1, piece_);
        }
    }
    bool in_upper_wall(const Place& c) const
    {
        for (int k = 0; k < 3; ++k)
            if (c[k] + 1 < grid_.cells[k] &&
                std::all_of(piece_.begin(), piece_.end(), [&](const Vec3& x) { return x[k] == c[k] + 1; }))
                return true;
        return false;
    }

    /// Where samples are: odd offsets keep them off the vertices of usual meshes.
    static Vec3 sample(Index i, Index j, Index k) { return Vec3(i + 0.5, j + 0.5012347, k + 0.4987713) / samples; }

    /// Per column of samples along x: where the surface crosses it, sorted.
    std::vector<std::vector<Crossing>> crossings(Index ny, Index nz) const
    {
        std::vector<std::vector<Crossing>> columns(static_cast<std::size_t>(ny) * nz);
        const auto index = [](Real x, Index n) {
            return static_cast<Index>(std::clamp(std::floor(x * samples), 0.0, Real(n - 1)));
        };
        for (const auto& [ia, ib, ic] : triangles_) {
            const Vec3 &a = x_[ia], &b = x_[ib], &c = x_[ic];
            const Vec3 low = a.cwiseMin(b).cwiseMin(c), high = a.cwiseMax(b).cwiseMax(c);
            const Vec3 n = (b - a).cross(c - a);
            if (n.x() == 0) continue;
            for (Index k = index(low.z(), nz); k <= index(high.z(), nz); ++k)
                for (Index j = index(low.y(), ny); j <= index(high.y(), ny); ++j) {
                    const Vec3 p = sample(0, j, k);
                    const bool left = left_of(x_, ia, ib, p);
                    if (left_of(x_, ib, ic, p) != left || left_of(x_, ic, ia, p) != left) continue;
                    const Real x = a.x() - (n.y() * (p.y() - a.y()) + n.z() * (p.z() - a.z())) / n.x();
                    columns[static_cast<std::size_t>(k) * ny + j].push_back({x, left ? -1 : 1});
                }
        }
        for (std::vector<Crossing>& column : columns)
            std::sort(column.begin(), column.end(), [](const Crossing& a, const Crossing& b) { return a.x < b.x; });
        return columns;
    }

    /// Samples of the column that are inside.
    std::int64_t add_column(const std::vector<Crossing>& column, Index j, Index k)
    {
        std::int64_t inside = 0;
        int winding = 0;
        std::size_t next = 0;
        if (column.empty()) return 0;
        for (Index i = 0; i < samples * grid_.cells[0]; ++i) {
            for (const Real x = sample(i, j, k).x(); next < column.size() && column[next].x <= x; ++next)
                winding += column[next].sign;
            if (winding <= 0) continue;
            const Index cell = use({i / samples, j / samples, k / samples});
            extend(cell, sample(i, j, k), sample(i, j, k));
            volume_[cell] += 1;
            ++inside;
        }
        return inside;
    }

    const Grid& grid_;
    const std::vector<Triangle>& triangles_;
    Vec3s x_;                   ///< surface vertices in units of cells
    std::vector<Index> number_; ///< per cell of the grid: number of the cell that is kept
    std::vector<Place> place_;
    std::vector<Part> content_;
    std::vector<Real> area_, volume_;
    Polygon piece_, clipped_; // scratch
};

void Collector::finish(LatticeMesh& out) const
{
    // Cells and nodes in the order of the grid.
    const Place points = {grid_.cells[0] + 1, grid_.cells[1] + 1, grid_.cells[2] + 1};
    const Grid nodes{grid_.origin, grid_.side, points};
    std::vector<Index> order(place_.size());
    for (Index i = 0; i < count(order); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return grid_.id(place_[a]) < grid_.id(place_[b]); });
    const auto corner = [](const Place& c, int k) {
        return Place{c[0] + (k & 1), c[1] + (k >> 1 & 1), c[2] + (k >> 2)};
    };
    std::vector<std::int64_t> used;
    for (const Place& c : place_)
        for (int k = 0; k < 8; ++k) used.push_back(nodes.id(corner(c, k)));
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (const std::int64_t id : used) {
        const Place p = {static_cast<Index>(id % points[0]), static_cast<Index>(id / points[0] % points[1]),
                         static_cast<Index>(id / points[0] / points[1])};
        out.node_place.push_back(p);
        out.nodes.push_back(grid_.origin + grid_.side * Vec3(p[0], p[1], p[2]));
    }
    for (const Index i : order) {
        const Place& c = place_[i];
        out.cell_place.push_back(c);
        out.content.push_back(content_[i]);
        out.area.push_back(area_[i]);
        out.volume.push_back(volume_[i]);
        std::array<Index, 8> corners;
        for (int k = 0; k < 8; ++k)
            corners[k] =
                static_cast<Index>(std::lower_bound(used.begin(), used.end(), nodes.id(corner(c, k))) - used.begin());
        out.corners.push_back(corners);
    }
    for (const Vec3& x : x_) {
        const Place c = grid_.cell_of(x);
        out.cell.push_back(out.cell_at(c));
        out.local.push_back((x - Vec3(c[0], c[1], c[2])).cwiseMax(0.0).cwiseMin(1.0));
    }
}

} // namespace

Index LatticeMesh::cell_at(const Place& place) const
{
    const auto later = [](const Place& a, const Place& b) {
        return std::tie(a[2], a[1], a[0]) < std::tie(b[2], b[1], b[0]);
    };
    const auto at = std::lower_bound(cell_place.begin(), cell_place.end(), place, later);
    return at != cell_place.end() && *at == place ? static_cast<Index>(at - cell_place.begin()) : none;
}

Real lattice_grid_cells(const TriangleMesh& surface, const LatticeOptions& options)
{
    const Vec3 extent = box_of(surface).sizes();
    const Real side = cell_side(extent, options);
    Real cells = 1;
    for (int k = 0; k < 3; ++k) cells *= cells_along(extent[k], side);
    return cells;
}

LatticeMesh make_lattice(const TriangleMesh& surface, const LatticeOptions& options, const std::string& name)
{
    const std::string who = name + ": lattice";
    if (options.cell_size != 0)
        require_positive(who.c_str(), "the cell size", options.cell_size);
    else
        require_at_least(who.c_str(), "the number of cells", options.cells, 1);
    if (options.filled)
        require_closed(surface, name);
    else
        validate(surface, name);
    const Real grid_cells = lattice_grid_cells(surface, options);
    if (!(grid_cells <= most_grid_cells))
        throw Error(who + ": a grid of about " + std::to_string(static_cast<std::int64_t>(std::min(grid_cells, 9e18))) +
                    " cells needs more memory than a lattice is worth; ask for fewer or larger cells.");
    const Grid grid = fit_grid(surface, options);
    Collector collector(surface, grid);
    collector.add_surface();
    if (options.filled) {
        const Real volume = enclosed_volume(surface);
        if (!(volume > 0)) throw Error(name + ": the surface faces inward; turn its triangles around.");
        collector.add_inside(volume);
    }
    LatticeMesh out;
    out.surface = surface;
    out.origin = grid.origin;
    out.side = grid.side;
    out.filled = options.filled;
    collector.finish(out);
    return out;
}

} // namespace pliant
