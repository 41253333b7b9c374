#include "pliant/core/error.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/mesh/polygon.hpp"
#include "pliant/mesh/text.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace pliant {
namespace {

/// Statements of OBJ that say nothing about the triangles.
bool is_ignored(std::string_view keyword)
{
    static constexpr std::array ignored = {"vn",     "vp",       "o",        "g",   "s",          "mg",
                                           "usemtl", "mtllib",   "l",        "p",   "usemap",     "maplib",
                                           "bevel",  "c_interp", "d_interp", "lod", "shadow_obj", "trace_obj"};
    return std::find(ignored.begin(), ignored.end(), keyword) != ignored.end();
}

struct Face {
    Index line;
    std::vector<Index> corners;
    std::vector<Index> texture; ///< per corner: number of its texture coordinates, or none
};

/// The number of something so far; negative ones count back from the last, positive ones may refer to what is to come.
Index parse_number(const TextReader& in, std::string_view word, Index so_far, const std::string& what)
{
    const std::int64_t number = in.to_integer(word, ("a " + what + " number").c_str());
    if (number == 0) in.fail(what + " numbers start at 1, not 0");
    const std::int64_t index = number > 0 ? number - 1 : so_far + number;
    if (index < 0 || index > std::numeric_limits<Index>::max())
        in.fail("the face uses " + what + " " + std::to_string(number) + ", which does not exist");
    return static_cast<Index>(index);
}

/// "vertex", "vertex/texture", "vertex//normal" or "vertex/texture/normal".
void parse_corner(const TextReader& in, std::string_view word, Index vertices, Index textures, Face& face)
{
    const std::size_t slash = std::min(word.find('/'), word.size());
    face.corners.push_back(parse_number(in, word.substr(0, slash), vertices, "vertex"));
    std::string_view texture = word.substr(std::min(slash + 1, word.size()));
    texture = texture.substr(0, texture.find('/'));
    face.texture.push_back(texture.empty() ? none : parse_number(in, texture, textures, "texture vertex"));
}

/// Texture coordinates of the triangles that a face was cut into.
void add_texture(const TextReader& in, const Face& face, const std::vector<Vec2>& places, std::size_t first_triangle,
                 TriangleMesh& mesh)
{
    for (std::size_t t = first_triangle; t < mesh.triangles.size(); ++t) {
        std::array<Vec2, 3> corners;
        for (std::size_t k = 0; k < 3; ++k) {
            const auto corner = std::ranges::find(face.corners, mesh.triangles[t][k]) - face.corners.begin();
            const Index place = face.texture[static_cast<std::size_t>(corner)];
            if (place >= count(places))
                in.fail_at(face.line, "the face uses texture vertex " + std::to_string(place + 1) +
                                          ", but there are only " + std::to_string(places.size()));
            corners[k] = places[place];
        }
        mesh.texture.push_back(corners);
    }
}

} // namespace

TriangleMesh parse_obj(std::string_view bytes, const std::string& name)
{
    TextReader in(bytes, name);
    TriangleMesh mesh;
    std::vector<Face> faces;
    std::vector<Vec2> places; // in the texture
    while (in.next_line()) {
        const std::string_view keyword = in.word();
        if (keyword.empty() || keyword[0] == '#' || is_ignored(keyword)) continue;
        if (keyword == "v") {
            Vec3 x;
            for (int k = 0; k < 3; ++k) {
                const std::string_view w = in.word();
                if (w.empty()) in.fail("a vertex needs three coordinates");
                x[k] = in.to_real(w, "a coordinate");
            }
            mesh.vertices.push_back(x); // a weight or a colour may follow
        } else if (keyword == "vt") {
            Vec2 place = Vec2::Zero(); // a second and a third coordinate are optional
            for (int k = 0; k < 2; ++k)
                if (const std::string_view w = in.word(); !w.empty() && w[0] != '#')
                    place[k] = in.to_real(w, "a texture coordinate");
            places.push_back(place);
        } else if (keyword == "f") {
            Face face{in.line_number(), {}, {}};
            for (std::string_view w = in.word(); !w.empty() && w[0] != '#'; w = in.word()) {
                if (w == "\\") {
                    if (!in.next_line()) in.fail("the file ends within a face");
                    continue;
                }
                parse_corner(in, w, count(mesh.vertices), count(places), face);
            }
            if (face.corners.size() < 3) in.fail("a face needs at least three corners");
            if (face.corners.size() > most_polygon_corners) in.fail("a face has too many corners");
            faces.push_back(std::move(face));
        } else {
            in.fail("unknown statement " + TextReader::quoted(keyword));
        }
    }
    // Texture coordinates count if all corners have them.
    const bool textured = std::ranges::all_of(faces, [](const Face& face) {
        return std::ranges::none_of(face.texture, [](Index place) { return place == none; });
    });
    for (const Face& face : faces) {
        const std::size_t first_triangle = mesh.triangles.size();
        for (const Index v : face.corners)
            if (v >= count(mesh.vertices))
                in.fail_at(face.line, "the face uses vertex " + std::to_string(v + 1) + ", but there are only " +
                                          std::to_string(mesh.vertices.size()));
        triangulate_polygon(mesh.vertices, face.corners, mesh.triangles);
        if (textured) add_texture(in, face, places, first_triangle, mesh);
    }
    if (mesh.triangles.empty()) throw Error(name + ": the file has no faces.");
    return mesh;
}

std::string format_obj(const TriangleMesh& mesh)
{
    std::string out;
    for (const Vec3& x : mesh.vertices) {
        out += "v ";
        append_point(out, x);
        out += '\n';
    }
    for (const auto& corners : mesh.texture)
        for (const Vec2& place : corners) {
            out += "vt ";
            append_number(out, place.x());
            out += ' ';
            append_number(out, place.y());
            out += '\n';
        }
    for (Index f = 0; f < count(mesh.triangles); ++f) {
        out += 'f';
        for (Index k = 0; k < 3; ++k) {
            out += ' ';
            append_number(out, mesh.triangles[f][k] + 1);
            if (mesh.texture.empty()) continue;
            out += '/';
            append_number(out, 3 * f + k + 1);
        }
        out += '\n';
    }
    return out;
}

} // namespace pliant
