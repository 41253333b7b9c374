#pragma once
// Whose directory it is, and whether a run may write into it.

#include "pliant/scene/scene.hpp"

namespace pliant {

/// What is simulated, as text: the resolved scene without what does not change a single state (title, end, expect).
std::string scene_identity(const Scene& scene);
std::uint64_t identity_hash(const std::string& identity);

/// Holds the directory against other processes until destroyed.
class DirectoryLock {
public:
    explicit DirectoryLock(const std::filesystem::path& directory); ///< throws Error when another process has it
    DirectoryLock(const DirectoryLock&) = delete;
    DirectoryLock& operator=(const DirectoryLock&) = delete;
    ~DirectoryLock();

private:
    int file_ = -1;
};

/// Refuses to touch what is not ours: throws Error for a directory that holds something else than a run, a run of
/// another scene, or (without `resume`) an unfinished run, unless `force`. Creates nothing.
void check_directory(const Scene& scene, const std::filesystem::path& directory, bool resume, bool force);

/// Writes the resolved scene and copies of its mesh files.
void save_scene(const Scene& scene, const std::filesystem::path& directory);

} // namespace pliant
