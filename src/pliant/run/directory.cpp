#include "pliant/run/directory.hpp"

#include "pliant/core/hash.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/run/array_file.hpp"
#include "pliant/run/files.hpp"
#include "pliant/run/reader.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace pliant {
namespace {

namespace fs = std::filesystem;

constexpr char scene_header[] = "# The scene of this run, with everything resolved.";

/// True when everything in the directory has the name of a file of ours: a run that was killed while it started.
bool holds_only_run_files(const fs::path& directory)
{
    std::error_code status;
    for (const auto& entry : fs::directory_iterator(directory, status)) {
        fs::path name = entry.path().filename();
        if (name.extension() == ".tmp") name.replace_extension();
        const bool ours = name == run_file::scene || name == run_file::info || name == run_file::stats ||
                          name == run_file::forces || name == run_file::frames || name == run_file::meshes ||
                          name == run_file::mesh;
        if (!ours) return false;
    }
    return true;
}

/// A scene.yaml that a run has not written is the user's own.
bool holds_own_scene_file(const fs::path& directory)
{
    std::ifstream stream(directory / run_file::scene);
    std::string line;
    return stream && !(std::getline(stream, line) && line == scene_header);
}

/// "; first difference: 'friction: 0.3' here, 'friction: 0.5' there".
std::string first_difference(const std::string& ours, const std::string& theirs)
{
    std::istringstream a(ours), b(theirs);
    std::string line_a, line_b;
    const auto trim = [](const std::string& s) { return s.substr(std::min(s.find_first_not_of(' '), s.size())); };
    for (;;) {
        const bool more_a = static_cast<bool>(std::getline(a, line_a)),
                   more_b = static_cast<bool>(std::getline(b, line_b));
        if (!more_a && !more_b) return "";
        if (!more_a) line_a.clear();
        if (!more_b) line_b.clear();
        if (line_a != line_b) return " (it has '" + trim(line_b) + "', the scene has '" + trim(line_a) + "')";
    }
}

bool is_finished(const fs::path& directory)
{
    try {
        return read_run_info(directory).value("summary", nlohmann::json::object()).value("status", "") == "finished";
    } catch (const Error&) {
        return false;
    }
}

} // namespace

std::string scene_identity(const Scene& scene)
{
    Scene bare = scene;
    for (const char* key : {"title", "about", "expect"}) bare.document.erase(key);
    bare.document.find("time")->erase("end");
    return to_yaml(bare);
}

std::uint64_t identity_hash(const std::string& identity)
{
    Hash hash;
    hash.bytes(identity.data(), identity.size());
    return hash.value();
}

DirectoryLock::DirectoryLock(const fs::path& directory)
    : file_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
{
    if (file_ < 0) throw Error(directory.string() + ": cannot open: " + std::strerror(errno));
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        ::close(file_);
        throw Error(directory.string() + ": another pliant is writing into this directory");
    }
}

DirectoryLock::~DirectoryLock()
{
    ::close(file_);
}

void check_directory(const Scene& scene, const fs::path& directory, bool resume, bool force)
{
    std::error_code status;
    if (!fs::exists(directory, status)) return;
    if (!fs::is_directory(directory, status)) throw Error(directory.string() + ": exists and is not a directory");
    if (fs::is_empty(directory, status)) return;
    if (holds_own_scene_file(directory))
        throw Error((directory / run_file::scene).string() +
                    ": was not written by a run and would be overwritten; choose another directory");
    if (!fs::exists(directory / run_file::info, status)) {
        if (force || holds_only_run_files(directory)) return;
        throw Error(directory.string() + ": is not empty and holds no run; choose another directory or add --force");
    }
    std::string theirs;
    try {
        theirs = scene_identity(load_scene(directory / run_file::scene));
    } catch (const Error&) {
        if (!force)
            throw Error(directory.string() + ": holds a run whose scene cannot be read; add --force to replace it");
    }
    const std::string ours = scene_identity(scene);
    if (ours != theirs) {
        if (force && !resume) return;
        throw Error(directory.string() + ": holds a run of another scene" + first_difference(ours, theirs) +
                    (resume ? "; it cannot be resumed with this one" : "; choose another directory or add --force"));
    }
    if (resume || force || is_finished(directory) || !fs::exists(directory / run_file::checkpoint, status)) return;
    throw Error(directory.string() +
                ": holds an unfinished run of this scene; add --resume to continue it, or --force to start over");
}

void save_scene(const Scene& scene, const fs::path& directory)
{
    for (const SceneFile& file : scene.files) {
        const fs::path copy = directory / file.stored;
        std::error_code status;
        if (fs::exists(copy, status)) continue; // the name holds a hash of the content
        fs::create_directories(copy.parent_path(), status);
        write_atomically(copy, std::string_view(read_file(file.path)));
    }
    write_atomically(directory / run_file::scene, std::string(scene_header) + "\n" + to_yaml(scene));
}

} // namespace pliant
