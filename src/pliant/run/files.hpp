#pragma once
// Names inside a run directory.

#include "pliant/core/types.hpp"

#include <filesystem>

namespace pliant {

namespace run_file {
inline constexpr char scene[] = "scene.yaml";             ///< the resolved scene, stands alone
inline constexpr char info[] = "run.json";                ///< version, machine, settings, summary
inline constexpr char stats[] = "stats.csv";              ///< one line a step
inline constexpr char forces[] = "forces.csv";            ///< one line a step and pair of bodies in contact
inline constexpr char mesh[] = "mesh";                    ///< bodies and triangles
inline constexpr char checkpoint[] = "checkpoint";        ///< the whole state
inline constexpr char frames[] = "frames";                ///< directory of NNNNNN.frame
inline constexpr char meshes[] = "meshes";                ///< copies of the mesh files that the scene names
inline constexpr char certificate[] = "certificate.json"; ///< what `pliant check` has found
inline constexpr char report[] = "report.html";           ///< one page about the run

std::filesystem::path frame(const std::filesystem::path& directory, Index number);
} // namespace run_file

/// Frames 0, 1, ... that exist without a hole.
Index count_frames(const std::filesystem::path& directory);

/// Removes frames, from the given number on.
void remove_frames(const std::filesystem::path& directory, Index from);

/// Removes what a killed process left half-written.
void remove_temporary_files(const std::filesystem::path& directory);

} // namespace pliant
