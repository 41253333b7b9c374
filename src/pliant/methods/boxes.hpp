#pragma once
#include "pliant/contact/box_response.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/dynamics/explicit.hpp"
#include "pliant/dynamics/shape_matching.hpp"
#include "pliant/methods/box_obstacles.hpp"
#include "pliant/methods/table.hpp"

namespace pliant {

/// What the box of a cell is around.
enum class BoxExtent { content, cells };
/// How overlapping boxes are pushed apart.
enum class BoxOrder { passes, paper };

/// Options of method "boxes".
struct BoxesOptions {
    BoxExtent extent = BoxExtent::content;
    BoxPlanes planes = BoxPlanes::safe;
    BoxOrder order = BoxOrder::passes;
    BoxLaw law;
    int inner = 1;         ///< of overlap_by_nodes()
    int passes = 6;        ///< at most, a sub-step
    Real tolerance = 0.02; ///< overlap at which passes end, in cells

    bool operator==(const BoxesOptions&) const = default;
    operator MethodOptions() const { return {"boxes", *this}; }
};

/// Of the last sub-step, but for the overlap.
struct BoxesReport {
    Real overlap = 0;       ///< of two boxes, or a box and an obstacle, at the end of the step: depth in cells
    int collisions = 0;     ///< overlaps before any was taken away
    int passes = 0;         ///< that took them away
    int candidates = 0;     ///< pairs of boxes that were looked at
    int inverted_boxes = 0; ///< of these pairs: turned inside out

    static constexpr const char* member_names[] = {"overlap", "collisions", "passes", "candidates", "inverted_boxes"};
};

/// Boxes of all lattices of a model.
std::vector<BoxCell> box_cells(const Model& model, BoxExtent extent);

/// Method "boxes": explicit steps of lattices, and boxes that deform with their cells push each other apart [Jung].
/// Remembers nothing between steps.
class BoxMethod final : public Method {
public:
    BoxMethod(const World& world, const BoxesOptions& options);
    StepReport step(World& world, Real dt) override;

private:
    void stop_approach(const Model& model, const State& start, Real dt, Vec3s& path, StepReport& report);
    void take_overlaps_away(const Model& model, State& state, Real dt, StepReport& report);
    void collide_in_order(const Model& model, State& state, Real dt, StepReport& report);
    /// What overlaps now; returns the deepest overlap, in cells.
    Real find(const Model& model, const State& state, bool first);
    /// The contacts of what was found.
    void make_contacts(const Model& model, const Vec3s& velocity, Real dt);
    /// use(in_groups), where in_groups(act) calls act(i) for all contacts: in parallel for those that share nothing.
    template <class Use>
    void for_groups(const Model& model, Use&& use)
    {
        const auto& groups = colours_.group(contacts_, boxes_, model.block_count());
        use([&](auto&& act) {
            for (const std::vector<Index>& group : groups)
                parallel_for(
                    count(group), [&](Index i) { act(group[i]); }, 128);
        });
    }
    /// The same contact with its boxes as they are now; without depth when they are apart.
    BoxContact renewed(const BoxContact& contact, Index number, const State& state);
    void add_contacts(Real dt, StepReport& report) const;

    BoxesOptions options_;
    ExplicitStepper stepper_;
    ShapeMatching matching_;
    LatticeBoxes boxes_;
    BoxObstacles obstacles_;
    BoxResponse response_;
    // Scratch.
    ContactColours colours_;
    const std::vector<BoxPair>* pairs_ = nullptr;
    const std::vector<ObstacleOverlap>* touching_ = nullptr;
    std::vector<std::uint8_t> moved_;  ///< per block, by the pass
    std::vector<BoxContact> contacts_; ///< of the pairs, then of what touches obstacles
};

MethodInfo boxes_method();

} // namespace pliant
