#pragma once
// One cycle of algebraic multigrid as a preconditioner, in single precision. The hierarchy comes from the graph and the
// rest shape alone: neighbours join in pairs of pairs and move together (piecewise constant prolongation). What a
// solver adds to the diagonal, contact that holds blocks in place, is carried to all levels; left out of the coarse
// ones it would make the cycle push where nothing can move. So is what it adds between blocks, limits of length, whose
// ends are free to move together.

#include "pliant/linalg/lane_matrix.hpp"

namespace pliant {

/// Different components may be worked on at the same time, each by one caller.
class Multigrid {
public:
    /// A stiffness between two lanes, K (x_a - x_b), symmetric: xx, xy, xz, yy, yz, zz.
    struct Coupling {
        Index a, b;
        std::array<float, 6> K;
    };
    /// The chunks of some components on every level, coarsest last, and what a solver added between their lanes.
    struct Region {
        struct Level {
            std::vector<Index> all;                 ///< chunks
            std::vector<Index> on;                  ///< of components that have a coarser level
            std::vector<Index> last;                ///< of components for which this is the coarsest
            std::vector<Coupling> couplings;        ///< each from both of its ends, sorted by a
            Index first_chunk = 0;                  ///< of those below
            std::vector<Index> coupling_begin = {}; ///< per chunk + 1; empty without couplings
        };
        std::vector<Level> levels;
        Chunks finest() const { return levels.front().all; }
    };

    Multigrid() = default;
    /// component: per block the number of its connected component, none for blocks that are left out. held: blocks that
    /// nothing moves. rest: which neighbours are close, in the rest shape [m].
    Multigrid(const BlockPattern& pattern, const std::vector<Index>& component, const std::vector<char>& held,
              const Vec3s& rest);

    bool empty() const { return levels_.empty(); }
    const LaneOrder& order() const { return order_; }
    Index components() const { return order_.components(); }
    Region region(std::span<const Index> components) const;
    LaneVectors make_vectors() const { return LaneVectors(order_.lanes()); }

    /// Copies the matrix and makes its coarse versions; nothing is added to the diagonal after it.
    void update(const BlockMatrix& A, const Region& region);
    /// The copy of A, on the finest level.
    const LaneMatrix& matrix() const { return levels_.front().A; }
    /// Inverses of its diagonal blocks, 0 for held ones: the metric of residuals.
    const LaneBlocks& diagonal_inverse() const { return metric_; }

    /// What is added to the diagonal on the finest level; 0 where nothing is. After a change call use_added().
    LaneBlocks& added() { return levels_.front().C; }
    /// Couplings are between lanes of the finest level, in place of those of an earlier call.
    void use_added(Region& region, std::vector<Coupling> couplings = {});

    /// Approximately (A + C)^-1 b, and with the couplings: symmetric and positive definite. The answer is valid until
    /// the next call.
    const LaneVectors& cycle(const Region& region, const LaneVectors& b);
    /// One diagonal step instead of the cycle.
    const LaneVectors& diagonal_step(const Region& region, const LaneVectors& b);

private:
    struct Level {
        LanePattern pattern;
        LaneMatrix A;
        std::vector<float> blocks;             ///< 9 a slot of the pattern; none on the finest level
        LaneBlocks D, C, inverse;              ///< diagonal, what is added to it, and (D + C + couplings)^-1
        std::vector<char> had_added;           ///< per chunk: the inverse holds more than D
        std::vector<Index> chunk_begin;        ///< per component + 1
        std::vector<Index> diagonal;           ///< per lane: slot of the pattern, none for padding
        std::vector<Index> parent;             ///< per lane: lane on the next level, or none
        std::vector<Index> child_begin, child; ///< the other way round, per lane of the next level
        std::vector<Index> coarse_slot;        ///< per slot of the pattern: the one on the next level, or none
        LaneVectors x, y, b;
        LaneVectors first, left; ///< answer of the first of two visits, and what it left
    };

    template <class Number>
    void update_coarse(const Number* blocks, Level& fine, Level& coarse, const Region::Level& region);
    void take_diagonal(Index level, const BlockMatrix* A, const Region& region);
    void invert(Level& level, Index lane, std::span<const Coupling> couplings = {}) const;
    void set_couplings(Region& region, std::vector<Coupling> couplings);
    Float8x3 residual(std::size_t level, const Region& region, Index lane, const LaneVectors& b,
                      const LaneVectors& x) const;
    void smooth(std::size_t level, const Region& region, Chunks chunks, float omega, const LaneVectors& b,
                const LaneVectors& x, LaneVectors& y) const;
    const LaneVectors& descend(std::size_t level, const Region& region, const LaneVectors& b);
    const LaneVectors& cycle(std::size_t level, const Region& region, const LaneVectors& b);

    LaneOrder order_;
    std::vector<Level> levels_;
    LaneBlocks metric_;
    std::vector<char> held_; ///< per lane of the finest level
};

} // namespace pliant
