#pragma once
// Free bodies that turn far in one step. Elastic forces with the rotations of the start act along chords, and a stiff
// body swells by (angle a step)^2 / 2; with those of where the body is going they do not. Backward Euler
// then slows the rotation down: the angular momentum that it takes is given back. Where a body also meets something,
// nobody knows where it is going before the step is solved: it is solved again from where it came to.

#include "pliant/world/world.hpp"

namespace pliant {

/// Per body: whether it is stiff and has a motion as a whole. A pinned body has none, and one that an element couples
/// with another does not move on its own.
std::vector<char> bodies_that_move_as_one(const Model& model);

/// Consecutive blocks of a body that nothing holds.
struct FreeBody {
    Index first = 0, size = 0;
    Real damping = 0;           ///< Rayleigh's beta of all its elements [s]
    std::vector<Index> batches; ///< of its elements, and of no others
};

/// Bodies whose elements are taken, and linearised, at x0 + h w instead of x0.
struct Foreseen {
    std::vector<FreeBody> spinning; ///< where they would be as rigid ones; their angular momentum is given back
    std::vector<FreeBody> met;      ///< where the last solve of this step brought them
    Vec3s w;                        ///< per block, 0 for all others [m/s]; empty when there are none

    bool empty() const { return spinning.empty() && met.empty(); }
};

/// The bodies that move as one, have batches of their own and one damping throughout.
std::vector<FreeBody> free_bodies(const Model& model);

/// Whether a body turns, rather than changes its shape, and by an angle that matters within dt.
bool turns_fast(const Model& model, const State& state, const FreeBody& body, Real dt);

/// Whether a body moves against itself, by a turn or a change of shape that matters, when it moves with v for dt.
bool changes_shape(const Model& model, const State& state, const FreeBody& body, const Vec3s& v, Real dt);

/// Velocities w of the body's blocks that turn it as it is, without a change of shape, to where x0 + h w is its likely
/// end.
void predict_rotation(const Model& model, const State& state, const FreeBody& body, Real dt, Vec3s& w);

/// Adds a rotation to the velocities v of a body at the end of a step, so that they carry the angular momentum of its
/// start, less what drag takes.
void keep_angular_momentum(const Model& model, const State& state, const FreeBody& body, Real dt, Vec3s& v);

/// Kinetic energy about the mass centre and elastic energy of a body [J]. Nothing that acts in free flight raises it.
Real energy_about_centre(const Model& model, const FreeBody& body, const Vec3s& x, const Vec3s& v);

} // namespace pliant
