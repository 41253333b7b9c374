#include "pliant/scene/letters.hpp"

#include "pliant/core/error.hpp"
#include "pliant/mesh/planar.hpp"
#include "pliant/mesh/topology.hpp"

#include <GL/glu.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <numbers>
#include <set>

namespace pliant {
namespace {

using Contour = std::vector<Vec2>;

struct LibraryDeleter {
    void operator()(FT_Library library) const { FT_Done_FreeType(library); }
};
struct FaceDeleter {
    void operator()(FT_Face face) const { FT_Done_Face(face); }
};
using LibraryHandle = std::unique_ptr<FT_LibraryRec_, LibraryDeleter>;
using FaceHandle = std::unique_ptr<FT_FaceRec_, FaceDeleter>;

/// Receives an outline and turns it into polygons whose edges are no longer than `edge` (font units).
struct OutlineSink {
    Real edge;
    std::vector<Contour> contours;
    Vec2 pen = Vec2::Zero();

    static Vec2 point(const FT_Vector* p) { return {Real(p->x), Real(p->y)}; }

    template <class Curve>
    void trace(const Curve& curve, Real turn)
    {
        Real length = 0;
        Vec2 last = curve(0.0);
        for (int k = 1; k <= 16; ++k) {
            const Vec2 next = curve(k / 16.0);
            length += (next - last).norm();
            last = next;
        }
        if (length == 0) return;
        const Real by_length = length / edge, by_turn = turn / (20 * std::numbers::pi / 180);
        const int pieces = std::clamp(static_cast<int>(std::ceil(std::max(by_length, by_turn) - 1e-9)), 1, 10000);
        for (int k = 1; k <= pieces; ++k) contours.back().push_back(curve(Real(k) / pieces));
        pen = contours.back().back();
    }

    static int move(const FT_Vector* to, void* user)
    {
        auto& self = *static_cast<OutlineSink*>(user);
        self.pen = point(to);
        self.contours.push_back({self.pen});
        return 0;
    }
    static int line(const FT_Vector* to, void* user)
    {
        auto& self = *static_cast<OutlineSink*>(user);
        const Vec2 a = self.pen, b = point(to);
        self.trace([&](Real s) -> Vec2 { return s == 1 ? b : Vec2(a + s * (b - a)); }, 0);
        return 0;
    }
    static int conic(const FT_Vector* control, const FT_Vector* to, void* user)
    {
        auto& self = *static_cast<OutlineSink*>(user);
        const Vec2 a = self.pen, b = point(control), c = point(to);
        self.trace(
            [&](Real s) -> Vec2 { return s == 1 ? c : Vec2((1 - s) * (1 - s) * a + 2 * s * (1 - s) * b + s * s * c); },
            angle(b - a, c - b));
        return 0;
    }
    static int cubic(const FT_Vector* control0, const FT_Vector* control1, const FT_Vector* to, void* user)
    {
        auto& self = *static_cast<OutlineSink*>(user);
        const Vec2 a = self.pen, b = point(control0), c = point(control1), d = point(to);
        self.trace(
            [&](Real s) -> Vec2 {
                const Real r = 1 - s;
                return s == 1 ? d : Vec2(r * r * r * a + 3 * r * r * s * b + 3 * r * s * s * c + s * s * s * d);
            },
            angle(b - a, c - b) + angle(c - b, d - c));
        return 0;
    }
    static Real angle(const Vec2& u, const Vec2& v)
    {
        return std::abs(std::atan2(u.x() * v.y() - u.y() * v.x(), u.dot(v)));
    }
};

/// Collects GLU's triangles; vertices that it makes where contours cross are appended.
struct Tessellation {
    PlanarMesh mesh;
    std::deque<Index> ids; // stable addresses for GLU's opaque pointers
    std::vector<Index> corners;
    GLenum error = 0;

