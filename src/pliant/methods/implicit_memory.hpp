#pragma once
// What method "implicit" remembers between steps, and what it reports of one beside the common part.

#include "pliant/contact/contacts.hpp"
#include "pliant/core/record.hpp"
#include "pliant/methods/path_finder.hpp"

namespace pliant {

/// A contact impulse remembered for the next step's warm start.
struct ContactMemory {
    std::uint64_t key_a = 0, key_b = 0; ///< identity: the pair of features
    Vec3 impulse = Vec3::Zero();        ///< world vector [N s]

    static constexpr const char* member_names[] = {"key_a", "key_b", "impulse"};
};

struct ImplicitMemory {
    std::vector<ContactMemory> contacts; ///< sorted by key
    std::vector<ReleasedPair> released;  ///< sorted
    std::vector<LengthImpulse> lengths;  ///< sorted by limit
    // Of the last sub-step; empty before the first one.
    Real last_substep = 0; ///< its length [s]
    Vec3s free_change;     ///< per block: change of velocity without contact, v* - v0 [m/s]
    Vec3s contact_change;  ///< per block: change by contact, dv = v - v* [m/s]
    // Per connected part of the matrix: how many more times it is solved by its factor without trying to iterate,
    // because iterations took longer or did not converge the last time; below 0, how many times its factor is not
    // tried, because that did not converge either.
    std::vector<Index> free_turns, contact_turns;

    static constexpr const char* member_names[] = {"contacts",    "released",       "lengths",    "last_substep",
                                                   "free_change", "contact_change", "free_turns", "contact_turns"};
};

struct ImplicitReport {
    int linear_iterations = 0; ///< of the unconstrained solve
    Real linear_residual = 0;
    int rounds = 0;     ///< of constraint manifold refinement, summed over sub-steps
    int max_rounds = 0; ///< most rounds of one sub-step
    int contacts_vertex_face = 0, contacts_edge_edge = 0, contacts_plane = 0, strain_rows = 0; ///< of the last solve
    int contact_iterations = 0; ///< outer iterations of the contact solver
    Real residual_dynamics = 0, residual_gap = 0, residual_complementarity = 0;
    /// Of the solves whose answer the step kept (each sub-step's unconstrained and last contact solve): those that
    /// ended above their tolerance, and the largest residual over its tolerance.
    int unconverged = 0;
    Real worst_residual = 0;
    int halvings = 0, zones = 0, truncated_vertices = 0;
    int failsafe_rounds = 0; ///< of detection, within zones of impact and truncation
    int over_budget = 0;     ///< sub-steps that were taken after the step's budget of work was spent
    int released_pairs = 0;  ///< pairs that `pinch: release` let through in this step

    static constexpr const char* member_names[] = {
        "linear_iterations",    "linear_residual",    "rounds",         "max_rounds",
        "contacts_vertex_face", "contacts_edge_edge", "contacts_plane", "strain_rows",
        "contact_iterations",   "residual_dynamics",  "residual_gap",   "residual_complementarity",
        "unconverged",          "worst_residual",     "halvings",       "zones",
        "truncated_vertices",   "failsafe_rounds",    "over_budget",    "released_pairs"};
};

} // namespace pliant
