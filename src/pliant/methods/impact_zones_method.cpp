// The row of method "impact-zones" in the table of methods.

#include "pliant/methods/impact_zones.hpp"
#include "pliant/methods/path_options.hpp"

namespace pliant {
namespace {

using O = ImpactZonesOptions;
using V = OptionValue;

// clang-format off
constexpr MethodOption options[] = {
    {.path = "contact.restitution", .kind = OptionKind::number, .range = between(0, 1), .fallback = "0",
     .meaning = "Part of the normal velocity with which bodies leave an impact: 0 is perfectly inelastic, 1 elastic (k_d of Provot97).",
     .set = setter<O>([](O& o, const V& v) { o.restitution = v.number; })},
    {.path = "contact.response-passes", .kind = OptionKind::integer, .range = between(1, 1000), .fallback = "1",
     .meaning = "How often impacts of a sub-step are looked for and answered one by one before those left form zones that move as one; 1 as in Provot97.",
     .set = setter<O>([](O& o, const V& v) { o.passes = static_cast<int>(v.number); })},
    ccd_option<O>,
    pinch_option<O>,
    culling_option<O>,
};
// clang-format on

} // namespace

MethodInfo impact_zones_method()
{
    return {
        .name = "impact-zones",
        .about = "explicit steps with a response to every impact and zones that move as one where that is not enough; "
                 "nothing ever passes through anything, unless `pinch: release` says so",
        .promise = [](const MethodOptions& o) { return Promise{keeps_apart(o.get<O>())}; },
        .why_not = why_not_without_forces,
        .options = options,
        .default_options = []() -> std::any { return O(); },
        .columns = ImpactZonesReport::member_names,
        .empty_memory = []() -> Record { return ImpactZonesMemory(); },
        .make = [](const World& world, const MethodOptions& o) -> std::unique_ptr<Method> {
            return std::make_unique<ImpactZones>(world, o.get<O>());
        },
    };
}

} // namespace pliant
