#pragma once
// Groups of about four neighbours: the coarse points of multigrid.

#include "pliant/linalg/lane_matrix.hpp"

namespace pliant {

struct Aggregates {
    std::vector<Index> parent;      ///< per fine lane: coarse lane, none for padding, held lanes and small components
    std::vector<Index> chunk_begin; ///< of the coarse lanes, per component + 1
    Vec3s position;                 ///< per coarse lane: mean of its members [m]
    std::vector<char> free;         ///< per coarse lane: it has members
};

/// Joins lanes with their nearest neighbours, in pairs and then in pairs of pairs. Components with at most `smallest`
/// free lanes get no coarse lanes.
Aggregates aggregate_by_four(const LanePattern& pattern, const std::vector<Index>& chunk_begin,
                             const std::vector<char>& free, const Vec3s& position, Index smallest);

/// Pattern of the sums over groups; its slots are numbered from 0 on. coarse_slot: per slot of the fine pattern, or
/// none.
LanePattern coarse_pattern(const LanePattern& fine, const std::vector<Index>& parent, Index lanes,
                           std::vector<Index>& coarse_slot);

/// The members of every group, ascending.
void children(const std::vector<Index>& parent, Index groups, std::vector<Index>& begin, std::vector<Index>& child);

} // namespace pliant
