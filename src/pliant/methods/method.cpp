#include "pliant/methods/method.hpp"

#include "pliant/core/error.hpp"
#include "pliant/methods/free_motion.hpp"
#include "pliant/methods/implicit.hpp"

#include <algorithm>

namespace pliant {

const char* to_string(Rung rung)
{
    switch (rung) {
    case Rung::free:
        return "free";
    case Rung::refinement:
        return "refinement";
    case Rung::halved:
        return "halved";
    case Rung::zones:
        return "zones";
    case Rung::truncation:
        return "truncation";
    }
    return "?";
}

const std::vector<std::string>& method_names()
{
    static const std::vector<std::string> names = {"implicit", "none"};
    return names;
}

bool can_handle(const std::string& method, BodyKind)
{
    return std::find(method_names().begin(), method_names().end(), method) != method_names().end();
}

std::unique_ptr<Method> make_method(const World& world, const MethodOptions& options)
{
    if (options.method == "none") return std::make_unique<FreeMotion>(world, options);
    if (options.method == "implicit") return std::make_unique<ImplicitContact>(world, options);
    throw Error("unknown contact method '" + options.method + "'");
}

} // namespace pliant
