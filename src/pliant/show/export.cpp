#include "pliant/core/error.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/show/export_formats.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>

#include <unistd.h>

namespace pliant {
namespace {

static_assert(std::endian::native == std::endian::little, "the files are little endian, and so must we be");

/// A body's name may be anything; a file's may not. Equal results get a number.
void make_file_names(ExportBodies& bodies)
{
    std::set<std::string> taken;
    for (ExportBody& body : bodies) {
        std::string name;
        for (const char c : body.name)
            name += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' ? c : '_';
        if (name.empty()) name = "body";
        std::string unique = name;
        for (int k = 2; !taken.insert(unique).second; ++k) unique = name + "_" + std::to_string(k);
        body.name = unique;
    }
}

/// Checks what every format relies on, so that each may index without asking.
class CheckedExporter : public Exporter {
public:
    CheckedExporter(std::unique_ptr<Exporter> inner, const ExportBodies& bodies) : inner_(std::move(inner))
    {
        for (const ExportBody& body : bodies) {
            Index needed = 0;
            const auto require = [&](Index v) {
                if (v < 0) throw Error("export: body '" + body.name + "' has a negative vertex index.");
                needed = std::max(needed, v + 1);
            };
            for (const Triangle& t : body.triangles) std::for_each(t.begin(), t.end(), require);
            for (const Tet& t : body.tets) std::for_each(t.begin(), t.end(), require);
            names_.push_back(body.name);
            vertices_.push_back(needed);
        }
    }

    void add(Real time, const std::vector<ExportState>& states) override
    {
        if (!(time > last_)) throw Error("export: the times of frames must grow.");
        if (states.size() != names_.size()) throw Error("export: a frame must hold every body.");
        for (std::size_t b = 0; b < states.size(); ++b) {
            const Vec3s& x = states[b].positions;
            if (frames_ == 0 && count(x) >= vertices_[b]) vertices_[b] = count(x);
            if (count(x) != vertices_[b])
                throw Error("export: body '" + names_[b] + "' has " + std::to_string(x.size()) + " vertices, not " +
                            std::to_string(vertices_[b]) + ".");
            for (const Vec3& p : x)
                if (!p.allFinite()) throw Error("export: body '" + names_[b] + "' has a position that is not finite.");
            for (const VertexField& f : states[b].fields)
                if (f.vectors.size() + f.scalars.size() != x.size())
                    throw Error("export: the field '" + f.name + "' of body '" + names_[b] +
                                "' must have a value a vertex.");
        }
        inner_->add(time, states);
        last_ = time;
        ++frames_;
    }

