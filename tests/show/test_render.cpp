#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/show/render.hpp"

#include <gtest/gtest.h>

#include <limits>

using namespace pliant;

namespace {

RenderBody body_of(TriangleMesh mesh, const Vec3& at, const Vec3& colour)
{
    for (Vec3& x : mesh.vertices) x += at;
    return {std::move(mesh.vertices), std::move(mesh.triangles), colour, true, {}, {}};
}

RenderScene ball_on_ground(const Vec3& up = Vec3::UnitY())
{
    RenderScene scene;
    scene.up = up;
    scene.ground = 0;
    scene.bodies.push_back(body_of(make_sphere(0.5, 3), 0.5 * up, body_colour(BodyKind::cloth, 0)));
    return scene;
}

RenderOptions small(const RenderScene& scene, Index width = 160, Index height = 90)
{
    RenderOptions options;
    options.width = width;
    options.height = height;
    options.samples = 8;
    options.camera = frame_box(bounding_box(scene), scene.up, Real(width) / height);
    return options;
}

bool is_red(const std::uint8_t* p)
{
    return p[0] > 60 && p[0] > 2 * p[1] && p[0] > 2 * p[2];
}

Real brightness(const std::uint8_t* p)
{
    return (p[0] + p[1] + p[2]) / 765.0;
}

/// Pixel where the camera sees a point.
std::pair<Index, Index> project(const RenderOptions& options, const Vec3& x)
{
    const Camera& c = options.camera;
    const Vec3 d = x - c.eye, above = c.right().cross(c.forward());
    const Real scale = options.height / (2 * std::tan(c.fov / 2) * d.dot(c.forward()));
    return {static_cast<Index>(options.width / 2.0 + scale * d.dot(c.right())),
            static_cast<Index>(options.height / 2.0 - scale * d.dot(above))};
}

} // namespace

TEST(Render, ShowsTheBodyInItsColourWithinTheFrame)
{
    for (const Vec3& up : {Vec3(Vec3::UnitY()), Vec3(Vec3::UnitZ())}) {
        const RenderScene scene = ball_on_ground(up);
        const Image image = render(scene, small(scene));
        Index red = 0, left = image.width, right = 0, top = image.height, bottom = 0;
        for (Index y = 0; y < image.height; ++y)
            for (Index x = 0; x < image.width; ++x)
                if (is_red(image.at(x, y))) {
                    ++red;
                    left = std::min(left, x), right = std::max(right, x);
                    top = std::min(top, y), bottom = std::max(bottom, y);
                }
        EXPECT_GT(red, 1000);
        EXPECT_GT(top, 2);
        EXPECT_LT(bottom, image.height - 3);
        EXPECT_GT(bottom - top, image.height / 2) << "the frame is filled";
        EXPECT_NEAR((left + right) / 2.0, image.width / 2.0, 4) << "and centred";
    }
}

TEST(Render, GivesTheSameBytesForAnyNumberOfThreads)
{
    const RenderScene scene = ball_on_ground();
    const Image first = render(scene, small(scene));
    set_thread_count(1);
    const Image one = render(scene, small(scene));
    set_thread_count(0);
    EXPECT_EQ(first.rgb, one.rgb);
}

TEST(Render, BodiesCastSoftShadowsOnTheGround)
{
    RenderScene scene = ball_on_ground();
    const RenderOptions options = small(scene);
    const Image with = render(scene, options);
    scene.bodies[0].positions.assign(scene.bodies[0].positions.size(), Vec3(0, 1e3, 0)); // out of sight
    const Image without = render(scene, options);
    const auto [x, y] = project(options, {0, 0.001, 0});
    Index darker = 0, partly = 0;
    Real lowest = 1;
    for (Index py = 0; py < with.height; ++py)
        for (Index px = 0; px < with.width; ++px) {
            if (is_red(with.at(px, py))) continue;
            const Real ratio = brightness(with.at(px, py)) / brightness(without.at(px, py));
            EXPECT_LT(ratio, 1.02) << "a body takes light from the ground, it adds none";
            lowest = std::min(lowest, ratio);
            darker += ratio < 0.75;
            partly += ratio > 0.75 && ratio < 0.95;
        }
    EXPECT_GT(darker, 30);
    EXPECT_GT(partly, 30);
    EXPECT_LT(lowest, 0.65);
    EXPECT_GT(x, 0);
    EXPECT_LT(y, with.height);
}

