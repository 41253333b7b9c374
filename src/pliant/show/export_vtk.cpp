// VTK XML poly data (.vtp) and unstructured grids of tetrahedra (.vtu), data appended raw in little endian, and a
// ParaView collection (.pvd) of all frames (VTK User's Guide, "XML file formats").

#include "pliant/mesh/io.hpp"
#include "pliant/mesh/text.hpp"
#include "pliant/show/export_formats.hpp"

namespace pliant {
namespace {

std::string escaped(const std::string& text)
{
    std::string out;
    for (const char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

/// Collects arrays for the block at the end of the file; the XML refers to them by offset.
class Appended {
public:
    template <class T>
    std::string array(const char* type, const std::string& name, int components, const T* data, std::size_t values)
    {
        std::string tag = std::string("<DataArray type=\"") + type + "\" Name=\"" + escaped(name) +
                          "\" NumberOfComponents=\"" + std::to_string(components) + "\" format=\"appended\" offset=\"" +
                          std::to_string(bytes_.size()) + "\"/>\n";
        const std::uint64_t size = values * sizeof(T);
        bytes_.append(reinterpret_cast<const char*>(&size), sizeof size);
        bytes_.append(reinterpret_cast<const char*>(data), size);
        return tag;
    }
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

std::string format_vtk(const ExportBody& body, const ExportState& state, VtkCells cells)
{
    static_assert(sizeof(Vec3) == 3 * sizeof(Real));
    const bool tets = cells == VtkCells::tetrahedra;
    Appended data;
    std::string fields;
    for (const VertexField& f : state.fields)
        fields += f.vectors.empty() ? data.array("Float64", f.name, 1, f.scalars.data(), f.scalars.size())
                                    : data.array("Float64", f.name, 3, f.vectors.front().data(), 3 * f.vectors.size());
    std::vector<std::int64_t> connectivity, offsets;
    const auto add_cell = [&](const auto& cell) {
        connectivity.insert(connectivity.end(), cell.begin(), cell.end());
        offsets.push_back(static_cast<std::int64_t>(connectivity.size()));
    };
    if (tets)
        for (const Tet& t : body.tets) add_cell(t);
    else
        for (const Triangle& t : body.triangles) add_cell(t);
    const Real* positions = state.positions.empty() ? nullptr : state.positions.front().data();
    const std::string type = tets ? "UnstructuredGrid" : "PolyData", section = tets ? "Cells" : "Polys";
    std::string xml = "<?xml version=\"1.0\"?>\n<VTKFile type=\"" + type +
                      "\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<" + type +
                      ">\n<Piece NumberOfPoints=\"" + std::to_string(state.positions.size()) + "\" ";
    if (!tets) xml += "NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" ";
    xml += "NumberOf" + section + "=\"" + std::to_string(offsets.size()) + "\">\n";
    xml += "<PointData>\n" + fields + "</PointData>\n";
    xml += "<Points>\n" + data.array("Float64", "Points", 3, positions, 3 * state.positions.size()) + "</Points>\n";
    xml += "<" + section + ">\n" + data.array("Int64", "connectivity", 1, connectivity.data(), connectivity.size());
    xml += data.array("Int64", "offsets", 1, offsets.data(), offsets.size());
    if (tets) {
        constexpr std::uint8_t vtk_tetra = 10;
        const std::vector<std::uint8_t> types(offsets.size(), vtk_tetra);
        xml += data.array("UInt8", "types", 1, types.data(), types.size());
    }
    xml += "</" + section + ">\n</Piece>\n</" + type + ">\n<AppendedData encoding=\"raw\">\n_";
    return xml + data.bytes() + "\n</AppendedData>\n</VTKFile>\n";
}

class VtkExporter : public Exporter {
public:
    VtkExporter(std::filesystem::path out, ExportBodies bodies, VtkCells cells)
        : out_(std::move(out)), bodies_(std::move(bodies)), cells_(cells)
    {}

    void add(Real time, const std::vector<ExportState>& states) override
    {
        for (std::size_t b = 0; b < bodies_.size(); ++b) {
            const std::string file = frame_file(bodies_[b].name, frame_, cells_ == VtkCells::triangles ? "vtp" : "vtu");
            write_file(out_ / file, format_vtk(bodies_[b], states[b], cells_));
            collection_ += "<DataSet timestep=\"";
            append_number(collection_, time);
            collection_ += "\" group=\"\" part=\"" + std::to_string(b) + "\" name=\"" + escaped(bodies_[b].name) +
                           "\" file=\"" + file + "\"/>\n";
        }
        ++frame_;
    }

    void finish() override
    {
        write_file(out_ / "motion.pvd", "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
                                        "byte_order=\"LittleEndian\">\n<Collection>\n" +
                                            collection_ + "</Collection>\n</VTKFile>\n");
    }

private:
    std::filesystem::path out_;
    ExportBodies bodies_;
    VtkCells cells_;
    std::string collection_;
    Index frame_ = 0;
};

} // namespace

std::unique_ptr<Exporter> make_vtk_exporter(const std::filesystem::path& out, ExportBodies bodies, VtkCells cells)
{
    return std::make_unique<VtkExporter>(out, std::move(bodies), cells);
}

} // namespace pliant