    void finish() override
    {
        if (frames_ == 0) throw Error("export: there are no frames.");
        inner_->finish();
    }

private:
    std::unique_ptr<Exporter> inner_;
    std::vector<std::string> names_;
    std::vector<Index> vertices_;
    Real last_ = -std::numeric_limits<Real>::infinity();
    Index frames_ = 0;
};

class MeshSequenceExporter : public Exporter {
public:
    MeshSequenceExporter(std::string extension, std::filesystem::path out, ExportBodies bodies, bool ascii)
        : extension_(std::move(extension)), out_(std::move(out)), bodies_(std::move(bodies)), ascii_(ascii)
    {}
    void add(Real, const std::vector<ExportState>& states) override
    {
        for (std::size_t b = 0; b < bodies_.size(); ++b)
            write_triangle_mesh(out_ / frame_file(bodies_[b].name, frame_, extension_),
                                {states[b].positions, bodies_[b].triangles}, {.ascii = ascii_});
        ++frame_;
    }
    void finish() override {}

private:
    std::string extension_;
    std::filesystem::path out_;
    ExportBodies bodies_;
    bool ascii_;
    Index frame_ = 0;
};

/// PC2: a header of 32 bytes, then the positions of all vertices as floats, frame by frame.
class Pc2Exporter : public Exporter {
public:
    Pc2Exporter(std::filesystem::path out, ExportBodies bodies) : out_(std::move(out)), bodies_(std::move(bodies))
    {
        for (const ExportBody& body : bodies_)
            parts_.push_back(out_ / (body.name + ".pc2.part" + std::to_string(::getpid())));
    }
    ~Pc2Exporter() override
    {
        std::error_code ignored;
        for (const auto& part : parts_) std::filesystem::remove(part, ignored);
    }
    void add(Real, const std::vector<ExportState>& states) override
    {
        for (std::size_t b = 0; b < bodies_.size(); ++b) {
            std::string bytes;
            if (frames_ == 0) {
                write_triangle_mesh(out_ / (bodies_[b].name + ".obj"), {states[b].positions, bodies_[b].triangles});
                bytes = header(count(states[b].positions), 0);
                vertices_.push_back(count(states[b].positions));
            }
            for (const Vec3& x : states[b].positions)
                for (int k = 0; k < 3; ++k) append(bytes, static_cast<float>(x[k]));
            std::ofstream file(parts_[b], std::ios::binary | (frames_ == 0 ? std::ios::trunc : std::ios::app));
            file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
            file.close();
            if (!file) throw Error((out_ / (bodies_[b].name + ".pc2")).string() + ": cannot write the file.");
        }
        ++frames_;
    }
    void finish() override
    {
        for (std::size_t b = 0; b < bodies_.size(); ++b) {
            const std::filesystem::path path = out_ / (bodies_[b].name + ".pc2");
            std::fstream file(parts_[b], std::ios::binary | std::ios::in | std::ios::out);
            const std::string bytes = header(vertices_[b], frames_); // now the number of frames is known
            file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
            file.close();
            if (!file || std::rename(parts_[b].c_str(), path.c_str()) != 0)
                throw Error(path.string() + ": cannot write the file.");
        }
    }

private:
    template <class T>
    static void append(std::string& bytes, T value)
    {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    static std::string header(Index points, Index samples)
    {
        std::string bytes("POINTCACHE2\0", 12);
        append(bytes, std::int32_t(1));
        append(bytes, std::int32_t(points));
        append(bytes, 0.f); // first frame
        append(bytes, 1.f); // frames a sample
        append(bytes, std::int32_t(samples));
        return bytes;
    }

    std::filesystem::path out_;
    ExportBodies bodies_;
    std::vector<std::filesystem::path> parts_;
    std::vector<Index> vertices_;
    Index frames_ = 0;
};

} // namespace

std::string frame_file(const std::string& name, Index frame, const std::string& extension)
{
    char number[16];
    std::snprintf(number, sizeof number, "_%05d.", static_cast<int>(frame));
    return name + number + extension;
}

std::unique_ptr<Exporter> make_exporter(const std::string& format, const std::filesystem::path& out,
                                        std::vector<ExportBody> bodies, const ExportOptions& options)
{
    const bool is_sequence = format == "ply" || format == "obj" || format == "stl";
    if (!is_sequence && format != "pc2" && format != "vtk" && format != "vtu" && format != "gltf")
        throw Error("export: unknown format '" + format + "'; the formats are ply, obj, stl, pc2, vtk, vtu and gltf.");
    if (bodies.empty()) throw Error("export: there are no bodies.");
    make_file_names(bodies);
    if (format != "gltf") {
        std::error_code code;
        std::filesystem::create_directories(out, code);
        if (code) throw Error(out.string() + ": cannot create the directory: " + code.message() + ".");
    }
    std::unique_ptr<Exporter> exporter;
    if (is_sequence)
        exporter = std::make_unique<MeshSequenceExporter>(format, out, bodies, options.ascii);
    else if (format == "pc2")
        exporter = std::make_unique<Pc2Exporter>(out, bodies);
    else if (format == "vtk")
        exporter = make_vtk_exporter(out, bodies, VtkCells::triangles);
    else if (format == "vtu")
        exporter = make_vtk_exporter(out, bodies, VtkCells::tetrahedra);
    else
        exporter = make_gltf_exporter(out, bodies, options);
    return std::make_unique<CheckedExporter>(std::move(exporter), bodies);
}

} // namespace pliant