TEST(Render, TheBackgroundIsNeutralAndSmooth)
{
    RenderScene scene = ball_on_ground();
    scene.bodies.clear();
    RenderOptions options = small(ball_on_ground());
    const Image image = render(scene, options);
    for (Index y = 0; y < image.height; ++y)
        for (Index x = 0; x < image.width; ++x) {
            const std::uint8_t* p = image.at(x, y);
            ASSERT_NEAR(p[0], p[2], 8);
            ASSERT_GT(p[0], 150);
            if (x > 0) {
                ASSERT_NEAR(p[1], image.at(x - 1, y)[1], 3);
            }
        }
}

TEST(Render, MarkedTrianglesAreMagentaAndArrowsShineThrough)
{
    RenderScene scene = ball_on_ground();
    const RenderOptions options = small(scene);
    const auto magenta = [](const Image& image) {
        Index n = 0;
        for (Index y = 0; y < image.height; ++y)
            for (Index x = 0; x < image.width; ++x) {
                const std::uint8_t* p = image.at(x, y);
                n += p[0] > 100 && p[2] > 100 && p[2] > 1.5 * p[1];
            }
        return n;
    };
    EXPECT_EQ(magenta(render(scene, options)), 0);
    for (Index t = 0; t < count(scene.bodies[0].triangles); ++t) scene.bodies[0].marked.push_back(t);
    EXPECT_GT(magenta(render(scene, options)), 1000);
    scene.bodies[0].marked.clear();
    const Image before = render(scene, options);
    scene.arrows.push_back({{0, 0.5, 0}, {0, 0.9, 0}, {0, 0, 1}}); // wholly inside the ball
    const Image after = render(scene, options);
    const auto [x, y] = project(options, {0, 0.7, 0});
    EXPECT_GT(after.at(x, y)[2], before.at(x, y)[2] + 50);
}

TEST(Render, ColoursOfVerticesReplaceThatOfTheBody)
{
    RenderScene scene = ball_on_ground();
    RenderBody& ball = scene.bodies[0];
    for (const Vec3& x : ball.positions)
        ball.vertex_colours.push_back(x.y() > 0.5 ? Vec3(0.05, 0.05, 0.8) : Vec3(0.8, 0.05, 0.05));
    const RenderOptions options = small(scene);
    const Image image = render(scene, options);
    const auto blue_over_red = [&](const Vec3& x) {
        const auto [column, row] = project(options, x);
        const std::uint8_t* p = image.at(column, row);
        return Real(p[2]) / std::max<int>(1, p[0]);
    };
    const Vec3 back = -options.camera.forward(), above(0, 0.25, 0);
    EXPECT_GT(blue_over_red(Vec3(0, 0.5, 0) + 0.4 * back + above), 1.5);
    EXPECT_LT(blue_over_red(Vec3(0, 0.5, 0) + 0.4 * back - 2 * above), 0.7);
    ball.vertex_colours.pop_back();
    EXPECT_THROW(render(scene, options), Error);
}

TEST(Render, CreasesStaySharpAndRoundThingsSmooth)
{
    RenderScene box;
    box.bodies.push_back(body_of(make_box({1, 1, 1}, {4, 4, 4}), {0, 0, 0}, {0.5, 0.5, 0.5}));
    RenderOptions options = small(box);
    const Image smooth = render(box, options);
    box.bodies[0].smooth = false;
    EXPECT_EQ(smooth.rgb, render(box, options).rgb) << "a box has no smooth edge";
    RenderScene ball = ball_on_ground();
    const Image round = render(ball, small(ball));
    ball.bodies[0].smooth = false;
    EXPECT_NE(round.rgb, render(ball, small(ball)).rgb);
}

