#pragma once
// Pictures without a GPU: ray tracing with Embree on all cores. Geometry in, picture out; the same geometry and options
// give the same bytes, whatever the number of threads.

#include "pliant/show/camera.hpp"
#include "pliant/show/image.hpp"
#include "pliant/world/world.hpp"

#include <optional>

namespace pliant {

/// Yellow for rigid bodies, orange for solids, red for cloth, as in figure 4 of [Otaduy09], grey-blue for obstacles.
/// Linear RGB in [0, 1]; bodies of a kind differ slightly in hue and lightness by their number.
Vec3 body_colour(BodyKind kind, Index number);

struct RenderBody {
    Vec3s positions; ///< [m]
    std::vector<Triangle> triangles;
    Vec3 colour = Vec3(0.6, 0.6, 0.6); ///< linear RGB
    bool smooth = true;                ///< smooth normals; edges sharper than RenderOptions::crease_angle stay sharp
    std::vector<Index> marked;         ///< triangles drawn in magenta, such as those that penetrate
    Vec3s vertex_colours;              ///< linear RGB, instead of `colour`; empty: none
};

/// An arrow drawn over the picture, such as a contact force.
struct RenderArrow {
    Vec3 from, to;
    Vec3 colour = Vec3(0.05, 0.25, 0.8);
};

struct RenderScene {
    std::vector<RenderBody> bodies;
    std::vector<RenderArrow> arrows;
    Vec3 up = Vec3::UnitY();
    std::optional<Real> ground; ///< height of the ground plane along `up`, which catches shadows; absent: no ground
};

struct RenderOptions {
    Index width = 1280, height = 720;
    Camera camera;
    Index samples = 32;        ///< per pixel, each with one ray to the light and one to the sky
    Real crease_angle = 0.7;   ///< [rad]
    Real light_radius = 0.07;  ///< angular radius of the light [rad]: the softness of shadows
    Real arrow_radius = 0.004; ///< of the height of the picture
};

/// A square of an infinite plane, to show obstacles that are not level: thin, `size` wide, its upper face through
/// `point`.
RenderBody plane_patch(const Vec3& point, const Vec3& normal, Real size, const Vec3& colour);

/// Box of everything in the scene, to frame a picture or (joined over frames) a whole motion.
Box3 bounding_box(const RenderScene& scene);

Image render(const RenderScene& scene, const RenderOptions& options);

} // namespace pliant
