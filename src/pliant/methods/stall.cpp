#include "pliant/methods/stall.hpp"

#include <cstdio>

namespace pliant {
namespace {

template <class... Numbers>
std::string print(const char* format, Numbers... numbers)
{
    char text[300];
    std::snprintf(text, sizeof text, format, numbers...);
    return text;
}

} // namespace

std::string stall_words(const Model& model, StallCause cause, const StalledPair& p)
{
    const auto name = [&](Index body) { return "'" + model.bodies[body].name + "'"; };
    const std::string where =
        print(" at (%.4g, %.4g, %.4g) m, time %.6g s", p.position.x(), p.position.y(), p.position.z(), p.time);
    const std::string vertex = std::to_string(p.vertex);
    if (cause == StallCause::scripts_alone)
        return "pinched: scripts alone move bodies " + name(p.body_a) + " (pinned vertex " + vertex + ") and " +
               name(p.body_b) + " into each other" + where + ", and nothing there can give way; change the script, or" +
               print(" set a smaller gap (contact keeps %.3g m between them and certifies %.3g m) if they only come "
                     "too close,",
                     p.gap, p.certified) +
               " or set contact.pinch: release to let such pairs through";
    std::string words = cause == StallCause::squeeze ? "pinched: scripted motion squeezes body "
                                                     : "not solved within the step's budget of work: body ";
    words +=
        name(p.body_a) + " (vertex " + vertex + ")" + (cause == StallCause::squeeze ? " against body " : " meets ");
    words += name(p.body_b) + where;
    if (p.force > 0) words += print(", with %.3g N between them in the step before", p.force);
    words += cause == StallCause::squeeze ? ", and no step however small is free of crossings"
                                          : ", and no step that was tried is free of crossings";
    words += print("; let the script leave more room, or set a smaller gap if the room is less than the %.3g m that "
                   "contact keeps between them",
                   p.gap);
    if (p.friction > 0) words += print(", or less friction (%.3g) if it holds what should slip away", p.friction);
    if (cause == StallCause::budget) return words + ", or a shorter time.step, or more contact.max-iterations";
    return words + ", or set contact.pinch: release to let such pairs through";
}

} // namespace pliant
