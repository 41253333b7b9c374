// Gmsh MSH files, ASCII, versions 2.2 and 4.1 (Gmsh reference manual, "MSH file format").

#include "pliant/core/error.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/mesh/polygon.hpp"
#include "pliant/mesh/text.hpp"

#include <algorithm>
#include <unordered_map>

namespace pliant {
namespace {

constexpr std::int64_t triangle_type = 2, quadrangle_type = 3, tet_type = 4;

/// Corners of the element types that we read; the others are skipped, being of another dimension.
int corners_of(std::int64_t type)
{
    return type == triangle_type ? 3 : type == quadrangle_type || type == tet_type ? 4 : 0;
}

/// Curved or non-simplicial elements would silently lose their meaning: they are refused by name.
const char* refused_name(std::int64_t type)
{
    switch (type) {
    case 5:
        return "hexahedra";
    case 6:
        return "prisms";
    case 7:
        return "pyramids";
    case 9:
        return "second-order triangles";
    case 11:
        return "second-order tetrahedra";
    default:
        return nullptr;
    }
}

struct MshData {
    Vec3s vertices;
    std::vector<std::vector<Index>> polygons;
    std::vector<Tet> tets;
};

class MshReader {
public:
    MshReader(std::string_view bytes, const std::string& name) : in_(bytes, name), name_(name) {}

    MshData read()
    {
        bool has_format = false;
        while (in_.next_line()) {
            const std::string_view section = in_.word();
            if (section.empty()) continue;
            if (section[0] != '$')
                in_.fail("expected a section such as '$Nodes', found " + TextReader::quoted(section));
            if (section == "$MeshFormat") {
                read_format();
                has_format = true;
            } else if (!has_format) {
                in_.fail("the file must start with '$MeshFormat'");
            } else if (section == "$Nodes") {
                version_ == 2 ? read_nodes_2() : read_nodes_4();
            } else if (section == "$Elements") {
                version_ == 2 ? read_elements_2() : read_elements_4();
            } else {
                skip_section(section);
                continue;
            }
            const std::string end = "$End" + std::string(section.substr(1));
            if (const std::string_view w = in_.need_word(end.c_str()); w != end)
                in_.fail("expected '" + end + "', found " + TextReader::quoted(w));
        }
        if (!has_format) in_.fail("the file has no '$MeshFormat'");
        return std::move(data_);
    }

private:
    void read_format()
    {
        const std::string_view version = in_.need_word("the version");
        if (version == "2.2")
            version_ = 2;
        else if (version == "4.1")
            version_ = 4;
        else
            in_.fail("version " + TextReader::quoted(version) + " is not supported, save as 2.2 or 4.1");
        if (in_.need_integer("the file type") != 0) in_.fail("binary files are not supported, save as ASCII");
        in_.need_integer("the data size");
    }

    void skip_section(std::string_view section)
    {
        const std::string end = "$End" + std::string(section.substr(1));
        while (in_.next_line())
            if (in_.word() == end) return;
        in_.fail("the section " + TextReader::quoted(section) + " has no end");
    }

    std::int64_t need_count(const char* what)
    {
        const std::int64_t n = in_.need_integer(what);
        if (n < 0 || static_cast<std::uint64_t>(n) > in_.bytes_left())
            in_.fail(std::string(what) + " is " + std::to_string(n) + ", which the file cannot hold");
        return n;
    }

    void add_node(std::int64_t tag)
    {
        Vec3 x;
        for (int k = 0; k < 3; ++k) x[k] = in_.need_real("a coordinate");
        if (!index_of_.emplace(tag, count(data_.vertices)).second)
            in_.fail("node " + std::to_string(tag) + " is defined twice");
        data_.vertices.push_back(x);
    }

    void read_nodes_2()
    {
        const std::int64_t n = need_count("the number of nodes");
        for (std::int64_t i = 0; i < n; ++i) add_node(in_.need_integer("a node number"));
    }

    void read_nodes_4()
    {
        const std::int64_t blocks = need_count("the number of node blocks");
        for (int k = 0; k < 3; ++k) in_.need_integer("a node count or bound");
        std::vector<std::int64_t> tags;
        for (std::int64_t b = 0; b < blocks; ++b) {
            in_.need_integer("the dimension of a block");
            in_.need_integer("the entity of a block");
            if (in_.need_integer("the parametric flag") != 0)
                in_.fail("parametric coordinates are not supported, save without them");
            tags.resize(static_cast<std::size_t>(need_count("the number of nodes in the block")));
            for (std::int64_t& tag : tags) tag = in_.need_integer("a node number");
            for (const std::int64_t tag : tags) add_node(tag);
        }
    }

