#pragma once
// The graph of a block matrix: which rows may be worked on at the same time, and which have to do with each other.

#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

/// Chunks of consecutive rows, coloured such that no two coupled chunks share a colour: Gauss-Seidel colour by colour
/// is parallel inside a colour and gives the same bits for any number of threads. Chunks, not rows, because a sweep in
/// the order of memory streams it, and because neighbours that follow each other see each other's news at once.
struct ChunkColoring {
    Index size = 0;                 ///< rows a chunk
    std::vector<Index> order;       ///< chunks, colour by colour
    std::vector<Index> color_begin; ///< per colour + 1: range in order
};
ChunkColoring color_chunks(const BlockPattern& pattern, Index size = 64);

/// An order for block Gauss-Seidel that runs on several threads and gives the same bits on any number of them: small
/// connected parts one after the other in groups that have nothing to do with each other, large ones by colour.
struct SweepOrder {
    std::vector<Index> rows;        ///< in all, group by group
    std::vector<Index> group_begin; ///< per group + 1: range in rows
    std::vector<Index> stage_begin; ///< per stage + 1: range of groups that may run at the same time
};
/// part: connected_parts() of the pattern; only parts with wanted[first row] != 0 are in it.
SweepOrder make_sweep_order(const ChunkColoring& coloring, const std::vector<Index>& part,
                            const std::vector<char>& wanted);

/// One block Gauss-Seidel sweep over the given rows of A x = b, backwards on request.
void gauss_seidel_sweep(const BlockMatrix& A, const std::vector<Mat3>& diagonal_inverse, const SweepOrder& order,
                        bool backwards, const Vec3s& b, Vec3s& x);

/// Per row: the first row of the connected part that it belongs to. The parts of a system are its bodies.
std::vector<Index> connected_parts(const BlockPattern& pattern);

} // namespace pliant
