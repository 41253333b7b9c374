#include "pliant/core/error.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/mesh/text.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <map>

namespace pliant {
namespace {

static_assert(std::endian::native == std::endian::little, "binary mesh files are little endian, and so must we be");

constexpr std::size_t header_bytes = 84, facet_bytes = 50;

/// Gives equal corners one vertex, in order of appearance. Triangles that then have two equal corners are dropped:
/// without them a closed surface stays closed.
class Welder {
public:
    void add(const std::array<Vec3, 3>& corners)
    {
        Triangle t;
        for (int k = 0; k < 3; ++k) {
            const Vec3 x = corners[k] + Vec3::Zero(); // -0 and 0 are the same place
            const auto [it, inserted] = ids_.try_emplace({x.x(), x.y(), x.z()}, count(mesh.vertices));
            if (inserted) mesh.vertices.push_back(x);
            t[k] = it->second;
        }
        if (t[0] != t[1] && t[1] != t[2] && t[2] != t[0]) mesh.triangles.push_back(t);
    }

    TriangleMesh mesh;

private:
    std::map<std::array<Real, 3>, Index> ids_;
};

bool is_binary(std::string_view bytes)
{
    if (bytes.size() < header_bytes) return false;
    std::uint32_t facets;
    std::memcpy(&facets, bytes.data() + 80, 4);
    if (header_bytes + facet_bytes * std::uint64_t(facets) == bytes.size()) return true;
    return bytes.substr(0, 5) != "solid"; // some binary files say solid too: the size above decides
}

TriangleMesh parse_binary(std::string_view bytes, const std::string& name)
{
    std::uint32_t facets;
    std::memcpy(&facets, bytes.data() + 80, 4);
    if (header_bytes + facet_bytes * std::uint64_t(facets) > bytes.size())
        throw Error(name + ": the header announces " + std::to_string(facets) + " triangles, but the file ends after " +
                    std::to_string((bytes.size() - header_bytes) / facet_bytes) + ".");
    Welder welder;
    for (std::uint32_t f = 0; f < facets; ++f) {
        float values[12];
        std::memcpy(values, bytes.data() + header_bytes + facet_bytes * f, sizeof values);
        std::array<Vec3, 3> corners;
        for (int k = 0; k < 9; ++k) {
            if (!std::isfinite(values[3 + k]))
                throw Error(name + ": triangle " + std::to_string(f) + " has a coordinate that is not finite.");
            corners[k / 3][k % 3] = values[3 + k];
        }
        welder.add(corners);
    }
    return std::move(welder.mesh);
}

TriangleMesh parse_ascii(std::string_view bytes, const std::string& name)
{
    TextReader in(bytes, name);
    const auto expect = [&](std::string_view keyword) {
        const std::string_view w = in.need_word(std::string(keyword).c_str());
        if (w != keyword) in.fail("expected '" + std::string(keyword) + "', found " + TextReader::quoted(w));
    };
    Welder welder;
    while (in.next_line()) { // a file may hold several solids
        const std::string_view solid = in.word();
        if (solid.empty()) continue;
        if (solid != "solid") in.fail("expected 'solid', found " + TextReader::quoted(solid));
        in.next_line(); // the rest of the line is a name
        for (;;) {
            const std::string_view w = in.need_word("'facet' or 'endsolid'");
            if (w == "endsolid") break;
            if (w != "facet") in.fail("expected 'facet' or 'endsolid', found " + TextReader::quoted(w));
            expect("normal");
            for (int k = 0; k < 3; ++k) in.need_word("a normal"); // recomputed from the corners; some writers store nan
            expect("outer");
            expect("loop");
            std::array<Vec3, 3> corners;
            for (Vec3& x : corners) {
                expect("vertex");
                for (int k = 0; k < 3; ++k) x[k] = in.need_real("a coordinate");
            }
            expect("endloop");
            expect("endfacet");
            welder.add(corners);
        }
    }
    return std::move(welder.mesh);
}

} // namespace

TriangleMesh parse_stl(std::string_view bytes, const std::string& name)
{
    TriangleMesh mesh = is_binary(bytes) ? parse_binary(bytes, name) : parse_ascii(bytes, name);
    if (mesh.triangles.empty()) throw Error(name + ": the file has no triangles.");
    return mesh;
}

std::string format_stl(const TriangleMesh& mesh, const MeshWriteOptions& options)
{
    const auto normal_of = [&](const Triangle& t) -> Vec3 {
        const Vec3& a = mesh.vertices[t[0]];
        const Vec3 n = (mesh.vertices[t[1]] - a).cross(mesh.vertices[t[2]] - a);
        const Real length = n.norm();
        return length > 0 ? Vec3(n / length) : Vec3(Vec3::Zero());
    };
    std::string out;
    if (options.ascii) {
        out = "solid pliant\n";
        for (const Triangle& t : mesh.triangles) {
            out += "facet normal ";
            append_point(out, normal_of(t));
            out += "\nouter loop\n";
            for (const Index v : t) {
                out += "vertex ";
                append_point(out, mesh.vertices[v]);
                out += '\n';
            }
            out += "endloop\nendfacet\n";
        }
        return out + "endsolid pliant\n";
    }
    out.assign(80, ' ');
    std::memcpy(out.data(), "pliant binary STL", 17);
    const auto append = [&](const auto& value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); };
    append(static_cast<std::uint32_t>(mesh.triangles.size()));
    for (const Triangle& t : mesh.triangles) {
        const Vec3 n = normal_of(t);
        for (int k = 0; k < 3; ++k) append(static_cast<float>(n[k]));
        for (const Index v : t)
            for (int k = 0; k < 3; ++k) append(static_cast<float>(mesh.vertices[v][k]));
        append(std::uint16_t(0));
    }
    return out;
}

} // namespace pliant
