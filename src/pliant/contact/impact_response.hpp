#pragma once
// What one impact does to the velocities [Provot97, eq. 4].
//
// With u the relative velocity of the two points that meet, u_n its part along the normal and u_t the rest, afterwards
//     u_n' = -k_d u_n
//     u_t' = u_t - k_f |u_n| u_t / |u_t|   where |u_t| >= k_f |u_n|, else 0.
// The paper applies this to every mass by itself, in the frame of an object that it cannot move or of the centre of
// mass of all that is involved. Masses that differ in what they slide change the momentum by that, and a triangle that
// turns its angular momentum. Here an impulse at the two points does it, shared out by weights and masses: the same
// for a mass against an object, and both momenta are kept between bodies.

#include "pliant/contact/problem.hpp"
#include "pliant/world/world.hpp"

namespace pliant {

struct ResponseOptions {
    Real restitution = 0; ///< k_d: 0 for a perfectly inelastic impact, 1 for an elastic one
};

/// Changes v by the response to one row, whose friction is k_f and whose rhs the least that u_n may be afterwards. What
/// is not approaching that fast is left alone. Returns the impulse on side a [N s].
Vec3 respond_to_impact(const Model& model, const State& state, const ContactProblem& problem, const Row& row,
                       const ResponseOptions& options, Vec3s& v);

} // namespace pliant
