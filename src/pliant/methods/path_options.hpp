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
template <class Options>
inline constexpr MethodOption culling_option =
    {.path = "contact.culling", .kind = OptionKind::choice, .words = "sound cones cones-paper none", .fallback = "sound",
     .meaning = "Which patches of a body the search for its self-collision leaves out. `sound`: those that are proved too flat to meet themselves, which changes nothing but time; `cones`: those whose normals are in a cone of less than a right angle around its axis, and `cones-paper`: the same as printed (Provot 1997), twice as wide: both miss contacts, promise nothing, and are there for comparison; `none`: nothing.",
     .set = setter<Options>([](Options& o, const OptionValue& v) {
         o.culling = v.word == "cones" ? Culling::cones : v.word == "cones-paper" ? Culling::cones_paper : v.word == "none" ? Culling::off : Culling::sound; })};
/// Whether nothing crosses, by what the options say.
template <class Options>
bool keeps_apart(const Options& o)
{
    return o.pinch == PinchPolicy::stop && o.culling != Culling::cones && o.culling != Culling::cones_paper;
}
// clang-format on

} // namespace pliant
