#include "pliant/show/render.hpp"

#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/show/normals.hpp"

#include <embree3/rtcore.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>

namespace pliant {
namespace {

using std::numbers::pi;

struct DeviceDeleter {
    void operator()(RTCDevice device) const { rtcReleaseDevice(device); }
};
struct SceneDeleter {
    void operator()(RTCScene scene) const { rtcReleaseScene(scene); }
};
using Device = std::unique_ptr<RTCDeviceTy, DeviceDeleter>;
using Scene = std::unique_ptr<RTCSceneTy, SceneDeleter>;

constexpr unsigned no_hit = RTC_INVALID_GEOMETRY_ID;

/// 32 well-mixed bits of a pixel (finaliser of MurmurHash3).
std::uint32_t hash_of(Index x, Index y, std::uint32_t salt)
{
    std::uint32_t h = static_cast<std::uint32_t>(x) * 0x9e3779b1u ^ static_cast<std::uint32_t>(y) * 0x85ebca77u ^ salt;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

/// Points of a unit disc that fill it evenly (Vogel's spiral), the same for every pixel; a pixel turns them and visits
/// them in another order, so that its errors differ from its neighbours' and look like fine grain.
class DiscPoints {
public:
    explicit DiscPoints(Index n) : points_(n)
    {
        for (Index i = 0; i < n; ++i) {
            const Real r = std::sqrt((i + 0.5) / n), a = i * pi * (3 - std::sqrt(5.0));
            points_[i] = {r * std::cos(a), r * std::sin(a)};
        }
        while (std::gcd(stride_, n) != 1) ++stride_;
    }
    struct Turn {
        Real c, s;
        Index first;
    };
    Turn turn(std::uint32_t hash) const
    {
        const Real a = 2 * pi * hash / 4294967296.0;
        return {std::cos(a), std::sin(a), static_cast<Index>(hash % static_cast<std::uint32_t>(points_.size()))};
    }
    Vec2 operator()(Index sample, const Turn& t) const
    {
        const Vec2& p = points_[(std::int64_t(sample) * stride_ + t.first) % static_cast<std::int64_t>(points_.size())];
        return {t.c * p.x() - t.s * p.y(), t.s * p.x() + t.c * p.y()};
    }

private:
    std::vector<Vec2> points_;
    Index stride_ = 7;
};

/// Two unit vectors that complete n.
void basis_of(const Vec3& n, Vec3& s, Vec3& t)
{
    s = (std::abs(n.x()) < 0.7 ? Vec3::UnitX() : Vec3::UnitY()).cross(n).normalized();
    t = n.cross(s);
}

struct Hit {
    Real distance = std::numeric_limits<Real>::infinity();
    Index body = none, triangle = none; ///< both none on the ground
    Real u = 0, v = 0;
    bool found() const { return std::isfinite(distance); }
};

/// Embree's own threads are TBB's: none in the build that cannot see into them.
constexpr const char* device_options = PLIANT_PLAIN_THREADS ? "threads=1" : nullptr;

class Tracer {
public:
    Tracer(const RenderScene& scene, const RenderOptions& options)
        : scene_(scene), options_(options), device_(rtcNewDevice(device_options)),
          tangent_(std::tan(options.camera.fov / 2)), disc_(options.samples)
    {
        if (!device_) throw Error("Embree could not be started.");
        const Box3 box = bounding_box(scene);
        centre_ = box.empty() ? Vec3(Vec3::Zero()) : box.centre();
        radius_ = std::max(box.diagonal() / 2, 1e-9);
        world_ = build(scene.bodies);
        for (const RenderBody& body : scene.bodies) {
            normals_.push_back(body.smooth ? corner_normals(body.positions, body.triangles, options.crease_angle)
                                           : Vec3s());
            marked_.emplace_back();
            if (body.marked.empty()) continue;
            marked_.back().assign(body.triangles.size(), 0);
            for (const Index t : body.marked)
                if (t >= 0 && t < count(body.triangles)) marked_.back()[t] = 1;
        }
        build_arrows();
        const Camera& c = options.camera;
        forward_ = c.forward();
        right_ = c.right();
        above_ = right_.cross(forward_);
        light_ = (-0.55 * right_ + 1.1 * scene.up - 0.45 * forward_).normalized();
        light_ = (light_ + 0.2 * scene.up).normalized();
        basis_of(light_, light_s_, light_t_);
    }

    /// Linear colour of a pixel.
    Vec3 pixel(Index x, Index y) const
    {
        const DiscPoints::Turn light = disc_.turn(hash_of(x, y, 1)), sky = disc_.turn(hash_of(x, y, 2));
        const Real shift = hash_of(x, y, 3) / 4294967296.0;
        Vec3 sum = Vec3::Zero();
        for (Index s = 0; s < options_.samples; ++s) {
            const Real u = (s + 0.5) / options_.samples, v = fraction(shift + s * 0.6180339887498949);
            sum += sample(x + u, y + v, disc_(s, light), disc_(s, sky));
        }
        return sum / options_.samples;
    }

private:
    Scene build(const std::vector<RenderBody>& bodies) const
    {
        Scene result(rtcNewScene(device_.get()));
        rtcSetSceneFlags(result.get(), RTC_SCENE_FLAG_ROBUST);
        for (std::size_t b = 0; b < bodies.size(); ++b) {
            const RenderBody& body = bodies[b];
            if (body.triangles.empty()) continue;
            RTCGeometry geometry = rtcNewGeometry(device_.get(), RTC_GEOMETRY_TYPE_TRIANGLE);
            auto* vertices = static_cast<float*>(rtcSetNewGeometryBuffer(
                geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 3 * sizeof(float), body.positions.size()));
            auto* indices = static_cast<unsigned*>(rtcSetNewGeometryBuffer(
                geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 3 * sizeof(unsigned), body.triangles.size()));
            if (!vertices || !indices) throw Error("Embree has no memory for the picture's geometry.");
            for (std::size_t v = 0; v < body.positions.size(); ++v)
                for (int k = 0; k < 3; ++k)
                    vertices[3 * v + k] = static_cast<float>((body.positions[v][k] - centre_[k]) / radius_);
            for (std::size_t t = 0; t < body.triangles.size(); ++t)
                for (int k = 0; k < 3; ++k) indices[3 * t + k] = static_cast<unsigned>(body.triangles[t][k]);
            rtcCommitGeometry(geometry);
            rtcAttachGeometryByID(result.get(), geometry, static_cast<unsigned>(b));
            rtcReleaseGeometry(geometry);
        }
        rtcCommitScene(result.get());
        return result;
    }

    /// Arrows are a scene of their own that only the eye sees: they shine through bodies and cast no shadow.
    void build_arrows()
    {
        std::vector<RenderBody> meshes;
        for (const RenderArrow& arrow : scene_.arrows) {
            const Real distance = (arrow.from - options_.camera.eye).norm();
            const Real r = options_.arrow_radius * 2 * std::tan(options_.camera.fov / 2) * distance;
            meshes.push_back(arrow_mesh(arrow, r));
        }
        if (!meshes.empty()) overlay_ = build(meshes);
    }

    static RenderBody arrow_mesh(const RenderArrow& arrow, Real r)
    {
        RenderBody mesh;
        const Vec3 d = arrow.to - arrow.from;
        const Real length = d.norm(), head = std::min(length, 5 * r);
        Vec3 s, t;
        const Vec3 axis = length > 0 ? Vec3(d / length) : Vec3(Vec3::UnitY());
        basis_of(axis, s, t);
        constexpr int n = 12;
        const std::array<std::pair<Real, Real>, 4> profile = {
            {{0, r}, {length - head, r}, {length - head, 2.5 * r}, {length, 0}}};
        for (const auto& [along, radius] : profile)
            for (int k = 0; k < n; ++k) {
                const Real a = 2 * pi * k / n;
                mesh.positions.push_back(arrow.from + along * axis + radius * (std::cos(a) * s + std::sin(a) * t));
            }
        for (int row = 0; row < 3; ++row)
            for (int k = 0; k < n; ++k) {
                const Index a = row * n + k, b = row * n + (k + 1) % n;
                mesh.triangles.push_back({a, b, b + n});
                mesh.triangles.push_back({a, b + n, a + n});
            }
        return mesh;
    }

    RTCRay ray(const Vec3& origin, const Vec3& direction) const
    {
        // Embree works in floats: everything is scaled to a unit sphere around the scene's centre.
        RTCRay r{};
        const Vec3 o = (origin - centre_) / radius_;
        r.org_x = static_cast<float>(o.x());
        r.org_y = static_cast<float>(o.y());
        r.org_z = static_cast<float>(o.z());
        r.dir_x = static_cast<float>(direction.x());
        r.dir_y = static_cast<float>(direction.y());
        r.dir_z = static_cast<float>(direction.z());
        r.tnear = 0;
        r.tfar = std::numeric_limits<float>::infinity();
        r.mask = ~0u;
        return r;
    }

    RTCRayHit trace(RTCScene target, const Vec3& origin, const Vec3& direction) const
    {
        RTCIntersectContext context;
        rtcInitIntersectContext(&context);
        RTCRayHit hit{};
        hit.ray = ray(origin, direction);
        hit.hit.geomID = no_hit;
        rtcIntersect1(target, &context, &hit);
        return hit;
    }

    bool occluded(const Vec3& origin, const Vec3& direction) const
    {
        RTCIntersectContext context;
        rtcInitIntersectContext(&context);
        RTCRay r = ray(origin, direction);
        rtcOccluded1(world_.get(), &context, &r);
        return r.tfar < 0;
    }

    Hit intersect(const Vec3& origin, const Vec3& direction) const
    {
        Hit hit;
        const RTCRayHit found = trace(world_.get(), origin, direction);
        if (found.hit.geomID != no_hit) {
            hit.distance = radius_ * found.ray.tfar;
            hit.body = static_cast<Index>(found.hit.geomID);
            hit.triangle = static_cast<Index>(found.hit.primID);
            hit.u = found.hit.u;
            hit.v = found.hit.v;
        }
        if (scene_.ground) {
            const Real down = -direction.dot(scene_.up), height = origin.dot(scene_.up) - *scene_.ground;
            if (down > 1e-6 && height > 0 && height / down < hit.distance) hit = {height / down, none, none, 0, 0};
        }
        return hit;
    }

    /// Neutral studio: bright behind the scene, a little darker towards the corners and the top.
    Vec3 background(Real sx, Real sy) const
    {
        const Real r_sq = sx * sx + (sy + 0.15) * (sy + 0.15);
        const Real v = 0.80 - 0.20 * std::min(1.0, r_sq / 1.6);
        return v * Vec3(0.975, 0.99, 1.0);
    }

    Vec3 sky_light(const Vec3& direction) const
    {
        const Real h = std::max(0.0, direction.dot(scene_.up));
        return (0.75 + 0.35 * h) * Vec3(0.94, 0.97, 1.0);
    }

    static Real fraction(Real x) { return x - std::floor(x); }

    Vec3 towards_light(const Vec2& disc) const
    {
        return (light_ + options_.light_radius * (disc.x() * light_s_ + disc.y() * light_t_)).normalized();
    }

    static Vec3 over_hemisphere(const Vec3& n, const Vec2& disc) // cosine-weighted: the disc lifted to the sphere
    {
        Vec3 s, t;
        basis_of(n, s, t);
        return disc.x() * s + disc.y() * t + std::sqrt(std::max(0.0, 1 - disc.squaredNorm())) * n;
    }

    Vec3 albedo(const Hit& hit) const
    {
        if (!marked_[hit.body].empty() && marked_[hit.body][hit.triangle]) return {0.9, 0.0, 0.7};
        const RenderBody& body = scene_.bodies[hit.body];
        if (body.vertex_colours.empty()) return body.colour;
        const auto [a, b, c] = body.triangles[hit.triangle];
        const Vec3s& colours = body.vertex_colours;
        return (1 - hit.u - hit.v) * colours[a] + hit.u * colours[b] + hit.v * colours[c];
    }

    /// Light that a surface receives from the sky or, where that is hidden, from what hides it.
    Vec3 ambient(const Vec3& origin, const Vec3& direction) const
    {
        const Hit hit = intersect(origin, direction);
        if (!hit.found()) return sky_light(direction);
        if (hit.body == none) return 0.55 * Vec3(0.97, 0.98, 1.0); // light from the ground
        const Real bounce = std::min(1.0, hit.distance / radius_); // the deeper the corner, the darker
        return (0.12 + 0.2 * bounce) * albedo(hit);
    }

    Vec3 shade_ground(const Vec3& x, const Vec3& back, const Vec2& light, const Vec2& sky) const
    {
        const Vec3& n = scene_.up;
        const Vec3 origin = x + 1e-5 * radius_ * n;
        const Real key = key_strength * light_.dot(n);
        const Real lit = occluded(origin, towards_light(light)) ? 0 : key;
        const Real open = occluded(origin, over_hemisphere(n, sky)) ? 0.15 : 1;
        return back * ((lit + sky_strength * open) / (key + sky_strength));
    }

    Vec3 shade_body(const Hit& hit, const Vec3& x, const Vec3& direction, const Vec2& light, const Vec2& sky) const
    {
        const RenderBody& body = scene_.bodies[hit.body];
        const auto [a, b, c] = body.triangles[hit.triangle];
        Vec3 face = (body.positions[b] - body.positions[a]).cross(body.positions[c] - body.positions[a]);
        const Real area = face.norm();
        if (!(area > 0)) return Vec3::Zero();
        face /= area;
        if (face.dot(direction) > 0) face = -face;
        Vec3 n = face;
        if (body.smooth) {
            const Vec3s& normals = normals_[hit.body];
            const Index t = 3 * hit.triangle;
            n = ((1 - hit.u - hit.v) * normals[t] + hit.u * normals[t + 1] + hit.v * normals[t + 2]).normalized();
            if (n.dot(face) < 0) n = -n;
            if (n.dot(direction) > -0.02) n = (n - (n.dot(direction) + 0.02) * direction).normalized();
        }
        const Vec3 origin = x + 2e-5 * radius_ * face;
        const Vec3 colour = albedo(hit);
        const Vec3 to_light = towards_light(light);
        Vec3 result = Vec3::Zero();
        const Real cosine = n.dot(to_light);
        if (cosine > 0 && face.dot(to_light) > 0 && !occluded(origin, to_light)) {
            const Vec3 half = (to_light - direction).normalized();
            const Real gloss = 0.10 * power_32(std::max(0.0, n.dot(half)));
            result += key_strength * cosine * (colour + Vec3::Constant(gloss)).cwiseProduct(Vec3(1.0, 0.97, 0.93));
        }
        Vec3 out = over_hemisphere(n, sky);
        if (out.dot(face) < 0) out -= 2 * out.dot(face) * face;
        result += sky_strength * colour.cwiseProduct(ambient(origin, out));
        const Real grazing = 1 + std::min(0.0, n.dot(direction)), rim = grazing * grazing * grazing * grazing;
        return result + Vec3::Constant(0.06 * rim); // a soft rim tells bodies apart
    }

    static Real power_32(Real x)
    {
        for (int k = 0; k < 5; ++k) x *= x;
        return x;
    }

    Vec3 sample(Real x, Real y, const Vec2& light, const Vec2& sky) const
    {
        const Real aspect = Real(options_.width) / options_.height;
        const Real sx = (2 * x / options_.width - 1) * aspect, sy = 1 - 2 * y / options_.height;
        const Vec3& eye = options_.camera.eye;
        const Vec3 direction = (forward_ + tangent_ * (sx * right_ + sy * above_)).normalized();
        const Hit hit = intersect(eye, direction);
        Vec3 colour = background(sx / aspect, sy);
        if (hit.found()) {
            const Vec3 at = eye + hit.distance * direction;
            colour =
                hit.body == none ? shade_ground(at, colour, light, sky) : shade_body(hit, at, direction, light, sky);
        }
        if (overlay_) {
            const RTCRayHit arrow = trace(overlay_.get(), eye, direction);
            if (arrow.hit.geomID != no_hit) {
                const bool behind = radius_ * arrow.ray.tfar > hit.distance;
                const Real alpha = behind ? 0.55 : 1;
                colour = (1 - alpha) * colour + alpha * scene_.arrows[arrow.hit.geomID].colour;
            }
        }
        return colour;
    }

    static constexpr Real key_strength = 0.95, sky_strength = 0.62;

    const RenderScene& scene_;
    const RenderOptions& options_;
    Device device_;
    Scene world_, overlay_;
    std::vector<Vec3s> normals_; ///< per body, three a triangle
    std::vector<std::vector<char>> marked_;
    Vec3 centre_, forward_, right_, above_, light_, light_s_, light_t_;
    Real radius_ = 1, tangent_ = 1;
    DiscPoints disc_;
};

std::uint8_t encode(Real linear, Real dither)
{
    const Real soft =
        linear < 0.8 ? linear : 0.8 + 0.2 * (1 - std::exp(-(linear - 0.8) / 0.2)); // a shoulder, not a clip
    const Real srgb = soft <= 0.0031308 ? 12.92 * soft : 1.055 * std::pow(soft, 1 / 2.4) - 0.055;
    return static_cast<std::uint8_t>(std::clamp(255 * srgb + dither, 0.0, 255.0));
}

} // namespace

RenderBody plane_patch(const Vec3& point, const Vec3& normal, Real size, const Vec3& colour)
{
    TriangleMesh slab = make_box({size, size / 100, size});
    const Quat turn = Quat::FromTwoVectors(Vec3::UnitY(), normal);
    for (Vec3& x : slab.vertices) x = point + turn * (x - Vec3(0, size / 200, 0));
    return {std::move(slab.vertices), std::move(slab.triangles), colour, false, {}, {}};
}

Box3 bounding_box(const RenderScene& scene)
{
    Box3 box;
    for (const RenderBody& body : scene.bodies)
        for (const Triangle& t : body.triangles)
            for (const Index v : t) box.add(body.positions[v]);
    return box;
}

namespace {

/// Rays are made of floats, whose squares and products must fit.
void require_drawable(const Vec3& x)
{
    constexpr Real farthest = 1e12; // [m]
    if (!x.allFinite()) throw Error("the picture's geometry has a coordinate that is not finite.");
    if (x.cwiseAbs().maxCoeff() > farthest) throw Error("the picture's geometry is too far away to be drawn.");
}

} // namespace

Image render(const RenderScene& scene, const RenderOptions& options)
{
    if (options.width < 1 || options.height < 1 || options.width > 32768 || options.height > 32768)
        throw Error("the size of a picture must be between 1x1 and 32768x32768 pixels.");
    if (options.samples < 1) throw Error("a picture needs at least one sample a pixel.");
    require_drawable(options.camera.eye);
    require_drawable(options.camera.target);
    for (const RenderArrow& arrow : scene.arrows) {
        require_drawable(arrow.from);
        require_drawable(arrow.to);
    }
    for (const RenderBody& body : scene.bodies) {
        for (const Vec3& x : body.positions) require_drawable(x);
        if (!body.vertex_colours.empty() && body.vertex_colours.size() != body.positions.size())
            throw Error("the picture's geometry needs a colour for each vertex, or none.");
        for (const Triangle& t : body.triangles)
            for (const Index v : t)
                if (v < 0 || v >= count(body.positions))
                    throw Error("the picture's geometry uses a vertex that does not exist.");
    }
    const Tracer tracer(scene, options);
    Image image{options.width, options.height, {}};
    image.rgb.resize(std::size_t(3) * options.width * options.height);
    constexpr Index tile = 16;
    const Index columns = (options.width + tile - 1) / tile, rows = (options.height + tile - 1) / tile;
    parallel_for(
        columns * rows,
        [&](Index i) {
            const Index left = (i % columns) * tile, top = (i / columns) * tile;
            for (Index y = top; y < std::min(top + tile, options.height); ++y)
                for (Index x = left; x < std::min(left + tile, options.width); ++x) {
                    const Vec3 colour = tracer.pixel(x, y);
                    const Real dither = hash_of(x, y, 4) / 4294967296.0; // smooth gradients without bands
                    for (int k = 0; k < 3; ++k) image.at(x, y)[k] = encode(colour[k], dither);
                }
        },
        1);
    return image;
}

} // namespace pliant