TEST(Render, RefusesNonFiniteGeometryAndSenselessSizes)
{
    RenderScene scene = ball_on_ground();
    RenderOptions options = small(scene);
    options.width = 0;
    EXPECT_THROW(render(scene, options), Error);
    options.width = 16;
    options.samples = 0;
    EXPECT_THROW(render(scene, options), Error);
    options.samples = 1;
    scene.bodies[0].positions[3].x() = std::numeric_limits<Real>::quiet_NaN();
    EXPECT_THROW(render(scene, options), Error);
    scene = ball_on_ground();
    scene.bodies[0].triangles[0][0] = count(scene.bodies[0].positions);
    EXPECT_THROW(render(scene, options), Error);
    scene = ball_on_ground();
    scene.bodies[0].positions[3].x() = 1e300;
    EXPECT_THROW(render(scene, options), Error);
    scene = ball_on_ground();
    options.camera.eye.y() = std::numeric_limits<Real>::infinity();
    EXPECT_THROW(render(scene, options), Error);
}

TEST(Render, PatchesOfPlanesLieBelowTheirPlane)
{
    const Vec3 point(1, 2, 3), normal = Vec3(0.3, 1, -0.2).normalized();
    const RenderBody patch = plane_patch(point, normal, 4, {0.5, 0.5, 0.5});
    Index on = 0;
    for (const Vec3& x : patch.positions) {
        EXPECT_LT((x - point).dot(normal), 1e-12);
        on += std::abs((x - point).dot(normal)) < 1e-12;
    }
    EXPECT_EQ(on, 4);
}

TEST(Camera, SeesTheWholeBoxFromAnyDirectionAndTouchesTheMargin)
{
    Box3 box;
    box.add({-1, 0, -3});
    box.add({2, 0.5, 4});
    for (const Real azimuth : {-2.0, 0.0, 0.45, 3.0})
        for (const Real elevation : {-0.3, 0.0, 0.35, 1.2})
            for (const Real aspect : {0.5, 16.0 / 9}) {
                View view;
                view.azimuth = azimuth;
                view.elevation = elevation;
                const Camera c = frame_box(box, Vec3::UnitY(), aspect, view);
                const Vec3 above = c.right().cross(c.forward());
                Real widest = 0;
                for (int k = 0; k < 8; ++k) {
                    const Vec3 x(k & 1 ? 2 : -1, k & 2 ? 0.5 : 0, k & 4 ? 4 : -3);
                    const Vec3 d = x - c.eye;
                    ASSERT_GT(d.dot(c.forward()), 0);
                    const Real t = std::tan(c.fov / 2) * d.dot(c.forward());
                    widest = std::max({widest, std::abs(d.dot(above)) / t, std::abs(d.dot(c.right())) / (t * aspect)});
                }
                EXPECT_LT(widest, 1 - 2 * view.margin + 1e-9);
                EXPECT_GT(widest, 1 - 2 * view.margin - 0.02);
            }
}

TEST(BodyColours, KindsAreFarApartAndBodiesOfAKindDiffer)
{
    const auto hue_order = [](const Vec3& c) { return c.y() / c.x(); };
    for (Index n = 0; n < 40; ++n) {
        const Vec3 rigid = body_colour(BodyKind::rigid, n), solid = body_colour(BodyKind::solid, n);
        const Vec3 cloth = body_colour(BodyKind::cloth, n), obstacle = body_colour(BodyKind::obstacle, n);
        EXPECT_GT(hue_order(rigid), hue_order(solid));
        EXPECT_GT(hue_order(solid), hue_order(cloth));
        EXPECT_GT(obstacle.z(), obstacle.x());
        for (const Vec3& c : {rigid, solid, cloth, obstacle}) {
            EXPECT_GE(c.minCoeff(), 0);
            EXPECT_LE(c.maxCoeff(), 1);
        }
        for (Index m = 0; m < n; ++m)
            if (n < 8) {
                EXPECT_GT((body_colour(BodyKind::solid, m) - solid).norm(), 0.003);
            }
    }
}
