#pragma once
// What becomes a row of the implicit method: pairs that are close, impacts of a tentative step, limits of strain.

#include "pliant/detection/normal_cones.hpp"
#include "pliant/methods/implicit_options.hpp"
#include "pliant/methods/path_finder.hpp"
#include "pliant/methods/substep.hpp"

namespace pliant {

class ContactFinder {
public:
    /// The model must outlive it.
    ContactFinder(const Model& model, const ImplicitOptions& options);

    /// The sub-step whose unconstrained velocities are v_free.
    Substep begin(const World& world, Real dt, Vec3s v_free);
    /// Pairs that are close at the start and would come too close, with the impulses that they had in the last step.
    ContactSet near(const Substep& substep);
    /// Where velocities v lead.
    Tentative follow(const Substep& substep, Vec3s v)
    {
        return paths_.follow(substep, std::move(v), substep.memory().released);
    }
    /// Adds what the tentative step met and which limits it broke (of bodies whose limits are rows), and corrects the
    /// rows of bodies that turn. False: there was nothing to add.
    bool refine(const Substep& substep, const Tentative& tentative, int round, std::span<const char> lengths_by_rows,
                ContactSet& set) const;

    const PathFinder& paths() const { return paths_; }

private:
    void expect_queries(const Substep& substep, const std::vector<Real>& reach);
    std::vector<Real> look_ahead(const Substep& substep) const;
    std::vector<Real> reaches(const Model& model, const std::vector<Real>& ahead) const;
    bool within_reach(const Model& model, const Contact& contact, const std::vector<Real>& ahead) const;
    Real target(Real distance, Real gap) const;
    Contact contact_of(const Substep& substep, const Impact& impact) const;
    void add_impacts(const Substep& substep, const Tentative& tentative, int round,
                     std::vector<Contact>& contacts) const;
    bool add_limits(const Substep& substep, const State& end, std::span<const char> by_rows,
                    std::vector<StrainLimit>& limits) const;

    ImplicitOptions options_;
    PathFinder paths_;
    NormalCones cones_;
    std::vector<char> still_body_; ///< per body: an obstacle without a script
    std::vector<char> flat_;       ///< per edge of the surface, of the last sub-step
};

/// Gives the contact the impulse that it had in the last sub-step, scaled to the length of this one.
void warm_start(const ImplicitMemory& memory, Real dt, Contact& contact);

} // namespace pliant
