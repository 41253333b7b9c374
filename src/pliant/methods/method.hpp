#pragma once
// The ways to take a step, all of one shape. methods/table.hpp lists them.

#include "pliant/methods/report.hpp"
#include "pliant/world/world.hpp"

#include <any>
#include <memory>
#include <stdexcept>
#include <string>

namespace pliant {

/// The simulation cannot go on and keep its promise; what() says where and what to do.
class Stall : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Which method, and how it is set. A method's own struct of options converts to it.
struct MethodOptions {
    std::string method = "implicit"; ///< a name of the table
    std::any own = {};               ///< its struct (ImplicitOptions, ...); empty: all defaults

    /// The struct itself. Throws Error when there is another method's.
    template <class Options>
    Options get() const;
};

/// Whether a step reports the states at the ends of its sub-steps; an explicit step may have thousands of them.
enum class InnerStates { dropped, kept };

class Method {
public:
    InnerStates inner_states = InnerStates::kept;

    Method() = default;
    Method(const Method&) = delete;
    Method& operator=(const Method&) = delete;
    virtual ~Method() = default;

    /// Moves the world's state by dt. Whatever influences the next step is in the state.
    virtual StepReport step(World& world, Real dt) = 0;
};

/// Throws Error for an unknown name, or options of another method.
std::unique_ptr<Method> make_method(const World& world, const MethodOptions& options);

[[noreturn]] void fail_on_options(const std::string& method);

template <class Options>
Options MethodOptions::get() const
{
    if (!own.has_value()) return {};
    const Options* options = std::any_cast<Options>(&own);
    if (!options) fail_on_options(method);
    return *options;
}

} // namespace pliant
