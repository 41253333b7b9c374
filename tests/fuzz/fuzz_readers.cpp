// Feeds damaged files to the readers of scenes, meshes and run directories. Whatever the bytes, a reader gives what it
// read or throws Error; it does not crash, hang, or ask for more memory than a bound.
//
//   fuzz_readers scene|mesh|run SECONDS [SEED]     for this long
//   fuzz_readers scene|mesh|run xINPUTS [SEED]     so many inputs
//
// The input at hand is in fuzz-<what>-<process>.input below the temporary directory; a failure leaves it there.

#include "fuzz/mutation.hpp"
#include "pliant/core/error.hpp"
#include "pliant/core/log.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/run/array_file.hpp"
#include "pliant/run/certificate.hpp"
#include "pliant/run/checkpoint.hpp"
#include "pliant/run/directory.hpp"
#include "pliant/run/files.hpp"
#include "pliant/run/runner.hpp"
#include "pliant/show/report.hpp"
#include "pliant/show/view_source.hpp"
#include "run/temporary_directory.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>

using namespace pliant;
namespace fs = std::filesystem;

namespace {

constexpr int longest = 10; ///< that one input may take, of computing [s]

std::string input_path;

[[noreturn]] void fail(const char* why)
{
    std::fprintf(stderr, "fuzz_readers: %s; the input is %s\n", why, input_path.c_str());
    std::_Exit(1);
}

/// Of this process alone, whatever else the machine does. 0: no limit.
void limit_time(int seconds)
{
    const itimerval timer{{0, 0}, {seconds, 0}};
    setitimer(ITIMER_PROF, &timer, nullptr);
}

/// What reads one input.
using Reader = std::function<void(const std::string& bytes)>;

void feed(const Reader& reader, const std::string& bytes)
{
    {
        std::ofstream stream(input_path, std::ios::binary | std::ios::trunc);
        stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    limit_time(longest);
    try {
        reader(bytes);
    } catch (const Error&) {
    } catch (const std::bad_alloc&) {
        fail("more memory than the bound");
    } catch (const std::exception& e) {
        fail(e.what());
    }
    limit_time(0);
}

std::vector<std::string> files_in(const fs::path& directory, const std::string& extension)
{
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(directory))
        if (entry.path().extension() == extension) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> out;
    for (const fs::path& path : paths) out.push_back(read_file(path));
    return out;
}

class Fuzz {
public:
    virtual ~Fuzz() = default;
    virtual void next() = 0;
};

class FuzzScenes final : public Fuzz {
public:
    explicit FuzzScenes(std::uint64_t seed) : mutator_(seed, good()) {}
    void next() override
    {
        feed([](const std::string& text) { to_yaml(parse_scene(text, "fuzz.yaml")); }, mutator_.next());
    }

private:
    static std::vector<std::string> good()
    {
        const fs::path source = PLIANT_SOURCE_DIR;
        std::vector<std::string> out = files_in(source / "scenes", ".yaml");
        for (std::string& text : files_in(source / "tests/scene/bad", ".yaml")) out.push_back(std::move(text));
        return out;
    }
    Mutator mutator_;
};

class FuzzMeshes final : public Fuzz {
public:
    explicit FuzzMeshes(std::uint64_t seed)
    {
        const TriangleMesh box = make_box({1, 2, 3}), sphere = make_sphere(1, 1);
        const TetMesh tets = make_tet_box({1, 1, 1}, {1, 1, 2});
        MeshWriteOptions ascii, single, old;
        ascii.ascii = single.single_precision = old.msh_2 = true;
        add(seed + 1, {format_obj(box), format_obj(sphere), "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1/1/1 2//2 -2 4\n"},
            [](const std::string& b) { parse_obj(b, "fuzz.obj"); });
        add(seed + 2, {format_ply(box), format_ply(box, ascii), format_ply(sphere, single)},
            [](const std::string& b) { parse_ply(b, "fuzz.ply"); });
        add(seed + 3, {format_stl(box), format_stl(box, ascii)},
            [](const std::string& b) { parse_stl(b, "fuzz.stl"); });
        const std::vector<std::string> msh = {format_msh(box), format_msh(box, old), format_msh(tets),
                                              format_msh(tets, old)};
        add(seed + 4, msh, [](const std::string& b) { parse_msh_triangles(b, "fuzz.msh"); });
        add(seed + 5, msh, [](const std::string& b) { parse_msh_tets(b, "fuzz.msh"); });
    }
    void next() override
    {
        auto& [mutator, reader] = formats_[turn_++ % formats_.size()];
        feed(reader, mutator.next());
    }

private:
    void add(std::uint64_t seed, std::vector<std::string> good, Reader reader)
    {
        formats_.push_back({Mutator(seed, std::move(good)), std::move(reader)});
    }
    std::vector<std::pair<Mutator, Reader>> formats_;
    std::size_t turn_ = 0;
};

/// A small run with all kinds of bodies, one of whose files is damaged at a time. Binary files get a new checksum, so
/// that damage is met where the numbers are used.
class FuzzRuns final : public Fuzz {
public:
    explicit FuzzRuns(std::uint64_t seed) : mutator_(seed, {""}), scene_(parse_scene(text, "fuzz.yaml"))
    {
        World world = build_world(scene_);
        RunOptions options;
        options.directory = run_;
        options.every_step = true;
        run_scene(scene_, world, options);
        const RunReader reader(run_);
        save_certificate(certify_run(reader), reader);
        for (const char* name : {run_file::scene, run_file::info, run_file::stats, run_file::certificate,
                                 run_file::mesh, run_file::checkpoint, "frames/000002.frame"})
            files_.push_back({name, Mutator(seed + files_.size(), {read_file(run_ / name)})});
    }
    void next() override
    {
        const std::string& name = files_[turn_ % files_.size()].first;
        Mutator& mutator = files_[turn_++ % files_.size()].second;
        const std::string good = mutator.good()[0];
        const bool binary = good.starts_with("PLIANT");
        feed([&](const std::string& bytes) { read_with(name, bytes); },
             binary ? damaged_arrays(good, mutator) : mutator.next());
        write_file(run_ / name, good);
    }

private:
    std::string damaged_arrays(std::string bytes, Mutator& mutator)
    {
        constexpr std::int64_t odd[] = {-1, 0, 1, 7, 1 << 30, std::numeric_limits<std::int32_t>::min(), -2};
        constexpr double reals[] = {
            0, -1, 1e300, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e-300};
        for (std::size_t n = 1 + mutator.below(3); n > 0; --n) {
            const std::size_t at = 8 + mutator.below(bytes.size() - 24) / 4 * 4;
            const auto put = [&](const auto& value) { std::memcpy(bytes.data() + at, &value, sizeof value); };
            switch (mutator.below(4)) {
            case 0:
                put(static_cast<std::int32_t>(odd[mutator.below(std::size(odd))]));
                break;
            case 1:
                put(odd[mutator.below(std::size(odd))]);
                break;
            case 2:
                put(reals[mutator.below(std::size(reals))]);
                break;
            case 3:
                bytes.erase(at, 8 * (1 + mutator.below(4)));
                if (bytes.size() < 40) bytes.resize(40);
                break;
            }
        }
        const auto body = std::as_bytes(std::span(bytes.data(), bytes.size() - 8));
        const std::uint64_t sum = checksum(body);
        std::memcpy(bytes.data() + bytes.size() - 8, &sum, 8);
        return bytes;
    }
    void read_with(const std::string& name, const std::string& bytes)
    {
        write_file(run_ / name, bytes);
        if (name == run_file::checkpoint) {
            World world = build_world(scene_);
            load_checkpoint(world, {identity_, scene_.method.method}, run_ / name);
            return;
        }
        const RunReader reader(run_);
        for (Index i = 0; i < reader.frame_count(); ++i) reader.frame(i);
        reader.stats();
        certify_run(reader);
        RunViewSource source(run_);
        source.description();
        source.topology();
        source.stats(0);
        source.frame(2);
        ReportOptions small;
        small.sheet_columns = small.sheet_rows = 1;
        small.tile_width = small.tile_height = 16;
        small.samples = 1;
        report_html(reader, read_certificate(run_), small);
    }

