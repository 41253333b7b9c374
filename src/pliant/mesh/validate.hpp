#pragma once
#include "pliant/mesh/mesh.hpp"

#include <string>

namespace pliant {

/// Throw Error, one sentence with the element's number (from 0), for: no elements, non-finite coordinates, indices out
/// of range, degenerate or (tetrahedra) inverted elements, vertices used by nothing. `name` starts the sentence. An
/// element is degenerate when it is flat up to rounding at its own scale; thin ones pass.
void validate(const TriangleMesh& mesh, const std::string& name = "mesh");
/// Takes vertices away that no triangle uses; the others keep their order.
void drop_unused_vertices(TriangleMesh& mesh);
void validate(const TetMesh& mesh, const std::string& name = "mesh");
/// validate(), and Error for a surface that is not closed.
void require_closed(const TriangleMesh& surface, const std::string& name = "mesh");

} // namespace pliant