    Index* add(const Vec2& x)
    {
        ids.push_back(count(mesh.vertices));
        mesh.vertices.push_back(x);
        return &ids.back();
    }
};

using TessCallback = void (*)();

void GLAPIENTRY on_vertex(void* vertex, void* user)
{
    static_cast<Tessellation*>(user)->corners.push_back(*static_cast<Index*>(vertex));
}
void GLAPIENTRY on_combine(GLdouble position[3], void* [4], GLfloat[4], void** out, void* user)
{
    *out = static_cast<Tessellation*>(user)->add({position[0], position[1]});
}
void GLAPIENTRY on_edge_flag(GLboolean, void*) // its presence makes GLU emit separate triangles only
{}
void GLAPIENTRY on_error(GLenum error, void* user)
{
    static_cast<Tessellation*>(user)->error = error;
}

PlanarMesh tessellate(const std::vector<Contour>& contours)
{
    Tessellation result;
    const std::unique_ptr<GLUtesselator, void (*)(GLUtesselator*)> tess(gluNewTess(), gluDeleteTess);
    gluTessProperty(tess.get(), GLU_TESS_WINDING_RULE, GLU_TESS_WINDING_NONZERO);
    gluTessNormal(tess.get(), 0, 0, 1);
    gluTessCallback(tess.get(), GLU_TESS_VERTEX_DATA, reinterpret_cast<TessCallback>(on_vertex));
    gluTessCallback(tess.get(), GLU_TESS_COMBINE_DATA, reinterpret_cast<TessCallback>(on_combine));
    gluTessCallback(tess.get(), GLU_TESS_EDGE_FLAG_DATA, reinterpret_cast<TessCallback>(on_edge_flag));
    gluTessCallback(tess.get(), GLU_TESS_ERROR_DATA, reinterpret_cast<TessCallback>(on_error));
    gluTessBeginPolygon(tess.get(), &result);
    for (const Contour& contour : contours) {
        gluTessBeginContour(tess.get());
        for (const Vec2& x : contour) {
            GLdouble position[3] = {x.x(), x.y(), 0};
            gluTessVertex(tess.get(), position, result.add(x));
        }
        gluTessEndContour(tess.get());
    }
    gluTessEndPolygon(tess.get());
    if (result.error != 0) throw Error("letters: the outline of a letter could not be triangulated.");
    for (std::size_t i = 0; i + 2 < result.corners.size(); i += 3) {
        const Triangle t = {result.corners[i], result.corners[i + 1], result.corners[i + 2]};
        if (t[0] != t[1] && t[1] != t[2] && t[2] != t[0]) result.mesh.triangles.push_back(t);
    }
    return std::move(result.mesh);
}

/// Drops vertices that no triangle uses, such as those inside where contours overlap.
void drop_unused(PlanarMesh& mesh)
{
    std::vector<Index> id(mesh.vertices.size(), none);
    std::vector<Vec2> kept;
    for (Triangle& t : mesh.triangles)
        for (Index& v : t) {
            if (id[v] == none) {
                id[v] = count(kept);
                kept.push_back(mesh.vertices[v]);
            }
            v = id[v];
        }
    mesh.vertices = std::move(kept);
}

/// Front at z = depth / 2, back at -depth / 2, walls of about square cells in between.
TriangleMesh extrude(const PlanarMesh& face, Real depth, Real edge)
{
    TriangleMesh mesh;
    const Index n = count(face.vertices);
    for (const Vec2& x : face.vertices) mesh.vertices.emplace_back(x.x(), x.y(), depth / 2);
    for (const Vec2& x : face.vertices) mesh.vertices.emplace_back(x.x(), x.y(), -depth / 2);
    std::set<Edge> directed;
    for (const auto& [a, b, c] : face.triangles) {
        mesh.triangles.push_back({a, b, c});
        mesh.triangles.push_back({n + a, n + c, n + b});
        for (const Edge& e : {Edge{a, b}, Edge{b, c}, Edge{c, a}}) directed.insert(e);
    }
    const Index rows = std::max<Index>(1, static_cast<Index>(std::lround(depth / edge)));
    std::map<Index, Index> column; // outline vertex -> first of its inner wall vertices, from front to back
    const auto wall = [&](Index v, Index row) -> Index {
        if (row == 0) return v;
        if (row == rows) return n + v;
        const auto [it, inserted] = column.try_emplace(v, count(mesh.vertices));
        if (inserted)
            for (Index r = 1; r < rows; ++r)
                mesh.vertices.emplace_back(face.vertices[v].x(), face.vertices[v].y(), depth * (0.5 - Real(r) / rows));
        return it->second + row - 1;
    };
    for (const auto& [a, b] : directed) {
        if (directed.count({b, a})) continue;
        for (Index r = 0; r < rows; ++r) {
            const Index p = wall(a, r), q = wall(b, r), s = wall(b, r + 1), t = wall(a, r + 1);
            if (r % 2 == 0)
                mesh.triangles.insert(mesh.triangles.end(), {{p, t, s}, {p, s, q}});
            else
                mesh.triangles.insert(mesh.triangles.end(), {{p, t, q}, {q, t, s}});
        }
    }
    return mesh;
}

std::vector<FT_ULong> decode_utf8(const std::string& text)
{
    std::vector<FT_ULong> codes;
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        const int more = lead < 0x80                   ? 0
                         : lead >= 0xc2 && lead < 0xe0 ? 1
                         : lead >= 0xe0 && lead < 0xf0 ? 2
                         : lead >= 0xf0 && lead < 0xf5 ? 3
                                                       : -1;
        FT_ULong code = more <= 0 ? lead : lead & (0x3fU >> more);
        bool valid = more >= 0 && i + static_cast<std::size_t>(more) < text.size();
        for (int k = 1; valid && k <= more; ++k) {
            const auto next = static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]);
            valid = (next & 0xc0) == 0x80;
            code = (code << 6) | (next & 0x3fU);
        }
        if (!valid) throw Error("letters: the text is not valid UTF-8 at byte " + std::to_string(i) + ".");
        codes.push_back(code);
        i += static_cast<std::size_t>(more) + 1;
    }
    return codes;
}

std::string describe(FT_ULong code)
{
    if (code > 0x20 && code < 0x7f) return std::string("'") + static_cast<char>(code) + "'";
    char buffer[16];
    std::snprintf(buffer, sizeof buffer, "U+%04lX", code);
    return buffer;
}

