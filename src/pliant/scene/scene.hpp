#pragma once
// A scene file, checked and resolved, and the world that it describes.

#include "pliant/methods/method.hpp"
#include "pliant/scene/value.hpp"
#include "pliant/world/world.hpp"

#include <filesystem>
#include <optional>

namespace pliant {

/// A part of the steps takes no more than some rounds of constraint manifold refinement.
struct ExpectedRounds {
    std::int64_t most = 0;
    Real part = 0; ///< of the steps at least
};

/// What the scene says must come out.
struct Expectation {
    std::optional<std::int64_t> intersections; ///< at most so many in any frame
    std::optional<Real> penetration;           ///< of a vertex in another body, in any frame at most [m]
    std::optional<Real> at_rest_by;            ///< [s]
    std::optional<Real> rest_speed;            ///< of a body at rest at most [m/s]
    std::optional<std::int64_t> contacts;      ///< at least so many in some step
    std::optional<std::int64_t> layers;        ///< of cloth at least, somewhere in the last frame
    std::optional<bool> sewn;                  ///< every seam, in the last frame
    std::optional<Real> strain_excess;         ///< beyond max-strain in any step at most, over the allowed length
    std::optional<ExpectedRounds> rounds;      ///< of constraint manifold refinement
    std::optional<Real> overlap;               ///< of boxes in any frame, in cells
    std::optional<Real> final_overlap;         ///< of boxes in the last frame, in cells
    std::optional<Real> energy_gain;           ///< at most so much in a step, over the largest kinetic energy
    std::optional<Eigen::AlignedBox<Real, 3>> bounds; ///< of all moving bodies in the last frame [m]
};

/// A mesh file that the scene names, and the name of its copy in a run directory (it holds a hash of the content).
struct SceneFile {
    std::filesystem::path path;
    std::string stored; ///< "meshes/<hash>-<name>"
};

struct Scene {
    std::string path; ///< as the user named it
    std::string title, about;
    Real step = 0; ///< [s]
    Real end = 0;  ///< [s]
    Real fps = 0;  ///< stored frames per second [Hz]
    bool z_up = false;
    Vec3 gravity = {0, -9.81, 0}; ///< [m/s^2]
    MethodOptions method;
    Expectation expect;
    std::vector<SceneFile> files;
    Value document; ///< the resolved scene: includes merged, defaults filled in, numbers in the keys' units

    /// Steps to reach `end`.
    std::int64_t step_count() const;
};

/// Reads, merges, checks. `overrides` are "contact.friction=0.5". Throws Error with the place of the first fault.
Scene load_scene(const std::filesystem::path& path, const std::vector<std::string>& overrides = {});
/// The same for text in memory, called `name` in messages.
Scene parse_scene(const std::string& text, const std::string& name, const std::vector<std::string>& overrides = {});

/// Makes the meshes and bodies. Throws Error (a pin that selects nothing, an open mesh for a rigid body, ...).
World build_world(const Scene& scene);

/// The resolved scene as a YAML file that stands alone, once `files` are copied beside it.
std::string to_yaml(const Scene& scene);

} // namespace pliant
