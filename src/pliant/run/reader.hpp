#pragma once
// Read access to a run directory, finished or still growing.

#include "pliant/run/frame.hpp"
#include "pliant/scene/scene.hpp"

#include <nlohmann/json.hpp>

namespace pliant {

/// stats.csv: one row a step.
struct Stats {
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows; ///< [row][column]; a shorter row lacks later columns

    Index column(const std::string& name) const;             ///< none when there is no such column
    std::vector<Real> values(const std::string& name) const; ///< per row; 0 where a row lacks the column
};

/// run.json, with every number and word that programs rely on of the right kind. Throws Error where it is damaged.
nlohmann::json read_run_info(const std::filesystem::path& directory);

class RunReader {
public:
    /// Throws Error when the directory is not a run.
    explicit RunReader(const std::filesystem::path& directory);

    const std::filesystem::path& directory() const { return directory_; }
    const nlohmann::json& info() const { return info_; } ///< run.json
    const RunMesh& mesh() const { return mesh_; }
    const std::vector<RunBody>& bodies() const { return mesh_.bodies; }
    const std::vector<Triangle>& triangles() const { return mesh_.triangles; }
    Index find_body(const std::string& name) const; ///< throws Error with a suggestion

    /// Frames stored so far: 0, 1, ..., frame_count() - 1. Looks at the disk each time.
    Index frame_count() const;
    /// What a frame's file holds: every particle and node, also inside of solids, and the ends of sub-steps. Throws
    /// Error when the frame does not exist or is damaged.
    StoredFrame stored_frame(Index number) const;
    /// The surface in a frame.
    Frame frame(Index number) const { return make_frame(mesh_, stored_frame(number)); }
    std::filesystem::path frame_path(Index number) const;

    Stats stats() const;
    /// The scene that was run.
    Scene scene() const;

private:
    std::filesystem::path directory_;
    nlohmann::json info_;
    RunMesh mesh_;
};

} // namespace pliant
