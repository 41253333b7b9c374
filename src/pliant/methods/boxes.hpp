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

/// Forces of the last sub-step's contacts, from which the next one's begin: what rests is then at rest from the start.
/// In the order in which contacts are found: pairs of boxes, then boxes with obstacles.
struct BoxesMemory {
    std::vector<Index> a; ///< cell; of an obstacle -1 - the number of its body
    std::vector<Index> b; ///< cell
    Vec3s force;          ///< on b [N]
    Vec3s acceleration;   ///< per block, what they do to it together [m/s^2]

    static constexpr const char* member_names[] = {"a", "b", "force", "acceleration"};
};

/// Boxes of all lattices of a model.
std::vector<BoxCell> box_cells(const Model& model, BoxExtent extent);

/// Method "boxes": explicit steps of lattices, and boxes that deform with their cells push each other apart [Jung].
class BoxMethod final : public Method {
public:
    BoxMethod(const World& world, const BoxesOptions& options);
    StepReport step(World& world, Real dt) override;

private:
    void stop_approach(const Model& model, const State& start, Real dt, Vec3s& path, StepReport& report);
    /// Pushes the blocks as the last sub-step's contacts did: what rests does not move then, and nothing comes near.
    void push_as_before(Real dt);
    /// Lets contacts that are there again begin with these impulses.
    void recall(Real dt);
    BoxesMemory remember(Real dt) const;
    void take_overlaps_away(const Model& model, State& state, Real dt, StepReport& report);
    void collide_in_order(const Model& model, State& state, Real dt, StepReport& report);
    /// What overlaps by too much now, or what is near; returns the deepest overlap, in cells.
    enum class Search { near, overlaps, again };
    Real find(const Model& model, const State& state, Search search);
    /// Overlap from which on it is taken away, in cells.
    Real too_deep() const { return (response_.law().left + options_.tolerance) / 2; }
    /// The contacts of what was found and is deeper than a part of a cell, in groups that share nothing.
    void make_contacts(const Model& model, Real deeper);
    BoxContact made(const Model& model, Index source) const;
    Real friction_of(const Model& model, Index source) const;
    /// Its cells, a as BoxesMemory has it.
    std::array<Index, 2> cells_of(Index source) const;
    /// What the law asks of the contacts with the velocities they would have without them.
    void set_wanted(const Model& model, Real dt);
    Vec3 wall_velocity(const Model& model, Index source, Real dt) const;
    /// act(contact) for all contacts: in parallel for those that share nothing, at least `grain` at once.
    template <class Act>
    void for_contacts(Act&& act, Index grain = 256)
    {
        const std::vector<Index>& begin = colours_.begin();
        for (std::size_t g = 0; g + 1 < begin.size(); ++g)
            parallel_for_again(
                begin[g + 1] - begin[g], [&](Index i) { act(contacts_[begin[g] + i]); }, grain);
    }
    /// Whether a pass has not moved its boxes yet.
    bool is_untouched(const BoxContact& contact) const;
    /// The same contact with its boxes as they are now; without corners when they are apart.
    BoxContact renewed(const BoxContact& contact, const State& state);
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
    std::vector<std::uint8_t> moved_;          ///< per block, by the pass
    std::vector<Index> sources_;               ///< of contacts: numbers of pairs, then of what touches obstacles
    std::vector<BoxContact> contacts_;         ///< in the order of their groups
    std::vector<Vec3> start_;                  ///< per pair and what touches obstacles: impulse to begin with [N s]
    BlockVelocities velocity_, free_velocity_; ///< now, and without any impulse
    BoxesMemory memory_;                       ///< of the sub-step that was just taken
};

MethodInfo boxes_method();

} // namespace pliant
