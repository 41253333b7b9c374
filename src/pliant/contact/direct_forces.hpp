#pragma once
// Contact forces without iteration: Spillmann, Becker and Teschner 2007, "Non-iterative Computation of Contact Forces
// for Deformable Objects" [Spillmann07]. A contact is a point i that has penetrated a triangle T_i by d_i after a step
// without contact; the forces move both, in the same step, to where they touch.
//
// With shares c, a contact pushes i by c_i alpha_i d_i and every corner j by -c_j (1 - alpha_i) h_ij-weighted d_i:
//   f_i  =  c_i m_i alpha_i d_i / dt^2                                       [eq. 15]
//   f_ij = -c_j h_ij m_j (1 - alpha_i) d_i / dt^2                            [eq. 16]
//   f_i + sum_j f_ij = 0  =>  alpha_i = B_i / (c_i m_i + B_i),  B_i = sum_j c_j h_ij m_j      [eq. 5]
//   c_p = 1 / (N_p + sum_i h_ip)                                             [eq. 6, N_p = 1]
// N_p is the number of bodies p is inside of: 1 in the paper, more where regions meet, 0 for a corner that does not
// collide itself (left out in the paper). Such a corner has no contact of its own to share with, and an isolated
// contact is then resolved completely: c_j h_ij = 1 moves the triangle as a whole.
//
// Deviation: the printed contact force F_i [eq. 4] is the sum of the local forces only if the depths of a point and of
// its triangle are opposite [eq. 3]; otherwise momentum is lost. Here the local forces themselves are summed, so that
// the sum of all forces is zero up to rounding.
//
// Infinite masses: a triangle that cannot move (an obstacle, a pinned corner) gives alpha = 1, a point that cannot move
// gives alpha = 0; where neither can, there is no force.
//
// A rigid body takes part with the mass that a push at the contact feels (PointContact::point_mass, partner_mass),
// shared equally among its contacts.
//
// A depth that was there before the step, undone within it, would leave with a velocity of d_i / dt that nothing paid
// for. `recovery` r below 1 undoes what the step itself brought completely, and of the rest that part: a depth that was
// D at the start shall be (1 - r) D at the end. A point that leaves faster by itself is not pushed; otherwise pushes of
// many steps would add up to the speed that was to be avoided.
//
// Friction [section 3.4]: with u the relative displacement of the step across d_i, the point is pushed back by
// min(mu |d_i|, |u|) in the same shares as d_i. That is Coulomb's bound on |f_i|, and sticks below it. So friction is
// d_i - min(mu |d_i|, |u|) u/|u| in place of d_i in (15) and (16), and keeps momentum as they do.

#include "pliant/contact/point_contact.hpp"

#include <span>

namespace pliant {

/// Shares of corners that do not collide themselves.
enum class BoundaryShares {
    whole, ///< c_j = 1 / sum_i h_ij: the triangle moves as a whole. Jumps when a point crosses an edge between
           ///< triangles
    smooth ///< c_ij = 1 / (max(1, sum_i h_ij) sum_k h_ik^2): corners move by their weights, without the jump. Nor is
           ///< there one when a contact begins: in the sums of a contact i every other one, k, counts by
           ///< min(1, |d_k| / |d_i|), also in N_p, and a corner that collides a little is between the two cases. Two
           ///< contacts of a point that point the same way still never undo more than the deeper of them.
};

struct DirectForceInput {
    std::span<const PointContact> contacts;
    std::span<const Real> mass;         ///< per node [kg]; infinity for what cannot move
    std::span<const Vec3> displacement; ///< per node: of the step without contact [m]; empty without friction
    Real step = 0;                      ///< dt [s]. A force F moves a node by dt^2 F / m, as in position Verlet
    BoundaryShares shares = BoundaryShares::whole;
    /// Per node, or empty: the inverses of what a node feels like instead of its mass, the diagonal blocks of A with
    /// backward Euler [1/kg]. Along a depth's direction n that is a mass of 1 / n.D^-1 n.
    std::span<const Mat3> inverse_blocks = {};
    /// Part that is undone of a depth that the displacements of the step do not explain; 1 as in the paper.
    Real recovery = 1;
};

/// Keeps its buffers; the cost follows the contacts, not the nodes.
class DirectForces {
public:
    /// Adds the contact forces to `force` [N], per node. A node of infinite mass gets the reaction.
    void add(const DirectForceInput& input, std::span<Vec3> force);

    /// Per contact: the force on the point [N]; its partner gets the opposite.
    const Vec3s& local_force() const { return local_force_; }
    /// Per contact: alpha_i.
    const std::vector<Real>& alpha() const { return alpha_; }

private:
    /// N_p and sum_i h_ip of a node.
    struct Load {
        Real regions = 0, column = 0;
    };
    /// One end of a contact, at a node.
    struct End {
        Real depth;  ///< of the contact [m]
        Real weight; ///< h_ip; 1 for its point
        bool is_point;
        Index next; ///< of the same node, or `none`
    };
    void count_shares(const DirectForceInput& input);
    /// As a contact of the given depth sees it, with smooth shares.
    Load smooth_load(Index node, Real depth) const;

    std::vector<Load> load_;     ///< per node
    std::vector<Index> touched_; ///< nodes with a contact
    std::vector<Index> first_;   ///< per node: its first end, or `none`; with smooth shares
    std::vector<End> ends_;      ///< likewise
    Vec3s local_force_;
    std::vector<Real> alpha_;
};

} // namespace pliant
