#include "pliant/core/error.hpp"
#include "pliant/core/random.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/mesh/topology.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>

#include <unistd.h>

using namespace pliant;

namespace {

/// A mesh whose coordinates need all digits: tiny, huge, thirds, negative zero.
TriangleMesh awkward_mesh()
{
    TriangleMesh mesh = make_sphere(1.0 / 3, 1);
    Random random(7);
    for (Vec3& x : mesh.vertices) x = x.cwiseProduct(random.in_box({0.1, 0.1, 0.1}, {3, 3, 3}));
    mesh.vertices[0] = {1e-310, -0.0, 4.9e-324};
    mesh.vertices[1] = {1.7976931348623157e308, -2.2250738585072014e-308, 0.1};
    return mesh;
}

bool same_bits(const Vec3s& a, const Vec3s& b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Vec3)) == 0;
}

std::string message_of(const std::function<void()>& action)
{
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

class MeshFiles : public ::testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(dir_); }
    void TearDown() override { std::filesystem::remove_all(dir_); }
    std::filesystem::path dir_ =
        std::filesystem::temp_directory_path() / ("pliant-mesh-files-" + std::to_string(::getpid()));
};

} // namespace

TEST_F(MeshFiles, DoublesAndVertexOrderSurviveARoundTrip)
{
    const TriangleMesh mesh = awkward_mesh();
    const std::vector<std::pair<std::string, MeshWriteOptions>> cases = {
        {"a.obj", {}}, {"a.ply", {}}, {"b.PLY", {.ascii = true}}, {"a.msh", {}}, {"b.msh", {.msh_2 = true}}};
    for (const auto& [file, options] : cases) {
        write_triangle_mesh(dir_ / file, mesh, options);
        const TriangleMesh back = read_triangle_mesh(dir_ / file);
        EXPECT_TRUE(same_bits(back.vertices, mesh.vertices)) << file;
        EXPECT_EQ(back.triangles, mesh.triangles) << file;
    }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_), {}), 5) << "a temporary file was left behind";
}

TEST_F(MeshFiles, TetrahedraSurviveARoundTripInBothVersionsOfMsh)
{
    TetMesh mesh = make_tet_sphere(1.0 / 3, 3);
    for (const bool version_2 : {false, true}) {
        write_tet_mesh(dir_ / "a.msh", mesh, {.msh_2 = version_2});
        const TetMesh back = read_tet_mesh(dir_ / "a.msh");
        EXPECT_TRUE(same_bits(back.vertices, mesh.vertices));
        EXPECT_EQ(back.tets, mesh.tets);
    }
}

TEST(MeshFormats, SinglePrecisionPlyRoundsToTheNearestFloat)
{
    const TriangleMesh mesh = make_sphere(1.0 / 3, 2);
    for (const bool ascii : {false, true}) {
        const TriangleMesh back = parse_ply(format_ply(mesh, {.ascii = ascii, .single_precision = true}), "x.ply");
        for (std::size_t i = 0; i < mesh.vertices.size(); ++i)
            EXPECT_EQ(Eigen::Vector3f(back.vertices[i].cast<float>()), Eigen::Vector3f(mesh.vertices[i].cast<float>()));
    }
}

TEST(MeshFormats, StlIsWeldedBackToTheClosedSurface)
{
    const TriangleMesh mesh = make_sphere(1, 2);
    const TriangleMesh text = parse_stl(format_stl(mesh, {.ascii = true}), "x.stl");
    EXPECT_EQ(text.vertices.size(), mesh.vertices.size());
    EXPECT_TRUE(is_closed(text.triangles));
    EXPECT_EQ(enclosed_volume(text), enclosed_volume(parse_stl(format_stl(text, {.ascii = true}), "y.stl")));
    const TriangleMesh binary = parse_stl(format_stl(mesh), "x.stl");
    EXPECT_EQ(binary.vertices.size(), mesh.vertices.size());
    EXPECT_TRUE(is_closed(binary.triangles));
    EXPECT_NEAR(enclosed_volume(binary), enclosed_volume(mesh), 1e-6);
}

