#include "pliant/core/log.hpp"

#include <mutex>
#include <utility>

namespace pliant {
namespace {

std::mutex sink_mutex;
std::function<void(LogLevel, const std::string&)> current_sink;

} // namespace

void set_log_sink(std::function<void(LogLevel, const std::string&)> sink)
{
    const std::lock_guard lock(sink_mutex);
    current_sink = std::move(sink);
}

void log(LogLevel level, const std::string& message)
{
    const std::lock_guard lock(sink_mutex);
    if (current_sink) current_sink(level, message);
}

} // namespace pliant
