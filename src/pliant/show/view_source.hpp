#pragma once
// What the viewer shows, as the bytes and the JSON that its page asks for.

#include "pliant/run/reader.hpp"

#include <mutex>
#include <string>

namespace pliant {

class ViewSource {
public:
    ViewSource() = default;
    ViewSource(const ViewSource&) = delete;
    ViewSource& operator=(const ViewSource&) = delete;
    virtual ~ViewSource() = default;

    /// Bodies, colours, framing, times of the frames, status.
    virtual nlohmann::json description() = 0;
    /// Number of vertices, triangles and cells (u32), rest positions (f32), vertex numbers of the triangles (u32). With
    /// cells also their eight points (u32), numbers of what frames hold, and for each vertex its cell or -1 - its point
    /// (i32) and its place in the cell (3 f32).
    virtual std::string topology() = 0;
    /// See encode_frame(). Throws Error when there is no such frame.
    virtual std::string frame(Index number) = 0;
    /// stats.csv with the lines from the given one on.
    virtual std::string stats(std::size_t first_row) = 0;
    /// Play, pause, step, reset; false when there is nothing to control.
    virtual bool control(const std::string& action) = 0;
};

/// Where the lines of a growing stats.csv begin, so that a page that asks for the newest ones costs only those.
class StatsLines {
public:
    /// Reads on from where the last call stopped.
    void update(const std::filesystem::path& path);
    /// The header and the whole lines from the given one on.
    std::string text(const std::filesystem::path& path, std::size_t first_row) const;

private:
    std::string header_;
    std::vector<std::size_t> begins_; ///< per row: its first byte
    std::size_t end_ = 0;             ///< of the last whole line
};

/// What frames send to the page instead of all vertices: surfaces in lattices are put together there from the nodes.
struct ViewPoints {
    std::vector<Index> vertex;               ///< points that are vertices
    std::vector<Index> block;                ///< points after these: nodes of lattices
    std::vector<std::array<Index, 8>> cells; ///< points at the corners of cells
    std::vector<Index> carrier;              ///< per vertex: its cell, or -1 - its point

    explicit ViewPoints(const RunMesh& mesh);
};

/// A run directory, finished or still growing.
class RunViewSource final : public ViewSource {
public:
    explicit RunViewSource(const std::filesystem::path& directory);

    nlohmann::json description() override;
    std::string topology() override;
    std::string frame(Index number) override;
    std::string stats(std::size_t first_row) override;
    bool control(const std::string&) override { return false; }

private:
    RunReader reader_;
    ViewPoints points_;
    Scene scene_;
    nlohmann::json fixed_; ///< the part of the description that does not change
    std::mutex stats_mutex_;
    StatsLines stats_lines_;
};

/// Little-endian: points, planes, contacts, points with stress (u32); time, step (f64); positions (3 f32 each),
/// planes (normal and offset, 4 f32 each), contacts (position and force on the first body, 6 f32 each), their bodies
/// (2 i32 each), stress (f32 each).
std::string encode_frame(const Frame& frame);

} // namespace pliant
