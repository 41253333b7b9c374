#pragma once
// What the methods on tetrahedra share: which points are inside which bodies and how deep, in sub-steps.

#include "pliant/contact/point_contact.hpp"
#include "pliant/detection/penetration_depth.hpp"
#include "pliant/detection/points_in_bodies.hpp"
#include "pliant/dynamics/explicit.hpp"
#include "pliant/methods/table.hpp"

namespace pliant {

/// How the depth of a point inside a body is measured.
enum class DepthMeasure { consistent, closest_feature };

/// The option of both methods that chooses it: member `depth` of their options.
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

struct TetContactReport {
    Real deepest_penetration = 0; ///< at the end of the step [m]
    int colliding_points = 0;     ///< that the last sub-step pushed

    static constexpr const char* member_names[] = {"deepest_penetration", "colliding_points"};
};

/// Why the methods on tetrahedra cannot simulate a body; empty: they can.
std::string why_no_tet_contact(const Model& model, const Body& body);

/// Detection among all bodies of a world. Nodes are the blocks of the model and after them the vertices of mesh
/// obstacles. Holds scratch only.
class TetContact {
public:
    TetContact(const Model& model, DepthMeasure measure);

    /// Looks for points inside bodies, with blocks at the given places [m] and obstacles where they are at the time.
    void detect(const Model& model, const Vec3s& position, Real time);
    /// One entry a point and body, of the last detection.
    const std::vector<PointInBody>& points() const { return points_; }
    const std::vector<PointDepth>& depths() const { return depths_->points; }
    Real deepest() const; ///< [m]
    /// Per node [m], of the last detection.
    const Vec3s& positions() const { return x_; }

    const CollisionMesh& mesh() const { return mesh_; }
    /// Per node [kg]; infinity for pins and obstacles.
    const std::vector<Real>& mass() const { return mass_; }

    /// What a contact has in common in both methods: point, depth, friction, and for a partner that is scripted its
    /// displacement from one time to another [m] (`time` is that of the last detection).
    PointContact contact(const Model& model, Index i, Real time, Real from, Real to) const;
    /// Displacements of the nodes from `from` to `to` [m]; those of blocks are along `path` [m/s].
    void displacements(const Model& model, const Vec3s& path, Real from, Real to, Vec3s& out) const;

    /// Puts the contacts of a sub-step of length dt into the report, with the forces on their points [N].
    void report(const std::vector<PointContact>& contacts, const Vec3s& local_force, Real dt, StepReport& report) const;

private:
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
    std::vector<PointInBody> points_;
    const PenetrationDepths* depths_ = nullptr;
};

/// How one step is cut into sub-steps.
struct SubSteps {
    int number = 1;
    InnerStates inner = InnerStates::kept;
};

/// Takes the step, and measures what is left of the penetrations at its end. report.pair_forces become means.
void take_substeps(const Model& model, State& state, Real dt, const SubSteps& substeps, ExplicitStepper& stepper,
                   const Correction& correction, TetContact& contact, StepReport& report);

} // namespace pliant
