#pragma once
// What the methods on tetrahedra share: which points are inside which bodies and how deep, in sub-steps.

#include "pliant/contact/point_contact.hpp"
#include "pliant/detection/penetration_depth.hpp"
#include "pliant/detection/points_in_bodies.hpp"
#include "pliant/dynamics/explicit.hpp"
#include "pliant/methods/table.hpp"

#include <span>

namespace pliant {

/// How the depth of a point inside a body is measured.
enum class DepthMeasure { consistent, closest_feature };

/// The options of both methods: members `depth` and `self_collision` of their structs.
template <class Options>
constexpr MethodOption depth_option = {
    .path = "contact.depth",
    .kind = OptionKind::choice,
    .words = "consistent closest-feature",
    .fallback = "consistent",
    .meaning = "How the depth of a point inside a body is measured. `consistent`: "
               "from the surface inwards, so that neighbours leave the same way; `closest-feature`: to the closest "
               "point of the surface, for comparison.",
    .set = setter<Options>([](Options& o, const OptionValue& v) {
        o.depth = v.word == "closest-feature" ? DepthMeasure::closest_feature : DepthMeasure::consistent;
    })};
template <class Options>
constexpr MethodOption self_collision_option = {
    .path = "contact.self-collision",
    .kind = OptionKind::boolean,
    .fallback = "false",
    .meaning = "Whether a body of tetrahedra collides with itself, where it is more than two of its edges away from "
               "itself in the rest shape.",
    .set = setter<Options>([](Options& o, const OptionValue& v) {
        o.self_collision = v.word == "true" ? SelfCollision::on : SelfCollision::off;
    })};

struct TetContactReport {
    Real deepest_penetration = 0; ///< at the end of the step [m]
    Real penetration_edges = 0;   ///< the deepest over the shorter of the two bodies' median edges
    int colliding_points = 0;     ///< that the last sub-step pushed
    int enclosed_bodies = 0;      ///< bodies that were wholly inside another one in the step

    static constexpr const char* member_names[] = {"deepest_penetration", "penetration_edges", "colliding_points",
                                                   "enclosed_bodies"};
};

/// Why the methods on tetrahedra cannot simulate a body; empty: they can.
std::string why_no_tet_contact(const Model& model, const Body& body);

/// Detection among all bodies of a world. Nodes are the blocks of the model, and after them the vertices of rigid
/// bodies and of mesh obstacles. Holds scratch only.
class TetContact {
public:
    TetContact(const Model& model, DepthMeasure measure, SelfCollision self_collision);

    /// Looks for points inside bodies in a configuration (time, positions, orientations).
    void detect(const Model& model, const State& at, Profile& profile);
    /// One entry a point and body, of the last detection.
    const std::vector<PointInBody>& points() const { return points_; }
    const std::vector<PointDepth>& depths() const { return depths_->points; }
    /// Per node [m], of the last detection.
    const Vec3s& positions() const { return x_; }

    const CollisionMesh& mesh() const { return mesh_; }
    /// Per node [kg]; infinity for pins and obstacles. A rigid body's vertices have the mass of its contacts instead.
    const std::vector<Real>& mass() const { return mass_; }

    /// All contacts of the last detection, without the nodes of the partners. `motion` is the displacement from start
    /// to end [m] of a partner without nodes.
    void make_contacts(const Model& model, const State& start, const State& end, std::vector<PointContact>& out);
    /// Displacements from start to end, divided by `time`, of the nodes of contacts; those of other nodes stay as they
    /// are.
    void displacements(const Model& model, const State& start, const State& end, Real time,
                       std::span<const PointContact> contacts, Vec3s& out) const;

    /// Adds to the velocities of rigid bodies what the forces on points [N] do in a sub-step of length dt.
    void push_rotors(const Model& model, const State& start, const Vec3s& local_force, Real dt, Vec3s& path) const;
    /// Puts the contacts of a sub-step of length dt into the report, with the forces on their points [N].
    void report(const Model& model, const Vec3s& local_force, Real dt, StepReport& report) const;
    /// Ends the report of a step of length dt: measures what is left of the penetrations in the state that it reached,
    /// and makes report.pair_forces means.
    void report_end(const Model& model, const State& state, Real dt, StepReport& report);

private:
    Index rotor_of(const Model& model, Index body) const { return model.bodies[body].rotor; }
    Real mass_of_rotor(const Model& model, Index rotor, const Vec3& at, const Vec3& direction) const;

    Index blocks_ = 0;            ///< nodes that are blocks
    std::vector<Index> vertices_; ///< per node after the blocks: its vertex in the surface
    std::vector<Real> mass_;
    DepthMeasure measure_;
    CollisionMesh mesh_;
    FaceTree tree_;
    PointsInBodies finder_;
    PenetrationDepth depth_;
    std::vector<HalfSpace> half_spaces_;
    Vec3s x_;
    std::vector<Pose> poses_; ///< of the model's frames at the last detection
    std::vector<PointInBody> points_;
    const PenetrationDepths* depths_ = nullptr;
    std::vector<Index> rotor_frame_;    ///< per rotor: its frame in the model
    std::vector<Index> rotor_contacts_; ///< per rotor: contacts that it takes part in
};

/// `contact.integrator`, member `integrator`.
template <class Options>
constexpr MethodOption integrator_option = {
    .path = "contact.integrator",
    .kind = OptionKind::choice,
    .words = "verlet backward-euler",
    .fallback = "verlet",
    .meaning = "`verlet`: as many explicit sub-steps as the stiffness asks for; `backward-euler`: one linear solve a "
               "step, which then should be short against the time between collisions.",
    .set = setter<Options>([](Options& o, const OptionValue& v) {
        o.integrator = v.word == "backward-euler" ? Integrator::backward_euler : Integrator::verlet;
    })};

/// How one step is cut into sub-steps.
struct SubSteps {
    Real finer = 1; ///< than the elasticity of the bodies asks for
    InnerStates inner = InnerStates::kept;
};

/// Takes the step, and ends its report.
void take_substeps(const Model& model, State& state, Real dt, const SubSteps& substeps, ExplicitStepper& stepper,
                   const Correction& correction, TetContact& contact, StepReport& report);

} // namespace pliant
