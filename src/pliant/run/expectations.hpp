#pragma once
#include "pliant/run/reader.hpp"

namespace pliant {

struct ExpectationResult {
    std::string name; ///< key under `expect`
    bool met = false;
    std::string detail; ///< what was found
};

/// What the run's own scene expects of rest, contacts and bounds, compared with what is stored. (Intersections are the
/// certificate's matter.)
std::vector<ExpectationResult> check_expectations(const RunReader& run);

/// Speed below which a body counts as resting: 1 % of sqrt(g L) for the diagonal L of its rest shape, or 1 % of L a
/// second without gravity [m/s].
Real rest_speed(const RunMesh& mesh, const RunBody& body, const Vec3& gravity);

} // namespace pliant