    void add_element(std::int64_t type)
    {
        if (const char* refused = refused_name(type))
            in_.fail(std::string(refused) + " are not supported; mesh with first-order triangles and tetrahedra");
        const int corners = corners_of(type);
        if (corners == 0) { // points and lines: one element a line
            while (!in_.word().empty()) continue;
            return;
        }
        std::array<Index, 4> nodes{};
        for (int k = 0; k < corners; ++k) {
            const std::int64_t tag = in_.need_integer("a node number");
            const auto it = index_of_.find(tag);
            if (it == index_of_.end())
                in_.fail("the element uses node " + std::to_string(tag) + ", which does not exist");
            nodes[static_cast<std::size_t>(k)] = it->second;
        }
        if (type == tet_type)
            data_.tets.push_back(nodes);
        else
            data_.polygons.emplace_back(nodes.begin(), nodes.begin() + corners);
    }

    void read_elements_2()
    {
        const std::int64_t n = need_count("the number of elements");
        for (std::int64_t i = 0; i < n; ++i) {
            in_.need_integer("an element number");
            const std::int64_t type = in_.need_integer("an element type");
            const std::int64_t tags = need_count("the number of tags");
            for (std::int64_t k = 0; k < tags; ++k) in_.need_integer("a tag");
            add_element(type);
        }
    }

    void read_elements_4()
    {
        const std::int64_t blocks = need_count("the number of element blocks");
        for (int k = 0; k < 3; ++k) in_.need_integer("an element count or bound");
        for (std::int64_t b = 0; b < blocks; ++b) {
            in_.need_integer("the dimension of a block");
            in_.need_integer("the entity of a block");
            const std::int64_t type = in_.need_integer("an element type");
            const std::int64_t n = need_count("the number of elements in the block");
            for (std::int64_t i = 0; i < n; ++i) {
                in_.need_integer("an element number");
                add_element(type);
            }
        }
    }

    TextReader in_;
    std::string name_;
    int version_ = 0;
    MshData data_;
    std::unordered_map<std::int64_t, Index> index_of_;
};

/// Leaves out vertices that no element uses; the others keep their order.
template <class Element>
void drop_unused(Vec3s& vertices, std::vector<Element>& elements)
{
    std::vector<Index> id(vertices.size(), none);
    for (const Element& e : elements)
        for (const Index v : e) id[v] = 0;
    Index kept = 0;
    for (std::size_t v = 0; v < vertices.size(); ++v) {
        if (id[v] == none) continue;
        vertices[kept] = vertices[v];
        id[v] = kept++;
    }
    vertices.resize(kept);
    for (Element& e : elements)
        for (Index& v : e) v = id[v];
}

template <class Element>
std::string format(const Vec3s& vertices, const std::vector<Element>& elements, std::int64_t type, bool version_2)
{
    const std::string n = std::to_string(vertices.size()), m = std::to_string(elements.size());
    const std::string dimension = type == tet_type ? "3" : "2", type_name = std::to_string(type);
    std::string out = version_2 ? "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" + n + "\n"
                                : "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 " + n + " 1 " + n + "\n" +
                                      dimension + " 1 0 " + n + "\n";
    if (!version_2)
        for (std::size_t v = 1; v <= vertices.size(); ++v) {
            append_number(out, v);
            out += '\n';
        }
    for (std::size_t v = 0; v < vertices.size(); ++v) {
        if (version_2) {
            append_number(out, v + 1);
            out += ' ';
        }
        append_point(out, vertices[v]);
        out += '\n';
    }
    out += "$EndNodes\n$Elements\n";
    out += version_2 ? m + "\n" : "1 " + m + " 1 " + m + "\n" + dimension + " 1 " + type_name + " " + m + "\n";
    for (std::size_t e = 0; e < elements.size(); ++e) {
        append_number(out, e + 1);
        if (version_2) out += " " + type_name + " 2 1 1";
        for (const Index v : elements[e]) {
            out += ' ';
            append_number(out, v + 1);
        }
        out += '\n';
    }
    return out + "$EndElements\n";
}

} // namespace

TetMesh parse_msh_tets(std::string_view bytes, const std::string& name)
{
    MshData data = MshReader(bytes, name).read();
    if (data.tets.empty()) throw Error(name + ": the file has no tetrahedra.");
    drop_unused(data.vertices, data.tets);
    return {std::move(data.vertices), std::move(data.tets)};
}

TriangleMesh parse_msh_triangles(std::string_view bytes, const std::string& name)
{
    MshData data = MshReader(bytes, name).read();
    TriangleMesh mesh{std::move(data.vertices), {}};
    for (const std::vector<Index>& polygon : data.polygons) triangulate_polygon(mesh.vertices, polygon, mesh.triangles);
    if (mesh.triangles.empty()) throw Error(name + ": the file has no triangles.");
    drop_unused(mesh.vertices, mesh.triangles);
    return mesh;
}

std::string format_msh(const TriangleMesh& mesh, const MeshWriteOptions& options)
{
    return format(mesh.vertices, mesh.triangles, triangle_type, options.msh_2);
}

std::string format_msh(const TetMesh& mesh, const MeshWriteOptions& options)
{
    return format(mesh.vertices, mesh.tets, tet_type, options.msh_2);
}

} // namespace pliant
