#include "pliant/methods/sewing_method.hpp"

#include "pliant/detection/detector.hpp"
#include "pliant/methods/table.hpp"
#include "pliant/world/sewing.hpp"

#include <algorithm>

namespace pliant {
namespace {

constexpr Real certified_part = 0.2; ///< of the gap: the distance that sewing keeps between what is not sewn

class SewingMethod final : public Method {
public:
    SewingMethod(const World& world, const MethodOptions& options)
        : options_(options), inner_(method_info(options.method).make(world, options))
    {}

    StepReport step(World& world, Real dt) override
    {
        inner_->inner_states = inner_states;
        StepReport report = inner_->step(world, dt);
        const std::vector<std::int64_t> ready = closed_seams(world);
        if (ready.empty()) return report;
        const State& now = world.state;
        InnerState before{now.time, now.position, now.orientation};
        if (!sew(world, ready)) return report;
        if (inner_states == InnerStates::kept) report.inner.push_back(std::move(before));
        inner_ = method_info(options_.method).make(world, options_);
        return report;
    }

private:
    /// Seams that are not tied and whose sides are together.
    static std::vector<std::int64_t> closed_seams(const World& world)
    {
        std::vector<std::int64_t> closed;
        for (Index s = 0; s < count(world.model.seams); ++s) {
            const Seam& seam = world.model.seams[s];
            if (!std::ranges::binary_search(world.state.sewn, s) &&
                seam_opening(seam, world.state.position) < world.model.bodies[seam.body].gap)
                closed.push_back(s);
        }
        return closed;
    }

    /// Ties those of the seams that nothing keeps apart; false when there is none.
    static bool sew(World& world, const std::vector<std::int64_t>& ready)
    {
        const PairLengths hard_gaps = contact_gaps(world.model, certified_part);
        Detector detector(world.model.surface, world.model.no_contact);
        ImpactOptions options;
        options.hard_gaps = &hard_gaps;
        std::vector<MovingPlane> planes;
        for (Index b = 0; b < count(world.model.bodies); ++b)
            if (world.model.bodies[b].plane) {
                const Plane plane = plane_at(world.model, world.model.bodies[b].obstacle, world.state.time);
                planes.push_back({plane, plane, b});
            }
        options.planes = planes;
        Vec3s x0, x1;
        surface_positions(world.model, world.state, x0);
        bool any = false;
        for (const std::int64_t seam : ready) {
            std::vector<std::int64_t> sewn = world.state.sewn;
            sewn.insert(std::ranges::upper_bound(sewn, seam), seam);
            State end = sewn_state(world.model, world.state, sewn);
            surface_positions(world.model, end, x1);
            if (!detector.impacts(x0, x1, options).empty()) continue;
            world.state = std::move(end);
            x0 = x1;
            any = true;
        }
        if (any) tie_sewn(world);
        return any;
    }

    MethodOptions options_;
    std::unique_ptr<Method> inner_;
};

} // namespace

std::unique_ptr<Method> make_sewing_method(const World& world, const MethodOptions& options)
{
    return std::make_unique<SewingMethod>(world, options);
}

} // namespace pliant
