#include "pliant/mesh/io.hpp"

#include "pliant/core/error.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <unistd.h>

namespace pliant {
namespace {

std::string extension_of(const std::filesystem::path& path)
{
    std::string extension = path.extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return extension;
}

[[noreturn]] void refuse_extension(const std::filesystem::path& path)
{
    throw Error(path.string() + ": the extension must be .obj, .ply, .stl or .msh.");
}

[[noreturn]] void fail_system(const std::filesystem::path& path, const char* action, int code)
{
    throw Error(path.string() + ": cannot " + action + ": " + std::strerror(code) + ".");
}

} // namespace

std::string read_file(const std::filesystem::path& path)
{
    std::error_code code;
    if (std::filesystem::is_directory(path, code)) throw Error(path.string() + ": this is a directory, not a file.");
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (!file) fail_system(path, "open the file", errno);
    std::string bytes;
    char buffer[1 << 16];
    std::size_t n;
    while ((n = std::fread(buffer, 1, sizeof buffer, file)) > 0) bytes.append(buffer, n);
    const int failure = std::ferror(file) ? errno : 0;
    std::fclose(file);
    if (failure) fail_system(path, "read the file", failure);
    return bytes;
}

void write_file(const std::filesystem::path& path, std::string_view bytes)
{
    const std::filesystem::path temporary = path.string() + ".part" + std::to_string(::getpid());
    std::FILE* file = std::fopen(temporary.c_str(), "wb");
    if (!file) fail_system(path, "create the file", errno);
    bool good = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    int failure = errno;
    if (std::fclose(file) != 0 && good) {
        good = false;
        failure = errno;
    }
    if (good && std::rename(temporary.c_str(), path.c_str()) != 0) {
        good = false;
        failure = errno;
    }
    if (good) return;
    std::remove(temporary.c_str());
    fail_system(path, "write the file", failure);
}

TriangleMesh read_triangle_mesh(const std::filesystem::path& path)
{
    const std::string extension = extension_of(path), name = path.string();
    if (extension == ".obj") return parse_obj(read_file(path), name);
    if (extension == ".ply") return parse_ply(read_file(path), name);
    if (extension == ".stl") return parse_stl(read_file(path), name);
    if (extension == ".msh") return parse_msh_triangles(read_file(path), name);
    refuse_extension(path);
}

TetMesh read_tet_mesh(const std::filesystem::path& path)
{
    const std::string extension = extension_of(path);
    if (extension == ".msh") return parse_msh_tets(read_file(path), path.string());
    if (extension == ".obj" || extension == ".ply" || extension == ".stl")
        throw Error(path.string() +
                    ": tetrahedra are read from .msh files; embed this surface into a lattice instead.");
    throw Error(path.string() + ": the extension must be .msh.");
}

void write_triangle_mesh(const std::filesystem::path& path, const TriangleMesh& mesh, const MeshWriteOptions& options)
{
    const std::string extension = extension_of(path);
    if (extension == ".obj")
        write_file(path, format_obj(mesh));
    else if (extension == ".ply")
        write_file(path, format_ply(mesh, options));
    else if (extension == ".stl")
        write_file(path, format_stl(mesh, options));
    else if (extension == ".msh")
        write_file(path, format_msh(mesh, options));
    else
        refuse_extension(path);
}

void write_tet_mesh(const std::filesystem::path& path, const TetMesh& mesh, const MeshWriteOptions& options)
{
    if (extension_of(path) != ".msh") throw Error(path.string() + ": the extension must be .msh.");
    write_file(path, format_msh(mesh, options));
}

} // namespace pliant
