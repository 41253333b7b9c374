#include "pliant/run/machine.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <string>
#include <thread>

namespace pliant {

nlohmann::ordered_json machine_description()
{
    std::string processor = "unknown";
    std::ifstream cpuinfo("/proc/cpuinfo");
    for (std::string line; std::getline(cpuinfo, line);)
        if (line.starts_with("model name")) {
            processor = line.substr(std::min(line.find(": "), line.size() - 2) + 2);
            break;
        }
    utsname system{};
    uname(&system);
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    return {{"processor", processor},
            {"cores", std::thread::hardware_concurrency()},
            {"memory_bytes", static_cast<std::int64_t>(pages) * page},
            {"system", std::string(system.sysname) + " " + system.release + " " + system.machine},
            {"compiler", __VERSION__}};
}

std::string utc_now()
{
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

} // namespace pliant