TEST(MeshFormats, BinaryStlThatStartsWithSolidIsRecognisedByItsSize)
{
    std::string bytes = format_stl(make_box({1, 1, 1}));
    std::memcpy(bytes.data(), "solid", 5);
    EXPECT_EQ(parse_stl(bytes, "x.stl").triangles.size(), 12u);
}

TEST(MeshFormats, ObjAcceptsWhatModellersWrite)
{
    const TriangleMesh mesh =
        parse_obj("# comment\r\nmtllib a.mtl\no thing\nv 0 0 0 1\nv +1 0 0 0.5 0.5 0.5\nv 1e0 1 0\n"
                  "v 0 1 0\nvt 0 0\nvn 0 0 1\ns off\nusemtl m\n\nf 1/1/1 2//1 -2/1 4 # quad\n"
                  "f 1 2 \\\n 3\n",
                  "x.obj");
    EXPECT_EQ(mesh.vertices.size(), 4u);
    EXPECT_EQ(mesh.triangles.size(), 3u);
    EXPECT_EQ(mesh.triangles.back(), (Triangle{0, 1, 2}));
}

TEST(MeshFormats, ConcavePolygonsAreCutIntoTrianglesThatCoverThem)
{
    // An arrow head and a star-like polygon; fans from the first corner would leave them.
    for (const char* text :
         {"v 0 0 0\nv 2 1 0\nv 0 2 0\nv 0.5 1 0\nf 1 2 3 4\n", "v 0 0 0\nv 2 1 0\nv 0 2 0\nv 0.5 1 0\nf 3 4 1 2\n",
          "v 0 0 0\nv 4 0 0\nv 4 3 0\nv 3 3 0\nv 3 1 0\nv 1 1 0\nv 1 3 0\nv 0 3 0\nf 1 2 3 4 5 6 7 8\n"}) {
        const TriangleMesh mesh = parse_obj(text, "x.obj");
        Real area = 0;
        for (const Triangle& t : mesh.triangles) {
            const Vec3 n =
                (mesh.vertices[t[1]] - mesh.vertices[t[0]]).cross(mesh.vertices[t[2]] - mesh.vertices[t[0]]) / 2;
            EXPECT_GT(n.z(), 0);
            area += n.z();
        }
        EXPECT_NEAR(area, mesh.vertices.size() == 4 ? 1.5 : 8, 1e-14);
    }
}

TEST(MeshFormats, PlySkipsWhatItDoesNotKnow)
{
    const TriangleMesh mesh = parse_ply("ply\nformat ascii 1.0\ncomment hi\nelement camera 1\nproperty float fov\n"
                                        "element vertex 3\nproperty float nx\nproperty float x\nproperty float y\n"
                                        "property float z\nelement face 1\nproperty list uchar uint vertex_index\n"
                                        "property uchar red\nelement edge 1\nproperty int a\nend_header\n"
                                        "90\nnan 0 0 0\n0 1 0 0\n0 0 1 0\n3 0 1 2 255\n7\n",
                                        "x.ply");
    EXPECT_EQ(mesh.vertices[1], Vec3(1, 0, 0));
    EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}}));
}

TEST(MeshFormats, PlyReadsBigEndian)
{
    std::string bytes = "ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                        "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";
    const auto put = [&](auto value) {
        char raw[sizeof value];
        std::memcpy(raw, &value, sizeof value);
        std::reverse(raw, raw + sizeof value);
        bytes.append(raw, sizeof value);
    };
    for (float x : {0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 2.5f, 0.f}) put(x);
    put(std::uint8_t(3));
    for (int v : {0, 1, 2}) put(v);
    const TriangleMesh mesh = parse_ply(bytes, "x.ply");
    EXPECT_EQ(mesh.vertices[2], Vec3(0, 2.5, 0));
    EXPECT_EQ(mesh.triangles[0], (Triangle{0, 1, 2}));
}

