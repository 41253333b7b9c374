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
    static constexpr std::array ignored = {"vt",       "vn",       "vp",  "o",          "g",        "s",      "mg",
                                           "usemtl",   "mtllib",   "l",   "p",          "usemap",   "maplib", "bevel",
                                           "c_interp", "d_interp", "lod", "shadow_obj", "trace_obj"};
    return std::find(ignored.begin(), ignored.end(), keyword) != ignored.end();
}

struct Face {
    Index line;
    std::vector<Index> corners;
};

Index parse_corner(const TextReader& in, std::string_view word, Index vertices)
{
    const std::int64_t number = in.to_integer(word.substr(0, word.find('/')), "a vertex number");
    if (number == 0) in.fail("vertex numbers start at 1, not 0");
    // Negative numbers count back from the last vertex so far. Positive ones may refer to vertices still to come.
    const std::int64_t index = number > 0 ? number - 1 : vertices + number;
    if (index < 0 || index > std::numeric_limits<Index>::max())
        in.fail("the face uses vertex " + std::to_string(number) + ", which does not exist");
    return static_cast<Index>(index);
}

} // namespace

TriangleMesh parse_obj(std::string_view bytes, const std::string& name)
{
    TextReader in(bytes, name);
    TriangleMesh mesh;
    std::vector<Face> faces;
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
        } else if (keyword == "f") {
            Face face{in.line_number(), {}};
            for (std::string_view w = in.word(); !w.empty() && w[0] != '#'; w = in.word()) {
                if (w == "\\") {
                    if (!in.next_line()) in.fail("the file ends within a face");
                    continue;
                }
                face.corners.push_back(parse_corner(in, w, count(mesh.vertices)));
            }
            if (face.corners.size() < 3) in.fail("a face needs at least three corners");
            if (face.corners.size() > most_polygon_corners) in.fail("a face has too many corners");
            faces.push_back(std::move(face));
        } else {
            in.fail("unknown statement " + TextReader::quoted(keyword));
        }
    }
    for (const Face& face : faces) {
        for (const Index v : face.corners)
            if (v >= count(mesh.vertices))
                in.fail_at(face.line, "the face uses vertex " + std::to_string(v + 1) + ", but there are only " +
                                          std::to_string(mesh.vertices.size()));
        triangulate_polygon(mesh.vertices, face.corners, mesh.triangles);
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
    for (const Triangle& t : mesh.triangles) {
        out += 'f';
        for (const Index v : t) {
            out += ' ';
            append_number(out, v + 1);
        }
        out += '\n';
    }
    return out;
}

} // namespace pliant
