#pragma once
#include "pliant/run/certificate.hpp"

namespace pliant {

/// The scene's `expect` against what came out. A run that is not finished cannot keep what is expected of its end.
std::vector<ExpectationCheck> check_expectations(const Scene& scene, const RunReader& reader,
                                                 const Certificate& certificate);

/// Speed below which bodies count as at rest: a hundredth of what the largest moving body gains when it falls half its
/// own diagonal, so that it means the same at any scale; without gravity, a hundredth of its diagonal a second [m/s].
Real rest_speed(const RunMesh& mesh, Real gravity);

} // namespace pliant
