// Bodies and garments as they come from elsewhere: a sequence of 120 OBJ files with 10,242 vertices, and cloth with
// texture coordinates that starts closer to the body than its gap.

#include "pliant/run/certificate.hpp"
#include "pliant/run/runner.hpp"
#include "run/temporary_directory.hpp"
#include "scene/animation_files.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace pliant {
namespace {

constexpr int frames = 120;

/// A body like a torso that sways and breathes.
Vec3 swayed(const Vec3& x, Real phase)
{
    const Real angle = 2 * std::numbers::pi * phase;
    Vec3 y = {x.x() * (1 + 0.05 * std::sin(3 * angle + 5 * x.y())), 2 * x.y(), 0.7 * x.z()};
    y.x() += 0.25 * y.y() * y.y() * std::sin(angle);
    y.z() += 0.1 * std::sin(2 * angle) * y.y();
    return y;
}

/// The triangles of a finer ball between two heights, a millimetre outside of it, with a cylindrical texture. The body
/// is 2 pi 0.171 m around, like an ellipse of 0.2 and 0.14 m, and the texture 2 pi 0.15 m: so tight that friction holds
/// it.
TriangleMesh sleeve_of(int subdivisions, Real radius)
{
    const TriangleMesh ball = make_sphere(radius, subdivisions);
    TriangleMesh mesh;
    std::vector<Index> number(ball.vertices.size(), none);
    for (Triangle t : ball.triangles) {
        const auto inside = [&](Index v) { return std::abs(ball.vertices[v].y()) < 0.6 * radius; };
        if (!inside(t[0]) || !inside(t[1]) || !inside(t[2])) continue;
        std::array<Vec2, 3> texture;
        Real first = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const Vec3& x = ball.vertices[t[k]];
            Real angle = std::atan2(x.x(), x.z());
            if (k == 0) first = angle;
            angle -= 2 * std::numbers::pi * std::round((angle - first) / (2 * std::numbers::pi));
            texture[k] = {0.75 * radius * angle, 2 * x.y()};
            if (number[t[k]] == none) {
                number[t[k]] = count(mesh.vertices);
                Vec3 out = swayed(x, 0);
                mesh.vertices.push_back(out + 0.001 * Vec3(x.x(), 0.5 * x.y(), 1.43 * x.z()).normalized());
            }
            t[k] = number[t[k]];
        }
        mesh.triangles.push_back(t);
        mesh.texture.push_back(texture);
    }
    return mesh;
}

TEST(Animation, AGarmentThatStartsWithinItsGapStaysOnABodyOfTenThousandVertices)
{
    const TemporaryDirectory folder;
    const TriangleMesh ball = make_sphere(0.2, 5);
    for (int f = 0; f < frames; ++f) {
        TriangleMesh mesh = ball;
        for (Vec3& x : mesh.vertices) x = swayed(x, Real(f) / frames);
        write_triangle_mesh(folder / fmt::format("body_{:03}.obj", f), mesh);
    }
    const TriangleMesh garment = sleeve_of(4, 0.2);
    write_triangle_mesh(folder / "garment.obj", garment);
    EXPECT_EQ(ball.vertices.size(), 10242u);
    EXPECT_GT(garment.triangles.size(), 2500u);
    write_file(folder / "scene.yaml", "time: {step: 4 ms, end: 2 s, fps: 30}\n"
                                      "contact: {friction: 0.4}\n"
                                      "materials: {jersey: {type: cloth, density: 0.2, stretch: 300, drag: 0.5}}\n"
                                      "bodies:\n"
                                      "  body: {obstacle: {sequence: {files: 'body_%03d.obj', fps: 30}}}\n"
                                      "  top: {material: jersey, mesh: {file: garment.obj}, rest: texture}\n");
    const auto begin = std::chrono::steady_clock::now();
    const Scene scene = load_scene(folder / "scene.yaml");
    World world = build_world(scene);
    RecordProperty("load_seconds",
                   std::to_string(std::chrono::duration<Real>(std::chrono::steady_clock::now() - begin).count()));
    RunOptions options;
    options.directory = folder / "run";
    const RunResult result = run_scene(scene, world, options);
    EXPECT_TRUE(result.finished);
    const Certificate c = certify_run(RunReader(folder / "run"));
    EXPECT_TRUE(c.kept());
    EXPECT_EQ(c.intersections, 0);
    Vec3s x;
    surface_positions(world.model, world.state, x);
    for (Index v = world.model.bodies[1].first_vertex; v < count(x); ++v) EXPECT_GT(x[v].y(), -0.6) << "it is still on";
}

} // namespace
} // namespace pliant
