#pragma once
// What batches of tetrahedra have in common, whatever their elastic model.

#include "pliant/bodies/batch.hpp"
#include "pliant/bodies/four.hpp"
#include "pliant/bodies/piece_sums.hpp"
#include "pliant/bodies/solid.hpp"

namespace pliant {

using Corners = std::array<Vec3, 4>;
using Mat12 = Eigen::Matrix<Real, 12, 12>;

inline Corners corners_of(const SolidElement& e, const Vec3s& x)
{
    return {x[e.nodes[0]], x[e.nodes[1]], x[e.nodes[2]], x[e.nodes[3]]};
}

/// Rest data of four tetrahedra side by side.
struct FourElements {
    std::array<FourVec, 3> gradient; ///< of the nodes 1 to 3; that of node 0 is minus their sum [1/m]
    Four volume;                     ///< [m^3]
};

/// Elements of one solid, and what does not depend on how they resist deformation.
class TetBatch : public ElementBatch {
public:
    /// The elements of a solid whose nodes are the blocks from first_block on.
    TetBatch(const Solid& solid, Index first_block);

    Index element_count() const final { return count(elements_); }
    std::span<const Index> blocks(Index element) const final { return elements_[element].nodes; }
    Real damping() const final { return damping_; }
    Real max_elongation(const Vec3s& x) const final;
    Index inverted(const Vec3s& x) const final;
    /// Volume-weighted mean of the von Mises stress of the elements at a block.
    void raise_stress(const Vec3s& x, std::vector<Real>& at_block) const final;

    const std::vector<SolidElement>& elements() const { return elements_; } ///< nodes are blocks of the world
    const Elasticity& elasticity() const { return elasticity_; }
    /// Elements 4 i to 4 i + 3; the last ones are repeated where the number is not a multiple of four.
    const FourElements& four(Index i) const { return fours_[i]; }
    Index four_count() const { return count(fours_); }
    /// Four times four nodes, element by element.
    const Index* four_nodes(Index i) const { return four_nodes_.data() + 16 * static_cast<std::size_t>(i); }
    /// Where these are, corner by corner.
    std::array<FourVec, 4> four_corners(Index i, std::span<const Vec3> x) const
    {
        const Index* nodes = four_nodes(i);
        return {gather(x, nodes, 4), gather(x, nodes + 1, 4), gather(x, nodes + 2, 4), gather(x, nodes + 3, 4)};
    }
    /// Of four(i), how many are elements and not repetitions.
    Index four_size(Index i) const { return std::min<Index>(4, element_count() - 4 * i); }

protected:
    /// The rows of an element whose blocks K_ij have norms of at most `bound` |b_i| |b_j|.
    void add_element_bounds(const SolidElement& e, Real bound, RowBounds& bounds) const
    {
        const Vec4 norms(e.gradient[0].norm(), e.gradient[1].norm(), e.gradient[2].norm(), e.gradient[3].norm());
        for (int i = 0; i < 4; ++i) bounds.add(e.nodes[i], bound * norms.sum() * norms[i], damping_);
    }
    /// Von Mises stress of an element with deformation gradient F [Pa].
    virtual Real stress(const Mat3& F) const = 0;

private:
    Elasticity elasticity_;
    Real damping_;
    std::vector<SolidElement> elements_;
    std::vector<FourElements> fours_;
    std::vector<Index> four_nodes_;
};

/// Forces of the elements of a batch, computed four at a time and summed by rows.
class TetForces {
public:
    explicit TetForces(const TetBatch& batch) : batch_(batch), sums_(batch) {}

    /// One piece of elements. kernel(damped, rest data, x, v, f) for four of them at a time, with the positions x [m]
    /// and the velocities v [m/s] of their four nodes and the forces f on the nodes 1 to 3 [N]. damped: a
    /// std::bool_constant; if it is false, v means nothing.
    template <class Kernel>
    void evaluate(Index begin, Index end, const Vec3s& x, const Vec3s& v, Kernel&& kernel)
    {
        if (batch_.damping() > 0)
            evaluate<std::true_type>(begin, end, x, v, kernel);
        else
            evaluate<std::false_type>(begin, end, x, v, kernel);
    }

    void add_rows(Index begin, Index end, Vec3s& force) const { sums_.add_rows(begin, end, force); }

private:
    template <class Damped, class Kernel>
    void evaluate(Index begin, Index end, const Vec3s& x, const Vec3s& v, Kernel&& kernel)
    {
        sums_.clear_piece(begin);
        for (Index i = begin; i < end; i += 4) {
            const std::array<FourVec, 4> at = batch_.four_corners(i / 4, x);
            std::array<FourVec, 3> f;
            if constexpr (Damped::value)
                kernel(Damped(), batch_.four(i / 4), at, batch_.four_corners(i / 4, v), f);
            else
                kernel(Damped(), batch_.four(i / 4), at, at, f);
            const FourVec first = -(f[0] + f[1] + f[2]); // all sum to zero
            sums_.add(i, 0, first);
            for (int k = 0; k < 3; ++k) sums_.add(i, k + 1, f[k]);
        }
    }

    const TetBatch& batch_;
    PieceSums sums_;
};

/// F = sum_k (a_k - a_0) b_k^T of four elements.
inline FourMat four_gradients(const FourElements& e, const std::array<FourVec, 4>& a)
{
    return sum_of_products(a[1] - a[0], e.gradient[0], a[2] - a[0], e.gradient[1], a[3] - a[0], e.gradient[2]);
}

/// f_k = -V P b_k of the nodes 1 to 3, for first Piola-Kirchhoff stresses P [Pa].
inline void four_forces(const FourElements& e, const FourMat& P, std::array<FourVec, 3>& f)
{
    for (int k = 0; k < 3; ++k) f[k] = -e.volume * times(P, e.gradient[k]);
}

/// Slots of the matrix for every corner of an element: of (row, node k).
std::vector<std::array<Index, 4>> corner_slots(const TetBatch& batch, const Incidence& incidence,
                                               const MatrixRows& matrix);

} // namespace pliant
