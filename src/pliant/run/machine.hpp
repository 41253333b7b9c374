#pragma once
#include <nlohmann/json.hpp>

namespace pliant {

/// Processor, cores, memory and system, for run.json.
nlohmann::ordered_json machine_description();

/// Now, as "2024-05-31T12:00:00Z".
std::string utc_now();

} // namespace pliant
