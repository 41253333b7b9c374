// One binary glTF 2.0 file. A mesh's positions in the first frame are its base; every later frame is a morph target
// (the difference to the base), and an animation blends from each frame's target to the next.

#include "pliant/core/error.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/show/export_formats.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Json = nlohmann::json;
using Vec3f = Eigen::Vector3f;

constexpr int array_buffer = 34962, element_buffer = 34963;
constexpr int type_uint = 5125, type_float = 5126;

/// Unit normals a vertex: the average over its corners. A vertex without any gets the up axis.
std::vector<Vec3f> vertex_normals(const Vec3s& positions, const std::vector<Triangle>& triangles)
{
    Vec3s sums(positions.size(), Vec3::Zero());
    for (const auto& [a, b, c] : triangles) {
        const Vec3 n = (positions[b] - positions[a]).cross(positions[c] - positions[a]);
        for (const Index v : {a, b, c}) sums[v] += n;
    }
    std::vector<Vec3f> normals;
    for (const Vec3& n : sums) {
        const Real length = n.norm();
        normals.push_back(length > 0 ? Vec3f((n / length).cast<float>().normalized()) : Vec3f(Vec3f::UnitY()));
    }
    return normals;
}

class GltfExporter : public Exporter {
public:
    GltfExporter(std::filesystem::path out, ExportBodies bodies, const ExportOptions& options)
        : out_(std::move(out)), bodies_(std::move(bodies)), options_(options), motions_(bodies_.size())
    {}

    void add(Real time, const std::vector<ExportState>& states) override
    {
        if (times_.empty()) first_time_ = time;
        // Floats: two frames closer than a float can tell would not be accepted.
        const auto t = static_cast<float>(time - first_time_);
        if (!times_.empty() && !(t > times_.back())) throw Error("export: the times of frames are too close for glTF.");
        times_.push_back(t);
        for (std::size_t b = 0; b < bodies_.size(); ++b) add_frame(motions_[b], bodies_[b], states[b].positions);
        if (bytes_.size() > std::numeric_limits<std::uint32_t>::max() / 2)
            throw Error(out_.string() +
                        ": a glTF file cannot hold that much motion; export fewer frames, or vtk or pc2.");
    }

    void finish() override
    {
        const int times = times_.size() > 1 ? add_scalars(times_, true) : none;
        Json root = {{"asset", {{"version", "2.0"}, {"generator", "pliant"}}}, {"scene", 0}};
        Json nodes = Json::array(), meshes = Json::array(), materials = Json::array(), children = Json::array();
        Json channels = Json::array(), samplers = Json::array();
        for (std::size_t b = 0; b < bodies_.size(); ++b) {
            if (bodies_[b].triangles.empty()) continue;
            const auto mesh_id = static_cast<int>(meshes.size());
            materials.push_back(material(bodies_[b]));
            meshes.push_back(mesh(b, mesh_id));
            children.push_back(nodes.size() + 1); // node 0 is the root
            nodes.push_back({{"name", bodies_[b].name}, {"mesh", mesh_id}});
            if (motions_[b].targets.empty()) continue;
            channels.push_back(
                {{"sampler", samplers.size()}, {"target", {{"node", nodes.size()}, {"path", "weights"}}}});
            samplers.push_back({{"input", times}, {"output", weights()}, {"interpolation", "LINEAR"}});
        }
        if (meshes.empty()) throw Error(out_.string() + ": there is no body with triangles to export.");
        Json top = {{"name", "motion"}, {"children", children}};
        if (std::abs(options_.up.z()) > 0.5) top["rotation"] = {-std::sqrt(0.5), 0, 0, std::sqrt(0.5)}; // glTF has y up
        nodes.insert(nodes.begin(), top);
        root["scenes"] = {{{"nodes", {0}}}};
        root["nodes"] = nodes;
        root["meshes"] = meshes;
        root["materials"] = materials;
        root["accessors"] = accessors_;
        root["bufferViews"] = views_;
        root["buffers"] = {{{"byteLength", bytes_.size()}}};
        if (!channels.empty())
            root["animations"] = {{{"name", "motion"}, {"channels", channels}, {"samplers", samplers}}};
        write_file(out_, container(root.dump()));
    }

private:
    /// Accessors of one body.
    struct Motion {
        std::vector<Vec3f> base, base_normals;
        int indices = none, position = none, normal = none;
        std::vector<std::pair<int, int>> targets; ///< position and normal differences, one pair a later frame
    };

    void add_frame(Motion& motion, const ExportBody& body, const Vec3s& positions)
    {
        if (body.triangles.empty()) return;
        std::vector<Vec3f> x, n;
        for (const Vec3& p : positions) x.push_back(p.cast<float>());
        if (options_.normals) n = vertex_normals(positions, body.triangles);
        if (motion.position == none) {
            std::vector<std::uint32_t> corners;
            for (const Triangle& t : body.triangles) corners.insert(corners.end(), t.begin(), t.end());
            const int view = add_view(corners.data(), corners.size() * sizeof(std::uint32_t), element_buffer);
            motion.indices = add_accessor(
                {{"bufferView", view}, {"componentType", type_uint}, {"count", corners.size()}, {"type", "SCALAR"}});
            motion.position = add_vectors(x, true);
            if (options_.normals) motion.normal = add_vectors(n, false);
            motion.base = std::move(x);
            motion.base_normals = std::move(n);
            return;
        }
        for (std::size_t v = 0; v < x.size(); ++v) x[v] -= motion.base[v];
        for (std::size_t v = 0; v < n.size(); ++v) n[v] -= motion.base_normals[v];
        const int position = add_vectors(x, true);
        motion.targets.emplace_back(position, options_.normals ? add_vectors(n, false) : none);
    }

