#include "pliant/core/error.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/mesh/polygon.hpp"
#include "pliant/mesh/text.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace pliant {
namespace {

static_assert(std::endian::native == std::endian::little, "binary mesh files are little endian, and so must we be");

enum class Scalar { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

std::optional<Scalar> scalar_named(std::string_view word)
{
    static constexpr std::pair<std::string_view, Scalar> names[] = {
        {"char", Scalar::int8},      {"int8", Scalar::int8},       {"uchar", Scalar::uint8},
        {"uint8", Scalar::uint8},    {"short", Scalar::int16},     {"int16", Scalar::int16},
        {"ushort", Scalar::uint16},  {"uint16", Scalar::uint16},   {"int", Scalar::int32},
        {"int32", Scalar::int32},    {"uint", Scalar::uint32},     {"uint32", Scalar::uint32},
        {"float", Scalar::float32},  {"float32", Scalar::float32}, {"double", Scalar::float64},
        {"float64", Scalar::float64}};
    for (const auto& [name, scalar] : names)
        if (name == word) return scalar;
    return std::nullopt;
}

std::size_t bytes_of(Scalar s)
{
    static constexpr std::size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 8};
    return sizes[static_cast<int>(s)];
}

struct Property {
    std::string name;
    Scalar type = Scalar::float32;
    std::optional<Scalar> list_count; ///< set for a list
};

struct Element {
    std::string name;
    std::int64_t items = 0;
    std::vector<Property> properties;
};

enum class Format { ascii, little, big };

struct Header {
    Format format = Format::ascii;
    std::vector<Element> elements;
};

Header parse_header(TextReader& in)
{
    Header header;
    in.next_line();
    if (in.word() != "ply") in.fail("a PLY file must start with 'ply'");
    bool has_format = false;
    const auto type = [&] {
        const std::string_view w = in.word();
        const auto scalar = scalar_named(w);
        if (!scalar) in.fail("unknown type " + TextReader::quoted(w));
        return *scalar;
    };
    while (in.next_line()) {
        const std::string_view keyword = in.word();
        if (keyword == "end_header") {
            if (!has_format) in.fail("the header has no format");
            return header;
        }
        if (keyword == "format") {
            const std::string_view f = in.word();
            if (f != "ascii" && f != "binary_little_endian" && f != "binary_big_endian")
                in.fail("unknown format " + TextReader::quoted(f));
            header.format = f == "ascii" ? Format::ascii : f == "binary_little_endian" ? Format::little : Format::big;
            has_format = true;
        } else if (keyword == "element") {
            Element element;
            element.name = in.word();
            element.items = in.to_integer(in.word(), "the number of elements");
            if (element.items < 0 || element.items > std::numeric_limits<Index>::max())
                in.fail("the number of elements is out of range");
            header.elements.push_back(std::move(element));
        } else if (keyword == "property") {
            if (header.elements.empty()) in.fail("a property must follow an element");
            Property property;
            std::string_view w = in.word();
            if (w == "list") {
                property.list_count = type();
                property.type = type();
            } else {
                const auto scalar = scalar_named(w);
                if (!scalar) in.fail("unknown type " + TextReader::quoted(w));
                property.type = *scalar;
            }
            property.name = in.word();
            header.elements.back().properties.push_back(std::move(property));
        } else if (!keyword.empty() && keyword != "comment" && keyword != "obj_info") {
            in.fail("unknown header statement " + TextReader::quoted(keyword));
        }
    }
    in.fail("the header has no 'end_header'");
}

/// Numbers of the body one after the other, whatever the encoding. Errors name the line (text) or the byte (binary).
class Body {
public:
    Body(TextReader& header, const std::string& name, Format format)
        : in_(header), name_(name), format_(format), bytes_(header.rest()), size_(bytes_.size())
    {}

    Real value(Scalar type, const char* what)
    {
        if (format_ == Format::ascii) return in_.need_real(what);
        const std::size_t n = bytes_of(type);
        if (bytes_.size() < n) fail(std::string("the file ends where ") + what + " should stand");
        const std::string_view raw = bytes_.substr(0, n);
        bytes_.remove_prefix(n);
        const auto as = [&](auto number) {
            std::array<char, sizeof number> ordered;
            std::memcpy(ordered.data(), raw.data(), sizeof number);
            if (format_ == Format::big) std::reverse(ordered.begin(), ordered.end());
            std::memcpy(&number, ordered.data(), sizeof number);
            return static_cast<Real>(number);
        };
        Real x = 0;
        switch (type) {
        case Scalar::int8:
            x = as(std::int8_t());
            break;
        case Scalar::uint8:
            x = as(std::uint8_t());
            break;
        case Scalar::int16:
            x = as(std::int16_t());
            break;
        case Scalar::uint16:
            x = as(std::uint16_t());
            break;
        case Scalar::int32:
            x = as(std::int32_t());
            break;
        case Scalar::uint32:
            x = as(std::uint32_t());
            break;
        case Scalar::float32:
            x = as(float());
            break;
        case Scalar::float64:
            x = as(double());
            break;
        }
        return x;
    }

    Index integer(Scalar type, const char* what)
    {
        const Real x = value(type, what);
        if (!(x >= std::numeric_limits<Index>::min() && x <= std::numeric_limits<Index>::max()) || x != std::floor(x))
            fail(std::string(what) + " must be a whole number");
        return static_cast<Index>(x);
    }

    /// A number nobody asked for; in text it may be anything, such as a normal that is nan.
    void skip(Scalar type)
    {
        if (format_ == Format::ascii)
            in_.need_word("a property");
        else
            value(type, "a property");
    }

    std::size_t bytes_left() const { return format_ == Format::ascii ? in_.bytes_left() : bytes_.size(); }