TEST(MeshFormats, GmshFilesWithPointsLinesAndSparseNumbersAreRead)
{
    const TetMesh v2 =
        parse_msh_tets("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"body\"\n$EndPhysicalNames\n"
                       "$Nodes\n5\n10 0 0 0\n20 1 0 0\n30 0 1 0\n40 0 0 1\n99 5 5 5\n$EndNodes\n$Elements\n4\n"
                       "1 15 2 0 1 99\n2 1 2 0 1 10 20\n3 2 2 0 1 10 20 30\n4 4 2 1 1 10 20 30 40\n$EndElements\n",
                       "x.msh");
    EXPECT_EQ(v2.vertices.size(), 4u) << "the construction point 99 belongs to no tetrahedron";
    EXPECT_EQ(v2.tets, (std::vector<Tet>{{0, 1, 2, 3}}));
    const TetMesh v4 =
        parse_msh_tets("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n1 0 0 1\n1 0 0 0 0\n$EndEntities\n"
                       "$Nodes\n2 4 10 40\n0 1 0 1\n10\n0 0 0\n3 1 0 3\n40\n20\n30\n0 0 1\n1 0 0\n0 1 0\n$EndNodes\n"
                       "$Elements\n2 2 1 2\n0 1 15 1\n1 10\n3 1 4 1\n2 10 20 30 40\n$EndElements\n",
                       "x.msh");
    EXPECT_EQ(v4.tets, (std::vector<Tet>{{0, 2, 3, 1}}));
    EXPECT_EQ(v4.vertices[1], Vec3(0, 0, 1));
}

