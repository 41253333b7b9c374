#pragma once
// A surface in a lattice of cubic cells that carries it: free-form deformation [Jung, section 3].

#include "pliant/mesh/mesh.hpp"

#include <string>

namespace pliant {

struct LatticeOptions {
    Index cells = 10;    ///< along the longest side of the surface's bounding box, at least 1
    Real cell_size = 0;  ///< side of a cell [m]; 0: by `cells`
    bool filled = false; ///< keeps the cells that the surface encloses too; it must be closed
};

/// Cells are cubes; the grid is centred on the surface's bounding box and reaches at least as far. Kept are the cells
/// that hold surface and, filled, what it encloses.
struct LatticeMesh {
    using Place = std::array<Index, 3>;

    /// Part of a cell, in its local coordinates.
    struct Part {
        Vec3 low = Vec3::Zero(), high = Vec3::Ones();
    };

    TriangleMesh surface; ///< in its rest shape
    Vec3 origin;          ///< smallest corner of the grid [m]
    Real side = 0;        ///< of a cell [m]
    bool filled = false;

    Vec3s nodes;                               ///< corners of cells, in the rest shape [m]
    std::vector<Place> node_place;             ///< per node: its place in the grid, x, y, z; sorted by z, y, x
    std::vector<Place> cell_place;             ///< per cell: the place of its smallest corner; sorted by z, y, x
    std::vector<std::array<Index, 8>> corners; ///< per cell: nodes; the k-th is at (k & 1, k >> 1 & 1, k >> 2)
    std::vector<Part> content; ///< per cell: smallest box around the surface in it and, filled, what that encloses
    std::vector<Real> area;    ///< per cell: of the surface in it [m^2]
    std::vector<Real> volume;  ///< per cell: enclosed, 0 unless filled [m^3]

    std::vector<Index> cell; ///< per surface vertex
    Vec3s local;             ///< per surface vertex: (s, t, u) in its cell, each in [0, 1] [Jung, eq. 1]

    Index cell_count() const { return count(cell_place); }
    /// Number of the cell there, or none.
    Index cell_at(const Place& place) const;
};

/// Weights of the eight corners at (s, t, u) [Jung, eq. 2].
inline std::array<Real, 8> trilinear_weights(const Vec3& local)
{
    std::array<Real, 8> w;
    for (int k = 0; k < 8; ++k)
        w[k] = (k & 1 ? local.x() : 1 - local.x()) * (k & 2 ? local.y() : 1 - local.y()) *
               (k & 4 ? local.z() : 1 - local.z());
    return w;
}

/// Cells of the whole grid that such a lattice would have: to be asked before anything is allocated.
Real lattice_grid_cells(const TriangleMesh& surface, const LatticeOptions& options);

/// Throws Error, starting with `name`, for senseless options, a filled lattice of an open surface, or a grid of more
/// cells than memory should be spent on.
LatticeMesh make_lattice(const TriangleMesh& surface, const LatticeOptions& options = {},
                         const std::string& name = "mesh");

} // namespace pliant
