#pragma once
// What two cells do to each other when their boxes overlap [Jung, section 7]: an impulse on the velocities, and a
// displacement that takes the overlap away.
//
// The paper scales the velocities themselves (eq. 8), which keeps cells approaching and loses momentum; here the
// relative velocity is scaled and the change shared by the masses, so that momentum is kept. Its R = r N has to be the
// unit normal in eq. 8 and 9.
//
// A contact acts on a cell at a point p = sum_j W_j x_j of its corners: an impulse J on it changes the velocities by
// W_j / m_j J, and 1 / sum_j W_j^2 / m_j is the mass that J feels. With W_j in proportion to the masses all corners
// move alike, as in the paper; by default W is where the box reaches into the other, because cells share corners, and a
// floor that lifts each cell as a whole lifts the shared ones several times.

#include "pliant/core/types.hpp"
#include "pliant/detection/lattice_boxes.hpp"

namespace pliant {

/// What a contact moves.
enum class BoxPush {
    point, ///< the corners next to it
    cell   ///< all corners of the cell alike
};

struct BoxLaw {
    Real alpha = 1; ///< part of the approaching velocity that is taken: 1 stops it, 2 turns it around
    Real beta = 1;  ///< part of the sliding velocity that is taken, as far as friction can
    BoxPush push = BoxPush::point;
    Real left = 0.01; ///< overlap that is left as it is, in cells: what rests in contact stays in contact

    bool operator==(const BoxLaw&) const = default;
};

/// A surface that nothing moves: everything with normal . x < offset is behind it.
struct BoxWall {
    Vec3 normal = Vec3::Zero();   ///< unit length
    Real offset = 0;              ///< [m]
    Vec3 velocity = Vec3::Zero(); ///< [m/s]
};

/// Where a contact acts on a cell.
struct BoxHandle {
    Index cell = none;          ///< none: on nothing that moves
    std::array<Real, 8> weight; ///< W
    Real inverse_mass = 0;      ///< sum_j W_j^2 / m_j [1/kg]
};

/// Cell b, and what pushes it along the normal: cell a or a wall.
struct BoxContact {
    BoxHandle a, b;
    Vec3 normal = Vec3::Zero();
    Real depth = 0;                    ///< to be taken away [m]
    Real friction = 0;                 ///< coefficient
    Vec3 wall_velocity = Vec3::Zero(); ///< [m/s]
    Vec3 wanted = Vec3::Zero();        ///< relative velocity of b that the law asks for [m/s]
    Vec3 impulse = Vec3::Zero();       ///< on b, so far [N s]
};

class BoxResponse {
public:
    /// mass: per block [kg]; fixed: per block, whether nothing can move it.
    BoxResponse(const LatticeBoxes& boxes, const std::vector<Real>& mass, const std::vector<std::uint8_t>& fixed,
                const BoxLaw& law);

    /// From the boxes as they are, and the velocities before any impulse.
    BoxContact contact(const BoxPair& pair, Real friction, const Vec3s& velocity) const;
    BoxContact contact(Index cell, const BoxWall& wall, Real friction, const Vec3s& velocity) const;

    /// Changes the velocities so that this contact has what the law asks for, given what the others do: projected
    /// Gauss-Seidel on the impulses. The sum of the impulses pushes and never pulls, and drags at most by Coulomb's
    /// law.
    void relax(BoxContact& contact, Vec3s& velocity) const;
    /// Takes the overlap away [Jung, eq. 9], shared by the masses instead of in halves; `moved` marks the blocks.
    void shift(const BoxContact& contact, Vec3s& position, std::vector<std::uint8_t>& moved) const;

private:
    BoxHandle handle(Index cell, const Eigen::Array<Real, 8, 1>& depth, Real& at_point) const;
    Vec3 relative_velocity(const BoxContact& contact, const Vec3s& velocity) const;
    void set_wanted(BoxContact& contact, const Vec3s& velocity) const;
    /// Adds W_j / m_j push to the corners.
    void move(const BoxHandle& handle, const Vec3& push, Vec3s& what) const;

    const LatticeBoxes& boxes_;
    std::vector<Real> mass_, inverse_; ///< per block [kg], [1/kg]; the inverse is 0 for what is fixed
    BoxLaw law_;
};

/// Cuts contacts into groups that share no block, each in ascending order; the same for any number of threads. More
/// than 64 would be needed only if dozens of boxes met in one: what is left over is in no group.
class ContactColours {
public:
    const std::vector<std::vector<Index>>& group(const std::vector<BoxContact>& contacts, const LatticeBoxes& boxes,
                                                 Index blocks);

private:
    std::vector<std::uint64_t> used_; ///< per block: colours that have it
    std::vector<std::vector<Index>> groups_;
};

} // namespace pliant
