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

#include "pliant/detection/lattice_boxes.hpp"

#include <bit>

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
    /// How close to the outermost one nodes have to be to take part in a contact, in cells. Parts change by 1 / range
    /// for each cell that a node moves: where much weight rests on light nodes a short range makes them dance.
    Real range = 0.2;

    bool operator==(const BoxLaw&) const = default;
};

/// A surface that no contact moves: everything with normal . x < offset is behind it.
struct BoxWall {
    Vec3 normal = Vec3::Zero(); ///< unit length
    Real offset = 0;            ///< [m]
};

/// Cell b, and what pushes it along the normal: cell a or a wall.
struct BoxContact {
    std::array<Index, 16> block; ///< corners of b, then of a
    std::array<Real, 16> weight; ///< W of b, then -W of a: the relative velocity of b is their sum over the corners
    Index corners = 0;           ///< 16, or 8 with a wall; 0: there is no contact
    Index a = none, b = none;    ///< cells
    Index source = none;         ///< number of what it was made of
    Vec3 normal = Vec3::Zero();
    Vec3 wanted = Vec3::Zero();  ///< relative velocity of b that the law asks for, plus that of the wall [m/s]
    Vec3 impulse = Vec3::Zero(); ///< on b, so far [N s]
    Real mass = 0;               ///< that the impulse feels: 1 / sum W^2 / m; 0 when nothing can move [kg]
    Real friction = 0;           ///< coefficient
    Real depth = 0;              ///< to be taken away [m]
    Real gap = 0;                ///< that is left before b touches [m]
};

class BoxResponse {
public:
    /// mass: per block [kg]; fixed: per block, whether nothing can move it.
    BoxResponse(const LatticeBoxes& boxes, const std::vector<Real>& mass, const std::vector<std::uint8_t>& fixed,
                const BoxLaw& law);

    const BoxLaw& law() const { return law_; }
    void load(const Vec3s& velocity, BlockVelocities& out) const;
    static void store(const BlockVelocities& velocity, Vec3s& out);

    /// From the boxes as they are; what the law asks for is not set yet.
    BoxContact contact(const BoxPair& pair, Real friction) const;
    BoxContact contact(Index cell, const BoxWall& wall, Real friction) const;
    /// Sets what the law asks for, from the velocities before any impulse.
    void set_wanted(BoxContact& contact, const Vec3& wall_velocity, const BlockVelocities& velocity, Real dt) const;

    /// Lets a contact begin with an impulse, as far as its law allows that.
    static void begin(BoxContact& contact, const Vec3& impulse, BlockVelocities& velocity);
    /// Changes the velocities so that this contact has what the law asks for, given what the others do: projected
    /// Gauss-Seidel on the impulses. The sum of the impulses pushes and never pulls, and drags at most by Coulomb's
    /// law.
    static void relax(BoxContact& contact, BlockVelocities& velocity);
    /// Takes the overlap away [Jung, eq. 9], shared by the masses instead of in halves; `moved` marks the blocks.
    void shift(const BoxContact& contact, Vec3s& position, std::vector<std::uint8_t>& moved) const;

private:
    /// Puts a cell's corners and weights into a contact, from `first` on, for a box that reaches `depth` behind a wall
    /// at each of its nodes. Returns the depth of the point on which the contact acts.
    Real attach(BoxContact& contact, Index first, Index cell, const Eigen::Array<Real, 8, 1>& depth) const;

    /// Nodes that are this close to the outermost one take part in a contact [m].
    Real range(Index cell) const { return law_.range * boxes_.cell(cell).side; }

    const LatticeBoxes& boxes_;
    std::vector<Real> mass_, inverse_; ///< per block [kg], [1/kg]; the inverse is 0 for what is fixed
    BoxLaw law_;
};

/// Cuts contacts into groups that share no block; the same for any number of threads. More than 64 would be needed
/// only if dozens of boxes met in one: what is left over is in no group.
class ContactColours {
public:
    /// cells(i): the two cells of contact i of n, the first may be none.
    template <class Cells>
    void group(Index n, const LatticeBoxes& boxes, Index blocks, Cells&& cells);

    /// Contacts group by group, each in ascending order.
    const std::vector<Index>& order() const { return order_; }
    /// Per group and one more: where it begins in the order.
    const std::vector<Index>& begin() const { return begin_; }

private:
    std::vector<std::uint64_t> used_;  ///< per block: colours that have it; 0 in between
    std::vector<std::uint8_t> colour_; ///< per contact
    std::vector<Index> begin_, order_;
};

template <class Cells>
void ContactColours::group(Index n, const LatticeBoxes& boxes, Index blocks, Cells&& cells)
{
    constexpr int most = 64;
    used_.resize(static_cast<std::size_t>(blocks), 0);
    colour_.resize(static_cast<std::size_t>(n));
    std::array<Index, most + 1> size{};
    for (Index i = 0; i < n; ++i) {
        const auto [a, b] = cells(i);
        std::uint64_t taken = 0;
        const auto& q = boxes.cell(b).block;
        for (const Index k : q) taken |= used_[k];
        if (a != none)
            for (const Index k : boxes.cell(a).block) taken |= used_[k];
        const int colour = std::countr_one(taken);
        colour_[i] = static_cast<std::uint8_t>(colour);
        ++size[colour];
        if (colour == most) continue;
        const std::uint64_t bit = std::uint64_t(1) << colour;
        for (const Index k : q) used_[k] |= bit;
        if (a != none)
            for (const Index k : boxes.cell(a).block) used_[k] |= bit;
    }
    for (Index i = 0; i < n; ++i) { // for the next time: n is often far less than there are blocks
        const auto [a, b] = cells(i);
        for (const Index k : boxes.cell(b).block) used_[k] = 0;
        if (a != none)
            for (const Index k : boxes.cell(a).block) used_[k] = 0;
    }
    begin_.assign(1, 0);
    for (int c = 0; c < most && size[c] > 0; ++c) begin_.push_back(begin_.back() + size[c]);
    std::vector<Index> next(begin_.begin(), begin_.end() - 1);
    order_.resize(static_cast<std::size_t>(begin_.back()));
    for (Index i = 0; i < n; ++i)
        if (colour_[i] < most) order_[next[colour_[i]]++] = i;
}

} // namespace pliant
