#pragma once
// The graph of a block matrix: which rows may be worked on at the same time, and which have to do with each other.

#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

/// Colours of the rows of a pattern such that no two coupled rows share one: Gauss-Seidel in colour order is parallel
/// inside a colour and gives the same bits for any number of threads.
struct Coloring {
    std::vector<Index> order;       ///< rows, colour by colour
    std::vector<Index> color_begin; ///< per colour + 1: range in order
};
Coloring color_rows(const BlockPattern& pattern);

/// An order for block Gauss-Seidel that runs on several threads and gives the same bits on any number of them: small
/// connected parts one after the other in groups that have nothing to do with each other, large ones by colour.
struct SweepOrder {
    std::vector<Index> grouped;     ///< rows of small parts, group by group
    std::vector<Index> group_begin; ///< per group + 1
    Coloring colored;               ///< rows of large parts

    /// All rows, small parts first.
    std::vector<Index> rows() const;
};
/// part: connected_parts() of the pattern; only parts with wanted[first row] != 0 are in it.
SweepOrder make_sweep_order(const Coloring& coloring, const std::vector<Index>& part, const std::vector<char>& wanted);

/// One block Gauss-Seidel sweep over the given rows of A x = b, backwards on request.
void gauss_seidel_sweep(const BlockMatrix& A, const std::vector<Mat3>& diagonal_inverse, const SweepOrder& order,
                        bool backwards, const Vec3s& b, Vec3s& x);

/// Per row: the first row of the connected part that it belongs to. The parts of a system are its bodies.
std::vector<Index> connected_parts(const BlockPattern& pattern);

} // namespace pliant