void check(const LetterOptions& options)
{
    const auto positive = [](Real x) { return std::isfinite(x) && x > 0; };
    if (!positive(options.height)) throw Error("letters: the height must be a positive length.");
    if (!positive(options.depth)) throw Error("letters: the depth must be a positive length.");
    if (options.edge_length != 0 && !positive(options.edge_length))
        throw Error("letters: the edge length must be a positive length, or 0 to choose it by the height.");
    if (options.edge_length != 0 && options.edge_length < options.height / 1000)
        throw Error("letters: the edge length must be at least a thousandth of the height.");
    if (!std::isfinite(options.spacing)) throw Error("letters: the spacing must be a finite length.");
}

} // namespace

std::vector<TriangleMesh> make_letters(const std::string& text, const LetterOptions& options)
{
    check(options);
    FT_Library raw_library = nullptr;
    if (FT_Init_FreeType(&raw_library) != 0) throw Error("letters: the FreeType library could not be started.");
    const LibraryHandle library(raw_library);
    FT_Face raw_face = nullptr;
    if (FT_New_Face(library.get(), options.font.c_str(), 0, &raw_face) != 0)
        throw Error("letters: cannot read the font '" + options.font +
                    "'; Debian's fonts-dejavu-core has the default one.");
    const FaceHandle face(raw_face);

    const auto load = [&](FT_ULong code) {
        const FT_UInt glyph = FT_Get_Char_Index(face.get(), code);
        if (glyph == 0)
            throw Error("letters: the font '" + options.font + "' has no letter for " + describe(code) + ".");
        if (FT_Load_Glyph(face.get(), glyph, FT_LOAD_NO_SCALE) != 0 || face->glyph->format != FT_GLYPH_FORMAT_OUTLINE)
            throw Error("letters: the font '" + options.font + "' has no outline for " + describe(code) + ".");
        return glyph;
    };
    FT_BBox capital;
    load('H');
    FT_Outline_Get_CBox(&face->glyph->outline, &capital);
    const Real scale = options.height / static_cast<Real>(capital.yMax - capital.yMin); // metres a font unit
    const Real edge = options.edge_length > 0 ? options.edge_length : options.height / 12;

    std::vector<TriangleMesh> letters;
    Real pen = 0; // metres
    FT_UInt previous = 0;
    for (const FT_ULong code : decode_utf8(text)) {
        const FT_UInt glyph = load(code);
        FT_Vector kerning = {0, 0};
        if (previous != 0) FT_Get_Kerning(face.get(), previous, glyph, FT_KERNING_UNSCALED, &kerning);
        previous = glyph;
        pen += scale * static_cast<Real>(kerning.x);
        OutlineSink sink{edge / scale, {}};
        const FT_Outline_Funcs callbacks = {
            OutlineSink::move, OutlineSink::line, OutlineSink::conic, OutlineSink::cubic, 0, 0};
        if (FT_Outline_Decompose(&face->glyph->outline, &callbacks, &sink) != 0)
            throw Error("letters: the outline of " + describe(code) + " in '" + options.font + "' is damaged.");
        for (Contour& contour : sink.contours)
            if (contour.size() > 1 && contour.front() == contour.back()) contour.pop_back();
        std::erase_if(sink.contours, [](const Contour& c) { return c.size() < 3; });
        if (!sink.contours.empty()) {
            PlanarMesh planar = tessellate(sink.contours);
            drop_unused(planar);
            fill_with_vertices(planar, edge / scale);
            for (Vec2& x : planar.vertices) x = Vec2(pen + scale * x.x(), scale * x.y());
            letters.push_back(extrude(planar, options.depth, edge));
            if (!is_closed(letters.back().triangles))
                throw Error("letters: the outline of " + describe(code) + " in '" + options.font +
                            "' touches itself, so that it encloses no clean volume.");
        }
        pen += scale * static_cast<Real>(face->glyph->metrics.horiAdvance) + options.spacing;
    }
    if (letters.empty()) throw Error("letters: the text has no letter that leaves ink.");

    Vec3 low = letters.front().vertices.front(), high = low;
    for (const TriangleMesh& letter : letters)
        for (const Vec3& x : letter.vertices) {
            low = low.cwiseMin(x);
            high = high.cwiseMax(x);
        }
    const Vec3 middle = (low + high) / 2;
    for (TriangleMesh& letter : letters)
        for (Vec3& x : letter.vertices) x -= middle;
    return letters;
}

TriangleMesh make_text(const std::string& text, const LetterOptions& options)
{
    TriangleMesh joined;
    for (const TriangleMesh& letter : make_letters(text, options)) {
        const Index offset = count(joined.vertices);
        joined.vertices.insert(joined.vertices.end(), letter.vertices.begin(), letter.vertices.end());
        for (const auto& [a, b, c] : letter.triangles) joined.triangles.push_back({a + offset, b + offset, c + offset});
    }
    return joined;
}

} // namespace pliant