    Json mesh(std::size_t b, int material_id) const
    {
        const Motion& motion = motions_[b];
        const auto attributes = [](int position, int normal) {
            Json a = {{"POSITION", position}};
            if (normal != none) a["NORMAL"] = normal;
            return a;
        };
        Json primitive = {{"attributes", attributes(motion.position, motion.normal)},
                          {"indices", motion.indices},
                          {"material", material_id}};
        Json result = {{"name", bodies_[b].name}};
        if (!motion.targets.empty()) {
            Json targets = Json::array();
            for (const auto& [position, normal] : motion.targets) targets.push_back(attributes(position, normal));
            primitive["targets"] = targets;
            result["weights"] = std::vector<int>(motion.targets.size(), 0);
        }
        result["primitives"] = Json::array({primitive});
        return result;
    }

    static Json material(const ExportBody& body)
    {
        return {{"name", body.name},
                {"doubleSided", true},
                {"pbrMetallicRoughness",
                 {{"baseColorFactor", {body.colour.x(), body.colour.y(), body.colour.z(), 1.0}},
                  {"metallicFactor", 0.0},
                  {"roughnessFactor", 0.7}}}};
    }

    /// One row a frame: all weights zero in the first, then one of them is one. The same for every body.
    int weights()
    {
        if (weights_ != none) return weights_;
        const std::size_t frames = times_.size(), targets = frames - 1;
        std::vector<float> values(frames * targets, 0.f);
        for (std::size_t f = 1; f < frames; ++f) values[f * targets + f - 1] = 1;
        return weights_ = add_scalars(values, false);
    }

    int add_view(const void* data, std::size_t size, int target)
    {
        Json view = {{"buffer", 0}, {"byteOffset", bytes_.size()}, {"byteLength", size}};
        if (target != 0) view["target"] = target;
        bytes_.append(static_cast<const char*>(data), size);
        views_.push_back(view);
        return static_cast<int>(views_.size()) - 1;
    }

    int add_accessor(Json accessor)
    {
        accessors_.push_back(std::move(accessor));
        return static_cast<int>(accessors_.size()) - 1;
    }

    int add_vectors(const std::vector<Vec3f>& values, bool bounds)
    {
        static_assert(sizeof(Vec3f) == 12);
        const int view = add_view(values.data(), values.size() * sizeof(Vec3f), array_buffer);
        Json accessor = {
            {"bufferView", view}, {"componentType", type_float}, {"count", values.size()}, {"type", "VEC3"}};
        if (bounds) {
            Vec3f low = values.front(), high = low;
            for (const Vec3f& v : values) {
                low = low.cwiseMin(v);
                high = high.cwiseMax(v);
            }
            accessor["min"] = {low.x(), low.y(), low.z()};
            accessor["max"] = {high.x(), high.y(), high.z()};
        }
        return add_accessor(std::move(accessor));
    }

    int add_scalars(const std::vector<float>& values, bool bounds)
    {
        const int view = add_view(values.data(), values.size() * sizeof(float), 0);
        Json accessor = {
            {"bufferView", view}, {"componentType", type_float}, {"count", values.size()}, {"type", "SCALAR"}};
        if (bounds) {
            accessor["min"] = {values.front()};
            accessor["max"] = {values.back()};
        }
        return add_accessor(std::move(accessor));
    }

    /// GLB: a header, the JSON padded with blanks, the bytes (whose length is a multiple of four already).
    std::string container(std::string json) const
    {
        json.append((4 - json.size() % 4) % 4, ' ');
        std::string out;
        const auto word = [&](std::uint64_t value) {
            const auto v = static_cast<std::uint32_t>(value);
            out.append(reinterpret_cast<const char*>(&v), 4);
        };
        word(0x46546c67);
        word(2);
        word(12 + 8 + json.size() + 8 + bytes_.size());
        word(json.size());
        word(0x4e4f534a);
        out += json;
        word(bytes_.size());
        word(0x004e4942);
        return out + bytes_;
    }

    std::filesystem::path out_;
    ExportBodies bodies_;
    ExportOptions options_;
    std::vector<Motion> motions_;
    std::vector<float> times_;
    Real first_time_ = 0;
    std::string bytes_;
    Json accessors_ = Json::array(), views_ = Json::array();
    int weights_ = none;
};

} // namespace

std::unique_ptr<Exporter> make_gltf_exporter(const std::filesystem::path& out, ExportBodies bodies,
                                             const ExportOptions& options)
{
    return std::make_unique<GltfExporter>(out, std::move(bodies), options);
}

} // namespace pliant
