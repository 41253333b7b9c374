#pragma once
// The formats behind make_exporter().

#include "pliant/show/export.hpp"

namespace pliant {

using ExportBodies = std::vector<ExportBody>;

enum class VtkCells { triangles, tetrahedra };
std::unique_ptr<Exporter> make_vtk_exporter(const std::filesystem::path& out, ExportBodies bodies, VtkCells cells);
std::unique_ptr<Exporter> make_gltf_exporter(const std::filesystem::path& out, ExportBodies bodies,
                                             const ExportOptions& options);

/// "<name>_00012.ext".
std::string frame_file(const std::string& name, Index frame, const std::string& extension);

} // namespace pliant
