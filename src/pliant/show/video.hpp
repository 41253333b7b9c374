#pragma once
#include "pliant/show/image.hpp"

#include <filesystem>
#include <memory>

namespace pliant {

/// An mp4 (H.264) written through a pipe to the ffmpeg program. The file appears when finish() succeeds; a writer that
/// is destroyed before leaves nothing behind. Throws Error when ffmpeg is missing or fails, with its own words.
class VideoWriter {
public:
    VideoWriter(const std::filesystem::path& path, Index width, Index height, Real fps);
    ~VideoWriter();
    VideoWriter(const VideoWriter&) = delete;
    VideoWriter& operator=(const VideoWriter&) = delete;

    void add(const Image& image);
    void finish();

private:
    struct Process;
    [[noreturn]] void fail();
    std::filesystem::path path_, temporary_;
    Index width_, height_;
    std::unique_ptr<Process> process_;
};

} // namespace pliant
