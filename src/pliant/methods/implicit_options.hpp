#pragma once
#include "pliant/contact/problem.hpp"
#include "pliant/methods/method.hpp"
#include "pliant/methods/path_finder.hpp"

namespace pliant {

/// Options of method "implicit".
struct ImplicitOptions {
    /// Of the unconstrained solve, relative to the step's momenta; contact needs less than a closed form.
    Real linear_tolerance = 1e-4;
    ContactSolverOptions solver;
    int linearisations = 4;             ///< of elastic forces in a sub-step, at most; 1 is the paper's
    int max_rounds = 5;                 ///< of constraint manifold refinement before the step is halved
    int max_halvings = 2;               ///< before the fail-safes take over
    CcdKind ccd = CcdKind::advancement; ///< cubic: no crossing, but the certified distance only at the ends of steps
    Real hard_gap_fraction = 0.2;       ///< certified distance over the gap
    Real ccd_fraction = 0.1;            ///< resolution of continuous detection over the certified distance
    Real chord_fraction = 0.25;         ///< of the certified distance: how far a turning body may leave its chord
    Real reach_fraction = 0.5;          ///< farthest look-ahead of proximity over the edge length
    /// Two surfaces that are flat around crossing edges meet at their vertices: an edge between faces that turn by less
    /// than this sine is no contact by itself, unless continuous detection says so.
    Real flat_sine = 0.1;
    Real strain_tolerance = 0.01; ///< of the allowed length: beyond it, a limit of strain is broken and the step halved
    PinchPolicy pinch = PinchPolicy::stop;
    Culling culling = Culling::sound; ///< others than `sound` and `off` may miss contacts
    Real recovery = 0.1;              ///< part of a lost gap that one step wins back

    bool operator==(const ImplicitOptions&) const = default;
    operator MethodOptions() const { return {"implicit", *this}; }
};

} // namespace pliant
