#pragma once
// Runs the built pliant command as a user would.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace pliant {

struct ProcessResult {
    int code = -1;   ///< exit code, or -1 when a signal ended it
    int signal = 0;  ///< that ended it
    std::string out; ///< standard output and error
    std::string last_line() const
    {
        const std::size_t end = out.find_last_not_of('\n');
        if (end == std::string::npos) return "";
        const std::size_t begin = out.find_last_of('\n', end);
        return out.substr(begin == std::string::npos ? 0 : begin + 1,
                          end + 1 - (begin == std::string::npos ? 0 : begin + 1));
    }
};

/// How a process is treated; fields in the order of use.
struct ProcessOptions {
    int signal = 0;                         ///< sent after `delay`, unless the process has ended
    double delay = 0;                       ///< [s]
    rlim_t file_size_limit = RLIM_INFINITY; ///< bytes
    std::string directory;                  ///< to start in
    std::string wait_for;                   ///< a file that must exist before `delay` begins
    std::function<void()> meanwhile = {};   ///< done before the signal is sent
};

inline ProcessResult run_process(const std::vector<std::string>& arguments, const std::string& log,
                                 const ProcessOptions& options = {})
{
    const std::string program = std::string(PLIANT_BINARY_DIR) + "/pliant";
    const pid_t child = fork();
    if (child == 0) {
        const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
        dup2(file, STDOUT_FILENO);
        dup2(file, STDERR_FILENO);
        if (options.file_size_limit != RLIM_INFINITY) {
            const rlimit limit{options.file_size_limit, options.file_size_limit};
            setrlimit(RLIMIT_FSIZE, &limit);
        }
        if (!options.directory.empty() && chdir(options.directory.c_str()) != 0) _exit(126);
        std::vector<char*> argv{const_cast<char*>(program.c_str())};
        for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
        argv.push_back(nullptr);
        execv(program.c_str(), argv.data());
        _exit(127);
    }
    int status = 0;
    if (options.signal != 0) {
        bool ended = false;
        while (!ended && !options.wait_for.empty() && access(options.wait_for.c_str(), F_OK) != 0) {
            ended = waitpid(child, &status, WNOHANG) == child;
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.delay);
        while (!ended && std::chrono::steady_clock::now() < end) {
            ended = waitpid(child, &status, WNOHANG) == child;
            if (!ended) std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
        if (options.meanwhile) options.meanwhile();
        if (!ended) {
            kill(child, options.signal);
            waitpid(child, &status, 0);
        }
    } else {
        waitpid(child, &status, 0);
    }
    ProcessResult result;
    if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    std::ifstream stream(log);
    std::stringstream text;
    text << stream.rdbuf();
    result.out = text.str();
    return result;
}

} // namespace pliant
