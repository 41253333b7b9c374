#pragma once
// What becomes a row of the implicit method: pairs that are close, impacts of a tentative step, limits of strain.

#include "pliant/detection/normal_cones.hpp"
#include "pliant/methods/implicit_options.hpp"
#include "pliant/methods/report.hpp"
#include "pliant/methods/stall.hpp"
#include "pliant/methods/substep.hpp"

namespace pliant {

class ContactFinder {
public:
    /// The model must outlive it.
    ContactFinder(const Model& model, const ImplicitOptions& options);

    /// The sub-step whose unconstrained velocities are v_free.
    Substep begin(const World& world, Real dt, Vec3s v_free) const;
    /// Pairs that are close at the start and would come too close, with the impulses that they had in the last step.
    ContactSet near(const Substep& substep);
    /// Where velocities v lead.
    Tentative follow(const Substep& substep, Vec3s v);
    /// Adds what the tentative step met and which limits it broke (of bodies whose limits are rows), and corrects the
    /// rows of bodies that turn. False: there was nothing to add.
    bool refine(const Substep& substep, const Tentative& tentative, int round, std::span<const char> lengths_by_rows,
                ContactSet& set) const;

    /// The longest sub-step from here, at most dt, that no keyframe of a script interrupts.
    Real uninterrupted(const Model& model, Real time, Real dt) const;

    /// What is said of a pair that leaves no way on, but for its force.
    StalledPair stalled_pair(const Substep& substep, const Impact& impact) const;
    /// What is reported of a pair that is let through.
    Release release_of(const Model& model, const Impact& impact, Real time) const;
    /// Whether a pair that was let through is farther apart than its gap at the end of the tentative step.
    bool has_separated(const Substep& substep, const Tentative& tentative, const ReleasedPair& pair) const;

    /// The body of each plane that detection names.
    const std::vector<Index>& plane_bodies() const { return plane_bodies_; }

private:
    /// A motion of a body or of some of its pins.
    struct ScriptedPath {
        Index body;
        const Motion* motion;         ///< null: `vertices` instead
        Real radius;                  ///< farthest vertex from the pivot; of a plane, those of all bodies count [m]
        const VertexMotion* vertices; ///< null: `motion` instead

        Real next_keyframe(Real t0, Real t1) const
        {
            return motion ? motion->next_keyframe(t0, t1) : vertices->next_keyframe(t0, t1);
        }
        Real chord_error(Real t0, Real t1, Real path_radius) const
        {
            return motion ? motion->chord_error(t0, t1, path_radius) : vertices->chord_error(t0, t1);
        }
    };

    void expect_queries(const Substep& substep, const std::vector<Real>& reach);
    void find_paths(const Model& model);
    Real path_radius(const ScriptedPath& path, const Model& model, const Vec3s& x) const;
    std::vector<Real> curvatures(const Substep& substep, const Vec3s& v) const;
    std::vector<Real> look_ahead(const Substep& substep) const;
    std::vector<Real> reaches(const Model& model, const std::vector<Real>& ahead) const;
    bool within_reach(const Model& model, const Contact& contact, const std::vector<Real>& ahead) const;
    Contact make_contact(const Model& model, const ContactPair& pair) const;
    Real target(Real distance, Real gap) const;
    Contact contact_of(const Substep& substep, const Impact& impact) const;
    void add_impacts(const Substep& substep, const Tentative& tentative, int round,
                     std::vector<Contact>& contacts) const;
    bool add_limits(const Substep& substep, const State& end, std::span<const char> by_rows,
                    std::vector<StrainLimit>& limits) const;

    ImplicitOptions options_;
    Detector detector_;
    NormalCones cones_;
    PairLengths gaps_;      ///< what contact keeps
    PairLengths hard_gaps_; ///< what CCD certifies
    std::vector<Index> plane_bodies_;
    std::vector<ScriptedPath> paths_;
    std::vector<Real> rotor_radius_; ///< per rotor: farthest vertex from its centre [m]
    std::vector<Real> straight_;     ///< per body: how far it may leave a straight line without notice [m]
};

/// Gives the contact the impulse that it had in the last sub-step, scaled to the length of this one.
void warm_start(const ImplicitMemory& memory, Real dt, Contact& contact);

} // namespace pliant
