#pragma once
// The start of a scene, looked at exactly: one answer for `check`, `run` and everything else that begins one.

#include "pliant/world/world.hpp"

namespace pliant {

struct StartCheck {
    std::int64_t pairs_tested = 0;  ///< of triangles
    std::int64_t intersections = 0; ///< pairs of triangles that meet
    /// What no method that promises freedom from crossings can start from: one sentence a pair of bodies, such as
    /// "'box' and 'ball' intersect at (0, 1, 0) m" or "'box' is partly behind the plane 'floor', by 0.05 m".
    std::vector<std::string> faults;
    /// What it can start from but may not be meant: "'sheet' is inside 'ball'".
    std::vector<std::string> notes;
};

StartCheck check_start(const World& world);

} // namespace pliant
