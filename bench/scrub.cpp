// Scrubbing through a large run: random frames of 100,000 vertices (5.6 MB each, in $TMPDIR) asked of the viewer's
// server over HTTP. Goals: a frame in less than 50 ms, and a server that does not hold the run in memory.
// bench_scrub [FRAMES] [SIDE]: a sheet of SIDE x SIDE vertices.

#include "pliant/core/random.hpp"
#include "pliant/run/files.hpp"
#include "pliant/run/runner.hpp"
#include "pliant/show/server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>

using namespace pliant;

namespace {

namespace fs = std::filesystem;

Real seconds_since(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<Real>(std::chrono::steady_clock::now() - start).count();
}

/// Memory of this process that is in use now or was at most [MB].
Real memory(const std::string& field)
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(field)) return std::strtod(line.c_str() + field.size() + 1, nullptr) / 1024;
    return 0;
}

/// A run directory with the start from the run writer, and waves that travel over the sheet as its frames.
void make_run(const fs::path& directory, Index frames, Index side)
{
    const Scene scene = parse_scene(fmt::format(R"(
title: Waves
time: {{step: 10 ms, end: {}, fps: 100}}
contact: {{method: none}}
materials: {{cotton: {{type: cloth}}}}
bodies: {{sheet: {{material: cotton, mesh: {{grid: {{size: [1, 1], vertices: [{}, {}]}}}}}}}}
)",
                                                0.01 * (frames - 1), side, side),
                                    "waves.yaml");
    World world = build_world(scene);
    RunOptions options;
    options.directory = directory;
    options.most_steps = 0;
    run_scene(scene, world, options);
    StoredFrame frame = store_frame(world, 0, scene.step, {});
    const Vec3s rest = frame.state.position;
    for (Index k = 1; k < frames; ++k) {
        frame.number = k;
        frame.step = k;
        frame.state.time = 0.01 * k;
        for (std::size_t v = 0; v < rest.size(); ++v)
            frame.state.position[v] = rest[v] + Vec3(0, 0.05 * std::sin(20 * rest[v].x() - 5 * frame.state.time), 0);
        save_frame(frame, run_file::frame(directory, k));
    }
}

/// One GET on a connection of its own; the size of the answer.
std::size_t get(int port, const std::string& path)
{
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::size_t size = 0;
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
        const std::string request =
            fmt::format("GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", path, port);
        if (::write(socket, request.data(), request.size()) == static_cast<ssize_t>(request.size())) {
            static char buffer[1 << 16];
            for (ssize_t n; (n = ::read(socket, buffer, sizeof buffer)) > 0;) size += static_cast<std::size_t>(n);
        }
    }
    ::close(socket);
    return size;
}

void measure(int port, Index frames, const char* where)
{
    constexpr int requests = 200;
    Random random(1);
    std::vector<Real> times;
    std::size_t bytes = 0;
    for (int i = 0; i < requests; ++i) {
        const auto number = std::min(frames - 1, static_cast<Index>(random.uniform() * frames));
        const auto begin = std::chrono::steady_clock::now();
        bytes = get(port, fmt::format("/api/frame/{}", number));
        times.push_back(seconds_since(begin));
    }
    std::sort(times.begin(), times.end());
    fmt::print("{} random frames of {:.2f} MB, {}: median {:.1f} ms, 99 % below {:.1f} ms, at most {:.1f} ms\n",
               requests, static_cast<Real>(bytes) / 1e6, where, 1000 * times[requests / 2],
               1000 * times[requests * 99 / 100], 1000 * times.back());
}

/// The system drops its copy of a file.
void forget(const fs::path& path)
{
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
}

struct TemporaryRun {
    std::string path = (fs::temp_directory_path() / "pliant-scrub-XXXXXX").string();
    TemporaryRun() { path = mkdtemp(path.data()); }
    ~TemporaryRun()
    {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
};

} // namespace

int main(int argc, char** argv)
{
    const Index frames = argc > 1 ? std::max(2, std::atoi(argv[1])) : 200;
    const Index side = argc > 2 ? std::max(2, std::atoi(argv[2])) : 317;
    const TemporaryRun run;
    auto start = std::chrono::steady_clock::now();
    make_run(run.path, frames, side);
    fmt::print("{} frames of {} vertices written in {:.1f} s\n", frames, side * side, seconds_since(start));

    start = std::chrono::steady_clock::now();
    RunViewSource source(run.path);
    ViewServer server(source, {});
    fmt::print("the server answers after {:.0f} ms, memory {:.0f} MB\n", 1000 * seconds_since(start), memory("VmRSS:"));
    start = std::chrono::steady_clock::now();
    get(server.port(), "/api/run");
    fmt::print("description of the run: {:.1f} ms\n", 1000 * seconds_since(start));

    measure(server.port(), frames, "kept in memory by the system");
    for (Index k = 0; k < frames; ++k) forget(run_file::frame(run.path, k));
    measure(server.port(), frames, "from the disk");
    fmt::print("memory {:.0f} MB, at most {:.0f} MB\n", memory("VmRSS:"), memory("VmHWM:"));
}