TEST(MeshFormats, FaultsAreReportedWithFileAndLine)
{
    const auto obj = [](const char* text) { return message_of([&] { parse_obj(text, "x.obj"); }); };
    EXPECT_EQ(obj(""), "x.obj: the file has no faces.");
    EXPECT_EQ(obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n"), "x.obj:4: the face uses vertex 4, but there are only 3.");
    EXPECT_EQ(obj("v 0 0 nan\n"), "x.obj:1: a coordinate must be a finite number, not 'nan'.");
    EXPECT_EQ(obj("v 0 0 1e999\n"), "x.obj:1: a coordinate '1e999' is out of the range of a double.");
    EXPECT_EQ(obj("v 0 0\n"), "x.obj:1: a vertex needs three coordinates.");
    EXPECT_EQ(obj("v 0 0 0\nf 0 1 1\n"), "x.obj:2: vertex numbers start at 1, not 0.");
    EXPECT_EQ(obj("v 0 0 0\nf -2 1 1\n"), "x.obj:2: the face uses vertex -2, which does not exist.");
    EXPECT_EQ(obj("v 0 0 0\nf 1 1\n"), "x.obj:2: a face needs at least three corners.");
    EXPECT_EQ(obj("hello world\n"), "x.obj:1: unknown statement 'hello'.");

    const auto ply = [](const std::string& text) { return message_of([&] { parse_ply(text, "x.ply"); }); };
    const std::string header = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                               "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";
    EXPECT_EQ(ply("plx\n"), "x.ply:1: a PLY file must start with 'ply'.");
    EXPECT_EQ(
        ply("ply\nformat ascii 1.0\nelement vertex 2000000000\nproperty float x\nproperty float y\nproperty float z\n"
            "end_header\n0 0 0\n"),
        "x.ply:7: the header announces 2000000000 of 'vertex', more than the file can hold.");
    EXPECT_EQ(ply(header + "0 0 0\n1 0 0\n0 inf 0\n3 0 1 2\n"),
              "x.ply:12: a coordinate must be a finite number, not 'inf'.");
    EXPECT_EQ(ply(header + "0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n"),
              "x.ply: face 0 uses vertex 3, but there are only 3 (the first is 0).");
    EXPECT_EQ(ply(header + "0 0 0\n1 0 0\n"), "x.ply:11: the file ends where a coordinate should stand.");

    const auto stl = [](const std::string& text) { return message_of([&] { parse_stl(text, "x.stl"); }); };
    EXPECT_EQ(stl("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 zero\n"),
              "x.stl:4: expected a coordinate, found 'zero'.");
    std::string binary = format_stl(make_box({1, 1, 1}));
    binary.resize(binary.size() - 1);
    EXPECT_EQ(stl(binary), "x.stl: the header announces 12 triangles, but the file ends after 11.");

    const auto msh = [](const std::string& text) { return message_of([&] { parse_msh_tets(text, "x.msh"); }); };
    EXPECT_EQ(msh("$MeshFormat\n3.0 0 8\n"), "x.msh:2: version '3.0' is not supported, save as 2.2 or 4.1.");
    EXPECT_EQ(msh("$MeshFormat\n4.1 1 8\n"), "x.msh:2: binary files are not supported, save as ASCII.");
    EXPECT_EQ(msh("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n999999999\n"),
              "x.msh:5: the number of nodes is 999999999, which the file cannot hold.");
    EXPECT_EQ(msh("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 4 0 1 1 1 7\n"),
              "x.msh:10: the element uses node 7, which does not exist.");
    EXPECT_EQ(msh("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"), "x.msh: the file has no tetrahedra.");
}

TEST_F(MeshFiles, MissingFilesAndWrongExtensionsAreNamed)
{
    const std::string missing = (dir_ / "no.obj").string();
    EXPECT_EQ(message_of([&] { read_triangle_mesh(missing); }),
              missing + ": cannot open the file: No such file or directory.");
    EXPECT_EQ(message_of([&] { read_triangle_mesh("a.fbx"); }),
              "a.fbx: the extension must be .obj, .ply, .stl or .msh.");
    EXPECT_EQ(message_of([&] { read_tet_mesh("a.obj"); }),
              "a.obj: tetrahedra are read from .msh files; embed this surface into a lattice instead.");
    std::filesystem::create_directory(dir_ / "d.obj");
    EXPECT_EQ(message_of([&] { read_triangle_mesh(dir_ / "d.obj"); }),
              (dir_ / "d.obj").string() + ": this is a directory, not a file.");
    EXPECT_EQ(message_of([&] {
                  write_triangle_mesh(dir_ / "no/such/a.obj", make_box({1, 1, 1}));
              }),
              (dir_ / "no/such/a.obj").string() + ": cannot create the file: No such file or directory.");
}

TEST(MeshFormats, DamagedFilesEndInAnErrorOrAMeshWithValidIndices)
{
    const TriangleMesh mesh = make_sphere(1, 0);
    const TetMesh tets = make_tet_box({1, 1, 1}, {1, 1, 1});
    const auto check = [](const TriangleMesh& m) {
        for (const Triangle& t : m.triangles)
            for (const Index v : t) ASSERT_TRUE(v >= 0 && v < count(m.vertices));
        for (const Vec3& x : m.vertices) ASSERT_TRUE(x.allFinite());
    };
    struct Format {
        std::string bytes;
        std::function<void(const std::string&)> read;
    };
    const auto triangles = [&](auto parse) { return [=](const std::string& bytes) { check(parse(bytes, "x")); }; };
    const std::function<void(const std::string&)> read_tets = [](const std::string& bytes) {
        const TetMesh m = parse_msh_tets(bytes, "x");
        for (const Tet& t : m.tets)
            for (const Index v : t) ASSERT_TRUE(v >= 0 && v < count(m.vertices));
    };
    const std::vector<Format> formats = {{format_obj(mesh), triangles(parse_obj)},
                                         {format_ply(mesh), triangles(parse_ply)},
                                         {format_ply(mesh, {.ascii = true}), triangles(parse_ply)},
                                         {format_stl(mesh), triangles(parse_stl)},
                                         {format_stl(mesh, {.ascii = true}), triangles(parse_stl)},
                                         {format_msh(mesh), triangles(parse_msh_triangles)},
                                         {format_msh(tets), read_tets},
                                         {format_msh(tets, {.msh_2 = true}), read_tets}};
    Random random(1);
    int errors = 0, total = 0;
    const auto attempt = [&](const Format& format, const std::string& bytes) {
        ++total;
        try {
            format.read(bytes);
        } catch (const Error&) {
            ++errors;
        }
    };
    for (const Format& format : formats) {
        const Index size = count(format.bytes);
        for (Index n = 0; n < size; n += 1 + size / 200) attempt(format, format.bytes.substr(0, n));
        for (int i = 0; i < 1000; ++i) {
            std::string bytes = format.bytes;
            for (int k = 0; k < 1 + i % 4; ++k) {
                const Index at = random.below(size);
                switch (random.below(3)) {
                case 0:
                    bytes[at] = static_cast<char>(random.below(256));
                    break;
                case 1:
                    bytes[at] = "0123456789-.e \n"[random.below(15)];
                    break;
                default:
                    bytes.erase(at, random.below(8));
                    bytes.resize(size, '9');
                }
            }
            attempt(format, bytes);
        }
        std::string junk(1000, ' ');
        for (char& c : junk) c = static_cast<char>(random.below(256));
        attempt(format, junk);
    }
    EXPECT_GT(errors, total / 4);
}

TEST(MeshData, ReadsTheSharedMeshes)
{
    const char* from_environment = std::getenv("PLIANT_DATA");
    const std::filesystem::path dir = from_environment ? std::filesystem::path(from_environment)
                                                       : std::filesystem::path(PLIANT_SOURCE_DIR) / "../shared/data";
    if (!std::filesystem::exists(dir / "meshes/teapot.obj"))
        GTEST_SKIP() << "no meshes in " << dir << "; set PLIANT_DATA to test with them";
    const TriangleMesh teapot = read_triangle_mesh(dir / "meshes/teapot.obj");
    EXPECT_EQ(teapot.vertices.size(), 3644u);
    EXPECT_EQ(teapot.triangles.size(), 6320u);
    EXPECT_EQ(read_triangle_mesh(dir / "meshes/stanford-bunny.obj").triangles.size(), 69451u);
    EXPECT_EQ(read_triangle_mesh(dir / "meshes/cloth_ball92.ply").vertices.size(), 46598u);
}

TEST(MeshFormats, ObjTextureCoordinatesAreReadPerCornerAndWrittenBack)
{
    const std::string text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 0.5 0\nvt 0.5 0.5 0\nvt 0\nvn 0 0 1\n"
                             "f 1/1/1 2/2/1 3/3/1 4/4/1\n";
    const TriangleMesh mesh = parse_obj(text, "quad.obj");
    ASSERT_EQ(mesh.triangles.size(), 2u);
    ASSERT_EQ(mesh.texture.size(), 2u);
    const std::array<Vec2, 4> wanted = {Vec2(0, 0), Vec2(0.5, 0), Vec2(0.5, 0.5), Vec2(0, 0)};
    for (std::size_t t = 0; t < 2; ++t)
        for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(mesh.texture[t][k], wanted[mesh.triangles[t][k]]);
    const TriangleMesh back = parse_obj(format_obj(mesh), "back.obj");
    EXPECT_EQ(back.triangles, mesh.triangles);
    EXPECT_EQ(back.texture, mesh.texture);
    EXPECT_TRUE(parse_obj("v 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0 0\nf 1/1 2 3\n", "half.obj").texture.empty())
        << "a texture that not all corners have is none";
    EXPECT_THROW(parse_obj("v 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0 0\nf 1/1 2/1 3/2\n", "bad.obj"), Error);
}
