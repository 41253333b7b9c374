#pragma once
// Penalty forces on colliding points: linear in the depth, with damping and friction, as the collision response of
// [Heidelberger04] has them. The force on the point is given back to the tetrahedron that holds it, with its
// barycentric weights: the two forces act at the same place in opposite directions, so linear and angular momentum are
// kept.
//
// Stiffness follows from masses and step. With the row J of a contact (1 at the point, -w_j at the corners), the
// contacts add K = sum_c k_c J_c^T J_c (in the worst case that all directions agree). Gershgorin on M^-1 K: the row of
// node p sums to at most
//   (1 / m_p) sum_c k_c |J_cp| sum_q |J_cq|  =  (2 / m_p) sum_c k_c |J_cp|,
// since both sides of a contact have weights of sum 1 (1 instead of 2 against what cannot move). With
//   S_p = sum_c |J_cp|   and   k_c = kappa / dt^2 min over p in c of m_p / max(1, kappa S_p / b)
// every row sums to at most 2 b / dt^2, b = max(kappa, 0.2) the budget of a node. Explicit integration is stable up to
// 4 / dt^2, elasticity included: a budget of 1 takes half of that and leaves half to a step of at most 0.7 of the
// elastic limit. Within the budget a contact's stiffness does not depend on how many others there are, or energy would
// come and go with them. k is continuous in the weights. An isolated point on a heavy body gets k = kappa m / dt^2:
// stopped within a half period of pi / sqrt(kappa) steps. Rigid bodies likewise, with the mass that a push at the
// contact feels.
//
// Damping acts along the direction out, at the given part of the contact's critical damping 2 sqrt(k m), m = 1 /
// sum_p J_p^2 / m_p; the normal force is never attractive. Friction opposes the tangential velocity with
// 1/2 min over p in c of (m_p / S_p) / dt up to Coulomb's bound: by the same sum it cannot turn a velocity round within
// a step.

#include "pliant/contact/point_contact.hpp"

#include <span>

namespace pliant {

inline constexpr Real contact_budget = 0.2; ///< b, unless a single contact takes more

struct PenaltyForceInput {
    std::span<const PointContact> contacts;
    std::span<const Real> mass;     ///< per node [kg]; infinity for what cannot move
    std::span<const Vec3> velocity; ///< per node [m/s]; empty without damping and friction
    Real step = 0;                  ///< dt [s]
    Real stiffness = 1;             ///< kappa; max(kappa, b) is below 2 - 2 (step / elastic limit)^2
    Real damping = 0;               ///< part of critical damping
};

/// Keeps its buffers; the cost follows the contacts, not the nodes.
class PenaltyForces {
public:
    /// Adds the contact forces to `force` [N], per node. A node of infinite mass gets the reaction.
    void add(const PenaltyForceInput& input, std::span<Vec3> force);

    /// Per contact: the force on the point [N]; its partner gets the opposite.
    const Vec3s& local_force() const { return local_force_; }
    /// Per contact: k_c [N/m].
    const std::vector<Real>& stiffness() const { return stiffness_; }

private:
    void choose_stiffness(const PenaltyForceInput& input);

    std::vector<Real> load_;     ///< per node: S_p
    std::vector<Index> touched_; ///< nodes with a contact
    std::vector<Real> stiffness_;
    std::vector<Real> grip_; ///< per contact: friction over velocity, below Coulomb's bound [N s/m]
    Vec3s local_force_;
};

} // namespace pliant
