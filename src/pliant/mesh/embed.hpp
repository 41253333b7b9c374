#pragma once
#include "pliant/mesh/mesh.hpp"

#include <string>

namespace pliant {

struct EmbedOptions {
    Index cells = 10;   ///< lattice cells along the longest side of the surface's bounding box, at least 1
    Real cell_size = 0; ///< wanted size of a cell [m]; 0: by `cells`
};

/// Lattice of tetrahedra that covers a closed surface and its interior, with every surface vertex tied to the
/// tetrahedron that holds it. The cells fit the bounding box exactly (so they are cubes only up to rounding a side to
/// whole cells); each is cut into six tetrahedra, and only those are kept that the surface crosses or that lie inside.
/// Features thinner than a cell are covered; gaps narrower than a cell may be bridged. `volume_error` tells how much
/// larger the lattice is. Throws Error, starting with `name`, for a surface that is not closed or faces inward.
EmbeddedMesh embed(const TriangleMesh& surface, const EmbedOptions& options = {}, const std::string& name = "mesh");

} // namespace pliant
