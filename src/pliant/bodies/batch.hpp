#pragma once
// Elastic energy as batches of like elements over the world's blocks. Dynamics and energy go over batches and know no
// kind of body; several batches may share a block, and one may span several bodies.

#include "pliant/linalg/block_matrix.hpp"

#include <memory>
#include <span>

namespace pliant {

/// Elements that one thread takes at a time: ranges of elements begin at multiples of it, and end at the next one.
inline constexpr Index elements_a_piece = 256;

/// What the batches so far do with a block of the matrix.
enum class SlotUse : std::uint8_t {
    untouched,
    assigned, ///< the first to write it assigns it, so that it need not be cleared
    added     ///< all add to it: somebody clears it
};

/// Where the rows of a batch go, and what those before it do there: after another batch everybody adds.
struct MatrixRows {
    const BlockPattern& pattern;
    std::vector<SlotUse>& use; ///< per slot
};

/// A batch as a solver sees it, row by row: what the elements at a block add to that block. It holds the scratch of one
/// solver; rows of different blocks may be asked for at the same time, and a row is always summed in the same order.
class BatchRows {
public:
    BatchRows() = default;
    BatchRows(const BatchRows&) = delete;
    BatchRows& operator=(const BatchRows&) = delete;
    virtual ~BatchRows() = default;

    /// Blocks outside of [first_block, end_block) have no element of the batch.
    virtual Index first_block() const = 0;
    virtual Index end_block() const = 0;

    /// Work that each element of [begin, end) does once, at positions x [m]: for add_system() with the same dt.
    virtual void evaluate_system(Index begin, Index end, const Vec3s& x, Real dt) = 0;
    /// Adds elastic forces [N] to the rows [begin, end) of `force`, and (dt^2 + dt damping) K to those of A; rows that
    /// are not the batch's stay as they are. The diagonal blocks hold the inertia already.
    virtual void add_system(Index begin, Index end, const Vec3s& x, Real dt, BlockMatrix& A, Vec3s& force) const = 0;

    /// The same for forces alone, with damping at velocities v [m/s], of one piece of elements. Rows made for a matrix
    /// do not give them.
    virtual void evaluate_forces(Index begin, Index end, const Vec3s& x, const Vec3s& v) = 0;
    virtual void add_forces(Index begin, Index end, const Vec3s& x, const Vec3s& v, Vec3s& force) const = 0;
};

/// Per block: bounds of the sum of the norms of its row in the stiffness and in the damping matrix.
struct RowBounds {
    explicit RowBounds(Index blocks) : stiffness(static_cast<std::size_t>(blocks), 0), damping(stiffness) {}
    void add(Index block, Real k, Real beta)
    {
        stiffness[block] += k;
        damping[block] += beta * k;
    }
    std::vector<Real> stiffness; ///< [N/m]
    std::vector<Real> damping;   ///< [N s/m]
};

/// Elements of one kind and one material. Immutable: worlds share it.
class ElementBatch {
public:
    virtual ~ElementBatch() = default;

    virtual Index element_count() const = 0;
    /// The blocks of an element: they are coupled with each other in the matrix.
    virtual std::span<const Index> blocks(Index element) const = 0;
    /// Stiffness-proportional Rayleigh damping, beta [s].
    virtual Real damping() const = 0;

    /// At positions x of all blocks [J].
    virtual Real energy(const Vec3s& x) const = 0;
    /// Rows without a matrix, for forces alone, if `matrix` is null.
    virtual std::unique_ptr<BatchRows> make_rows(const MatrixRows* matrix) const = 0;
    virtual void add_row_bounds(const Vec3s& x, RowBounds& bounds) const = 0;
    /// Whether these bounds depend on the positions.
    virtual bool stiffness_varies() const { return false; }

    /// Whether explicit integrators leave it to kick() instead of its forces: too stiff for their steps.
    virtual bool kicks() const { return false; }
    /// What it does to the velocities v in a time dt from positions x on, each element solved implicitly by itself.
    /// inverse_mass: 0 for blocks that it cannot move.
    virtual void kick(const Vec3s& /*x*/, const std::vector<Real>& /*inverse_mass*/, Real /*dt*/, Vec3s& /*v*/) const {}

    /// Largest elongation (length over rest length, minus one) of what resists stretching; at least 0.
    virtual Real max_elongation(const Vec3s& x) const = 0;
    /// Elements that are turned inside out, or flat.
    virtual Index inverted(const Vec3s&) const { return 0; }
    /// Whether a step that turns an element inside out is to be taken in shorter ones.
    virtual bool keeps_orientation() const { return false; }
    /// Raises the value of each block to what this batch feels there: von Mises stress [Pa] or tension [N].
    virtual void raise_stress(const Vec3s& x, std::vector<Real>& at_block) const = 0;

    /// The same elements with block b replaced by block[b] everywhere, without those that have lost their extent; null
    /// for a batch that cannot be sewn.
    virtual std::shared_ptr<const ElementBatch> with_blocks(std::span<const Index>) const { return nullptr; }
};

/// Which elements meet at each block, in the order of the elements.
struct Incidence {
    struct Corner {
        Index element;
        Index corner; ///< which of the element's blocks it is
    };
    Index first_block = 0;
    std::vector<Index> begin; ///< per block from first_block on, + 1: range in `corners`
    std::vector<Corner> corners;

    Index end_block() const { return first_block + count(begin) - 1; }
};
Incidence incidence_of(const ElementBatch& batch);

} // namespace pliant