    static constexpr char text[] = R"(
time: {step: 10 ms, end: 30 ms, fps: 100}
materials: {cotton: {type: cloth}, rubber: {type: solid}, steel: {type: rigid}}
bodies:
  sheet: {material: cotton, mesh: {grid: {vertices: [4, 4]}}, place: {at: [0, 0.6, 0]}, pin: {vertices: [0]}}
  block: {material: rubber, mesh: {tet-box: {size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}}, place: {at: [0, 0.11, 0]}}
  ball: {material: steel, mesh: {sphere: {radius: 0.1, subdivisions: 1}}, place: {at: [1, 0.5, 0]}}
  wall: {obstacle: {mesh: {box: {}}}, place: {at: [3, 0, 0]}}
  floor: {obstacle: {plane: {y: 0}}}
)";
    TemporaryDirectory directory_;
    const fs::path run_ = directory_ / "run";
    Mutator mutator_;
    Scene scene_;
    const std::uint64_t identity_ = identity_hash(scene_identity(scene_));
    std::vector<std::pair<std::string, Mutator>> files_;
    std::size_t turn_ = 0;
};

std::unique_ptr<Fuzz> make_fuzz(const std::string& what, std::uint64_t seed)
{
    if (what == "scene") return std::make_unique<FuzzScenes>(seed);
    if (what == "mesh") return std::make_unique<FuzzMeshes>(seed);
    if (what == "run") return std::make_unique<FuzzRuns>(seed);
    return nullptr;
}

} // namespace

int main(int argc, char** argv)
{
    const std::string what = argc > 2 ? argv[1] : "", amount = argc > 2 ? argv[2] : "";
    const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
    set_thread_count(1);
    set_log_sink([](LogLevel, const std::string&) {});
    input_path = (fs::temp_directory_path() / ("fuzz-" + what + "-" + std::to_string(getpid()) + ".input")).string();
    std::signal(SIGPROF, [](int) { fail("an input that takes too long"); });
    std::signal(SIGSEGV, [](int) { fail("a crash"); });
    std::signal(SIGFPE, [](int) { fail("a crash"); });
    std::signal(SIGABRT, [](int) { fail("an abort"); });
    const std::unique_ptr<Fuzz> fuzz = make_fuzz(what, seed);
    if (!fuzz || amount.empty()) {
        std::fprintf(stderr, "usage: fuzz_readers scene|mesh|run SECONDS|xINPUTS [SEED]\n");
        return 2;
    }
    const bool counted = amount[0] == 'x';
    const double limit = std::strtod(amount.c_str() + (counted ? 1 : 0), nullptr);
    const auto begin = std::chrono::steady_clock::now();
    std::int64_t inputs = 0;
    const auto seconds = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    for (; (counted ? static_cast<double>(inputs) : seconds()) < limit; ++inputs) fuzz->next();
    std::printf("%s: %lld inputs, no fault\n", what.c_str(), static_cast<long long>(inputs));
    fs::remove(input_path);
    return 0;
}
