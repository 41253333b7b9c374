#pragma once
#include <functional>
#include <string>

namespace pliant {

enum class LogLevel { debug, info, warning };

/// Where the library's messages go; nothing is printed until a program sets a sink.
void set_log_sink(std::function<void(LogLevel, const std::string&)> sink);
void log(LogLevel level, const std::string& message);

} // namespace pliant
