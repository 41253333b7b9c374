#pragma once
// The table of methods: all that the rest of the project knows of any of them.

#include "pliant/methods/method.hpp"
#include "pliant/methods/option.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace pliant {

/// What a run is held to; `pliant check` fails it for nothing else but what its scene expects.
struct Promise {
    bool no_crossing = false; ///< no intersection in any frame, no tunnelling, no crossing on the way
};

/// What a method that does not promise freedom from intersections keeps small instead.
class StateMeasure {
public:
    virtual ~StateMeasure() = default;
    virtual const char* what() const = 0; ///< with its unit
    /// With the blocks at the given places [m], at a time [s].
    virtual Real at(const Vec3s& position, Real time) = 0;
};

struct MethodInfo {
    std::string_view name;  ///< as in `contact.method`
    std::string_view about; ///< for people: what it does and promises, to stand after "name: "
    Promise (*promise)(const MethodOptions& options);
    /// Why it cannot simulate a body of the model, to stand after "because "; empty: it can.
    std::string (*why_not)(const Model& model, const Body& body);
    std::span<const MethodOption> options;
    std::any (*default_options)();
    std::span<const char* const> columns; ///< of stats.csv: the member names of StepReport::own
    Record (*empty_memory)();             ///< as State::memory before the first step
    std::unique_ptr<Method> (*make)(const World& world, const MethodOptions& options);
    /// Null: `pliant check` tests triangles exactly, whatever is promised. The model must outlive the measure.
    std::unique_ptr<StateMeasure> (*make_measure)(const Model& model, const MethodOptions& options) = nullptr;
};

std::span<const MethodInfo> methods();
std::vector<std::string> method_names();
/// Null for an unknown name.
const MethodInfo* find_method(std::string_view name);
/// Throws Error for an unknown name.
const MethodInfo& method_info(std::string_view name);

/// MethodInfo::why_not of methods that simulate whatever has forces.
std::string why_not_without_forces(const Model& model, const Body& body);

/// What a method with these options promises. Throws Error for an unknown name.
Promise promise_of(const MethodOptions& options);

/// Why a method cannot simulate the model: "cannot simulate 'sheet', because ...; methods that can: a or b". Empty when
/// it can.
std::string describe_refusal(const MethodInfo& method, const Model& model,
                             std::span<const MethodInfo> table = methods());

} // namespace pliant
