#pragma once
// Options that the methods share which promise that nothing crosses.

#include "pliant/methods/option.hpp"
#include "pliant/methods/path_finder.hpp"

namespace pliant {

// clang-format off
template <class Options>
inline constexpr MethodOption ccd_option =
    {.path = "contact.ccd", .kind = OptionKind::choice, .words = "advancement cubic", .fallback = "advancement",
     .meaning = "How a step's path is tested. `advancement`: conservative advancement, which certifies a distance all along the path; `cubic`: the roots of the coplanarity cubic (Provot 1997), solved with error bounds: nothing crosses on the way, but a distance is only kept at the ends of steps.",
     .set = setter<Options>([](Options& o, const OptionValue& v) { o.ccd = v.word == "cubic" ? CcdKind::cubic : CcdKind::advancement; })};
template <class Options>
inline constexpr MethodOption pinch_option =
    {.path = "contact.pinch", .kind = OptionKind::choice, .words = "stop release", .fallback = "stop",
     .meaning = "Where scripted bodies leave a body no room: `stop` ends the run and names the pair; `release` lets just those pairs through each other and lists them.",
     .set = setter<Options>([](Options& o, const OptionValue& v) { o.pinch = v.word == "release" ? PinchPolicy::release : PinchPolicy::stop; })};
// clang-format on

} // namespace pliant
