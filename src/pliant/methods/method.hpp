#pragma once
// The ways to take a step, all of one shape.

#include "pliant/contact/problem.hpp"
#include "pliant/dynamics/explicit.hpp"
#include "pliant/geometry/ccd.hpp"
#include "pliant/methods/report.hpp"
#include "pliant/world/world.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace pliant {

/// What to do where scripted bodies leave a body no room.
enum class PinchPolicy { stop, release };

/// The simulation cannot go on and keep its promise; what() says where and what to do.
class Stall : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct MethodOptions {
    std::string method = "implicit";                    ///< one of method_names()
    Integrator integrator = Integrator::backward_euler; ///< only method "none" has a choice
    /// Of the unconstrained solve, relative to the step's momenta; contact needs less than a closed form.
    std::optional<Real> linear_tolerance;
    Real linear_tolerance_or_default() const { return linear_tolerance.value_or(method == "none" ? 1e-8 : 1e-4); }

    // Method "implicit".
    ContactSolverOptions solver;
    int max_rounds = 5;                 ///< of constraint manifold refinement before the step is halved
    int max_halvings = 2;               ///< before the fail-safes take over
    CcdKind ccd = CcdKind::advancement; ///< cubic: no crossing, but the certified distance only at the ends of steps
    Real hard_gap_fraction = 0.2;       ///< certified distance over the smallest gap
    Real ccd_fraction = 0.1;            ///< resolution of continuous detection over the certified distance
    Real reach_fraction = 0.5;          ///< farthest look-ahead of proximity over the edge length
    /// Two surfaces that are flat around crossing edges meet at their vertices: an edge between faces that turn by less
    /// than this sine is no contact by itself, unless continuous detection says so.
    Real flat_sine = 0.1;
    PinchPolicy pinch = PinchPolicy::stop;
    Real recovery = 0.1; ///< part of a lost gap that one step wins back
};

class Method {
public:
    Method() = default;
    Method(const Method&) = delete;
    Method& operator=(const Method&) = delete;
    virtual ~Method() = default;

    /// Moves the world's state by dt. Whatever influences the next step is in the state.
    virtual StepReport step(World& world, Real dt) = 0;
};

/// Names that make_method() knows.
const std::vector<std::string>& method_names();
/// Whether a method can simulate a kind of body.
bool can_handle(const std::string& method, BodyKind kind);
/// Throws Error for an unknown name.
std::unique_ptr<Method> make_method(const World& world, const MethodOptions& options);

} // namespace pliant
