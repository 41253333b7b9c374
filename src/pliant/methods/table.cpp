#include "pliant/methods/table.hpp"

#include "pliant/core/error.hpp"
#include "pliant/methods/boxes.hpp"
#include "pliant/methods/direct.hpp"
#include "pliant/methods/free_motion.hpp"
#include "pliant/methods/impact_zones.hpp"
#include "pliant/methods/implicit.hpp"
#include "pliant/methods/penalty.hpp"
#include "pliant/methods/sewing_method.hpp"

#include <algorithm>

namespace pliant {

std::span<const MethodInfo> methods()
{
    static const MethodInfo table[] = {implicit_method(), impact_zones_method(), penalty_method(),
                                       direct_method(),   boxes_method(),        free_motion_method()};
    return table;
}

std::vector<std::string> method_names()
{
    std::vector<std::string> names;
    for (const MethodInfo& m : methods()) names.emplace_back(m.name);
    return names;
}

const MethodInfo* find_method(std::string_view name)
{
    for (const MethodInfo& m : methods())
        if (m.name == name) return &m;
    return nullptr;
}

const MethodInfo& method_info(std::string_view name)
{
    if (const MethodInfo* m = find_method(name)) return *m;
    std::string known;
    for (const std::string& n : method_names()) known += (known.empty() ? "'" : ", '") + n + "'";
    throw Error("unknown contact method '" + std::string(name) + "'; known are " + known);
}

std::string why_not_without_forces(const Model& model, const Body& body)
{
    if (body.lattice == none || !model.lattices[body.lattice].is_matched()) return "";
    return "its lattice moves by shape matching, which has no forces to integrate; `model: springs` has";
}

Promise promise_of(const MethodOptions& options)
{
    return method_info(options.method).promise(options);
}

std::string describe_refusal(const MethodInfo& method, const Model& model, std::span<const MethodInfo> table)
{
    const auto refuses = [&](const MethodInfo& m, const Body& body) { return !m.why_not(model, body).empty(); };
    for (const Body& body : model.bodies) {
        if (!refuses(method, body)) continue;
        std::string able;
        for (const MethodInfo& m : table)
            if (!refuses(m, body)) able += (able.empty() ? "" : ", ") + std::string(m.name);
        return "cannot simulate '" + body.name + "', because " + method.why_not(model, body) +
               (able.empty() ? "; no method can" : "; methods that can: " + able);
    }
    return "";
}

std::unique_ptr<Method> make_method(const World& world, const MethodOptions& options)
{
    const MethodInfo& method = method_info(options.method);
    if (const std::string refusal = describe_refusal(method, world.model); !refusal.empty())
        throw Error("method '" + options.method + "' " + refusal);
    return world.model.seams.empty() ? method.make(world, options) : make_sewing_method(world, options);
}

void fail_on_options(const std::string& method)
{
    throw Error("the options are not those of method '" + method + "'; start from its own struct");
}

} // namespace pliant
