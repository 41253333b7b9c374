#pragma once
// Obstacles whose vertices move one by one: the entries `obstacle.sequence` and `skeleton` of a scene.

#include "pliant/mesh/mesh.hpp"
#include "pliant/scene/value.hpp"
#include "pliant/world/vertex_motion.hpp"

#include <filesystem>

namespace pliant {

/// The files that one name with `*`, `%d` or `%04d` in it stands for, in the order of the numbers there; the name alone
/// when it has none.
std::vector<std::filesystem::path> expand_files(const std::filesystem::path& name);

/// A sequence from its files, in their own coordinates times `scale`.
struct MeshSequence {
    TriangleMesh mesh; ///< the first frame
    std::vector<Vec3s> frames;
    SequenceTiming timing;
};
/// Throws Error with the file for a frame of other triangles or vertices.
MeshSequence read_sequence(const Value& sequence, Real scale);
/// Triangles of the sequence, roughly, before anything is read.
Real estimate_sequence(const Value& sequence);

/// How bones, in the coordinates of the mesh before `scale`, move it; `place` brings what they do to the world.
std::shared_ptr<const VertexMotion> make_skeleton(const Value& skeleton, const TriangleMesh& mesh, Real scale,
                                                  const Pose& place);

} // namespace pliant
