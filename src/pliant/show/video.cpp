#include "pliant/show/video.hpp"

#include "pliant/core/error.hpp"
#include "pliant/mesh/io.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace pliant {
namespace {

/// Writing to a program that has died must be an error here, not the end of our own process.
class IgnoreBrokenPipe {
public:
    IgnoreBrokenPipe()
    {
        struct sigaction ignore = {};
        ignore.sa_handler = SIG_IGN;
        sigaction(SIGPIPE, &ignore, &before_);
    }
    ~IgnoreBrokenPipe() { sigaction(SIGPIPE, &before_, nullptr); }
    IgnoreBrokenPipe(const IgnoreBrokenPipe&) = delete;
    IgnoreBrokenPipe& operator=(const IgnoreBrokenPipe&) = delete;

private:
    struct sigaction before_ = {};
};

} // namespace

struct VideoWriter::Process {
    pid_t id = -1;
    int input = -1;
    std::filesystem::path log;

    void close_input()
    {
        if (input >= 0) ::close(input);
        input = -1;
    }
    int wait()
    {
        close_input();
        int status = 0;
        if (id > 0)
            while (waitpid(id, &status, 0) < 0 && errno == EINTR) continue;
        id = -1;
        return status;
    }
};

VideoWriter::VideoWriter(const std::filesystem::path& path, Index width, Index height, Real fps)
    : path_(path), temporary_(path.string() + ".part" + std::to_string(::getpid()) + ".mp4"), width_(width),
      height_(height), process_(std::make_unique<Process>())
{
    process_->log = temporary_.string() + ".log";
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        throw Error(path.string() + ": cannot open a pipe: " + std::strerror(errno) + ".");
    const std::string size = std::to_string(width) + "x" + std::to_string(height), rate = std::to_string(fps);
    const std::string out = std::filesystem::absolute(temporary_).string(); // never looks like an option
    const std::vector<std::string> arguments = {
        "ffmpeg",    "-y",         "-loglevel", "error",
        "-f",        "rawvideo",   "-pix_fmt",  "rgb24",
        "-s",        size,         "-r",        rate,
        "-i",        "-",          "-vf",       "pad=ceil(iw/2)*2:ceil(ih/2)*2", // H.264 wants even sides
        "-c:v",      "libx264",    "-preset",   "medium",
        "-crf",      "18",         "-pix_fmt",  "yuv420p",
        "-movflags", "+faststart", out};
    std::vector<char*> argv;
    for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, process_->log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0644);
    const int failure = posix_spawnp(&process_->id, "ffmpeg", &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[0]);
    process_->input = ends[1];
    if (failure == 0) return;
    process_->id = -1;
    process_->close_input();
    if (failure == ENOENT && std::filesystem::is_directory(path.parent_path().empty() ? "." : path.parent_path()))
        throw Error(path.string() +
                    ": films need the program ffmpeg, which is not installed (Debian: apt install ffmpeg).");
    throw Error(path.string() + ": cannot start ffmpeg: " + std::strerror(failure) + ".");
}

VideoWriter::~VideoWriter()
{
    if (!process_) return;
    process_->wait();
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
    std::filesystem::remove(process_->log, ignored);
}

void VideoWriter::fail()
{
    process_->wait();
    std::string words;
    try {
        words = read_file(process_->log);
    } catch (const Error&) {
    }
    words = words.substr(0, words.find('\n'));
    throw Error(path_.string() + ": ffmpeg failed" + (words.empty() ? "" : ": " + words) + ".");
}

void VideoWriter::add(const Image& image)
{
    if (image.width != width_ || image.height != height_)
        throw Error(path_.string() + ": all pictures of a film must have the same size.");
    const IgnoreBrokenPipe guard;
    const auto* data = reinterpret_cast<const char*>(image.rgb.data());
    for (std::size_t left = image.rgb.size(); left > 0;) {
        const ssize_t n = ::write(process_->input, data, left);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) fail();
        data += n;
        left -= static_cast<std::size_t>(n);
    }
}

void VideoWriter::finish()
{
    if (process_->wait() != 0) fail();
    std::error_code code;
    std::filesystem::remove(process_->log, code);
    std::filesystem::rename(temporary_, path_, code);
    if (code) throw Error(path_.string() + ": cannot write the file: " + code.message() + ".");
}

} // namespace pliant
