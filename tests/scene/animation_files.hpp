#pragma once
// Sequences of mesh files for tests: a ball that swells, shrinks and moves.

#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/io.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <numbers>

namespace pliant {

/// The ball in a frame: moved along x, with a wave over its surface.
inline TriangleMesh pulsing_ball(Real radius, int subdivisions, Real phase)
{
    TriangleMesh mesh = make_sphere(radius, subdivisions);
    for (Vec3& x : mesh.vertices) {
        x *= 1 + 0.1 * std::sin(2 * std::numbers::pi * phase + 4 * x.y() / radius);
        x.x() += 0.05 * std::sin(2 * std::numbers::pi * phase);
    }
    return mesh;
}

/// Writes frames as ball_0.obj, ball_1.obj, ... (numbers without zeros in front) and returns their places.
inline std::vector<Vec3s> write_ball_sequence(const std::filesystem::path& folder, int frames, int subdivisions = 2,
                                              const std::string& extension = "obj")
{
    std::vector<Vec3s> places;
    for (int f = 0; f < frames; ++f) {
        const TriangleMesh mesh = pulsing_ball(0.2, subdivisions, Real(f) / frames);
        write_triangle_mesh(folder / fmt::format("ball_{}.{}", f, extension), mesh);
        places.push_back(mesh.vertices);
    }
    return places;
}

inline void append_word(std::string& out, std::uint32_t word, bool big_endian)
{
    for (int k = 0; k < 4; ++k) out += static_cast<char>(word >> (8 * (big_endian ? 3 - k : k)) & 255);
}
inline void append_float(std::string& out, Real value, bool big_endian)
{
    append_word(out, std::bit_cast<std::uint32_t>(static_cast<float>(value)), big_endian);
}

inline std::string pc2_bytes(const std::vector<Vec3s>& samples, Real frame_step = 1)
{
    std::string out("POINTCACHE2\0", 12);
    append_word(out, 1, false);
    append_word(out, static_cast<std::uint32_t>(samples[0].size()), false);
    append_float(out, 0, false);
    append_float(out, frame_step, false);
    append_word(out, static_cast<std::uint32_t>(samples.size()), false);
    for (const Vec3s& sample : samples)
        for (const Vec3& x : sample)
            for (int k = 0; k < 3; ++k) append_float(out, x[k], false);
    return out;
}

inline std::string mdd_bytes(const std::vector<Vec3s>& samples, Real interval)
{
    std::string out;
    append_word(out, static_cast<std::uint32_t>(samples.size()), true);
    append_word(out, static_cast<std::uint32_t>(samples[0].size()), true);
    for (std::size_t s = 0; s < samples.size(); ++s) append_float(out, interval * static_cast<Real>(s), true);
    for (const Vec3s& sample : samples)
        for (const Vec3& x : sample)
            for (int k = 0; k < 3; ++k) append_float(out, x[k], true);
    return out;
}

} // namespace pliant
