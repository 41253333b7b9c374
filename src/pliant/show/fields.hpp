#pragma once
// Scalars at the vertices of a frame, and the colours that show them.

#include "pliant/run/reader.hpp"

namespace pliant {

/// Largest principal stretch of the surface triangles at each vertex, minus one; -1 where there is no triangle.
std::vector<Real> vertex_elongation(const RunMesh& mesh, const Vec3s& positions);

/// What the end of the colour scale stands for; the peaks of a few vertices do not count.
struct StressScale {
    Real solid = 0; ///< [Pa]
    Real cloth = 0; ///< and of lattices: tension of springs [N]

    /// Raises the ends so that 99 % of the vertices of this frame are within.
    void add(const RunMesh& mesh, const Frame& frame);
    Real end(BodyKind kind) const { return has_tension(kind) ? cloth : solid; }
    /// "12.3 kPa" for solids and "4.5 N" for cloth and lattices, or both; only what there is.
    std::string words() const;
};

inline constexpr Real full_elongation = 0.1; ///< the end of the scale

/// Linear RGB from blue (0) over grey to red (1 and more).
Vec3 scale_colour(Real t);

} // namespace pliant