    [[noreturn]] void fail(const std::string& message) const
    {
        if (format_ == Format::ascii) in_.fail(message);
        throw Error(name_ + ": " + message + " (byte " + std::to_string(size_ - bytes_.size()) + " after the header).");
    }

private:
    TextReader& in_;
    std::string name_;
    Format format_;
    std::string_view bytes_;
    std::size_t size_;
};

int coordinate_axis(const Property& p)
{
    if (p.list_count) return none;
    return p.name == "x" ? 0 : p.name == "y" ? 1 : p.name == "z" ? 2 : none;
}

void read_vertices(Body& body, const Element& element, TriangleMesh& mesh)
{
    int found = 0;
    for (const Property& p : element.properties) found += coordinate_axis(p) != none;
    if (found != 3) body.fail("the vertices must have x, y and z");
    for (std::int64_t i = 0; i < element.items; ++i) {
        Vec3 x = Vec3::Zero();
        for (const Property& p : element.properties) {
            const Index repeat = p.list_count ? body.integer(*p.list_count, "the length of a list") : 1;
            const int axis = coordinate_axis(p);
            for (Index k = 0; k < repeat; ++k) {
                if (axis == none) {
                    body.skip(p.type);
                    continue;
                }
                const Real v = body.value(p.type, "a coordinate");
                if (!std::isfinite(v))
                    body.fail("vertex " + std::to_string(i) + " has a coordinate that is not finite");
                x[axis] = v;
            }
        }
        mesh.vertices.push_back(x);
    }
}

using Polygons = std::vector<std::vector<Index>>;

void read_faces(Body& body, const Element& element, Polygons& polygons)
{
    const auto is_corners = [](const Property& p) {
        return p.list_count && (p.name == "vertex_indices" || p.name == "vertex_index");
    };
    if (std::none_of(element.properties.begin(), element.properties.end(), is_corners))
        body.fail("the faces must have a list 'vertex_indices'");
    for (std::int64_t i = 0; i < element.items; ++i) {
        std::vector<Index> polygon;
        for (const Property& p : element.properties) {
            const Index repeat = p.list_count ? body.integer(*p.list_count, "the length of a list") : 1;
            if (!is_corners(p)) {
                for (Index k = 0; k < repeat; ++k) body.skip(p.type);
                continue;
            }
            if (repeat < 3) body.fail("face " + std::to_string(i) + " has fewer than three corners");
            if (static_cast<std::size_t>(repeat) > most_polygon_corners)
                body.fail("face " + std::to_string(i) + " has too many corners");
            for (Index k = 0; k < repeat; ++k) polygon.push_back(body.integer(p.type, "a vertex number"));
        }
        polygons.push_back(std::move(polygon));
    }
}

} // namespace

TriangleMesh parse_ply(std::string_view bytes, const std::string& name)
{
    TextReader in(bytes, name);
    const Header header = parse_header(in);
    Body body(in, name, header.format);
    TriangleMesh mesh;
    Polygons polygons;
    for (const Element& element : header.elements) {
        // Every item takes at least a byte: an absurd count is refused before anything is stored for it.
        if (!element.properties.empty() && static_cast<std::uint64_t>(element.items) > body.bytes_left())
            body.fail("the header announces " + std::to_string(element.items) + " of '" + element.name +
                      "', more than the file can hold");
        if (element.name == "vertex") {
            read_vertices(body, element, mesh);
        } else if (element.name == "face") {
            read_faces(body, element, polygons);
        } else if (!element.properties.empty()) {
            for (std::int64_t i = 0; i < element.items; ++i)
                for (const Property& p : element.properties) {
                    const Index repeat = p.list_count ? body.integer(*p.list_count, "the length of a list") : 1;
                    for (Index k = 0; k < repeat; ++k) body.skip(p.type);
                }
        }
    }
    for (std::size_t f = 0; f < polygons.size(); ++f) {
        for (const Index v : polygons[f])
            if (v < 0 || v >= count(mesh.vertices))
                throw Error(name + ": face " + std::to_string(f) + " uses vertex " + std::to_string(v) +
                            ", but there are only " + std::to_string(mesh.vertices.size()) + " (the first is 0).");
        triangulate_polygon(mesh.vertices, polygons[f], mesh.triangles);
    }
    if (mesh.triangles.empty()) throw Error(name + ": the file has no faces.");
    return mesh;
}

std::string format_ply(const TriangleMesh& mesh, const MeshWriteOptions& options)
{
    const std::string real = options.single_precision ? "float" : "double";
    std::string out = std::string("ply\nformat ") + (options.ascii ? "ascii" : "binary_little_endian") +
                      " 1.0\ncomment pliant\nelement vertex " + std::to_string(mesh.vertices.size()) + "\nproperty " +
                      real + " x\nproperty " + real + " y\nproperty " + real + " z\nelement face " +
                      std::to_string(mesh.triangles.size()) + "\nproperty list uchar int vertex_indices\nend_header\n";
    const auto append = [&](const auto& value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); };
    for (const Vec3& x : mesh.vertices) {
        for (int k = 0; k < 3; ++k) {
            if (options.ascii) {
                if (options.single_precision)
                    append_number(out, static_cast<float>(x[k]));
                else
                    append_number(out, x[k]);
                out += k < 2 ? ' ' : '\n';
            } else if (options.single_precision) {
                append(static_cast<float>(x[k]));
            } else {
                append(x[k]);
            }
        }
    }
    for (const Triangle& t : mesh.triangles) {
        if (!options.ascii) {
            append(std::uint8_t(3));
            for (const Index v : t) append(v);
            continue;
        }
        out += '3';
        for (const Index v : t) {
            out += ' ';
            append_number(out, v);
        }
        out += '\n';
    }
    return out;
}

} // namespace pliant
