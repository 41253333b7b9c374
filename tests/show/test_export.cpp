#include "pliant/core/error.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/show/export.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <filesystem>
#include <limits>

#include <unistd.h>

using namespace pliant;

namespace {

class Export : public ::testing::Test {
protected:
    void SetUp() override
    {
        std::filesystem::create_directories(dir_);
        cloth_ = make_grid(1, 1, 4, 4);
        ball_ = make_sphere(0.3, 1);
    }
    void TearDown() override { std::filesystem::remove_all(dir_); }

    std::vector<ExportBody> bodies() const
    {
        return {{"red cloth", cloth_.triangles, {0.6, 0.1, 0.1}}, {"ball", ball_.triangles, {0.2, 0.3, 0.5}}};
    }
    std::vector<ExportState> state(int frame) const
    {
        std::vector<ExportState> states = {{cloth_.vertices, {}}, {ball_.vertices, {}}};
        for (Vec3& x : states[0].positions) x.y() -= 0.1 * frame * (1 + x.x() / 3);
        for (ExportState& s : states)
            s.fields = {{"velocity", Vec3s(s.positions.size(), Vec3(0, -frame, 1.0 / 3)), {}},
                        {"stress", {}, std::vector<Real>(s.positions.size(), 7.5 * frame)}};
        return states;
    }
    void export_frames(const std::string& format, const std::filesystem::path& out, int frames,
                       const ExportOptions& options = {}) const
    {
        const auto exporter = make_exporter(format, out, bodies(), options);
        for (int f = 0; f < frames; ++f) exporter->add(0.04 * f, state(f));
        exporter->finish();
    }

    std::filesystem::path dir_ =
        std::filesystem::temp_directory_path() / ("pliant-export-" + std::to_string(::getpid()));
    TriangleMesh cloth_, ball_;
};

template <class T>
T value_at(const std::string& bytes, std::size_t offset)
{
    T value;
    EXPECT_LE(offset + sizeof value, bytes.size());
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
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

} // namespace

TEST_F(Export, SequencesHoldEveryBodyOfEveryFrame)
{
    for (const std::string format : {"ply", "obj", "stl"}) {
        export_frames(format, dir_ / format, 3);
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_ / format), {}), 6);
        const TriangleMesh last = read_triangle_mesh(dir_ / format / ("red_cloth_00002." + format));
        EXPECT_EQ(last.triangles.size(), cloth_.triangles.size());
        if (format != "stl") {
            EXPECT_EQ(last.vertices, state(2)[0].positions);
        }
    }
}

TEST_F(Export, PointCachesHaveTheHeaderThatBlenderReads)
{
    export_frames("pc2", dir_ / "pc2", 3);
    const std::string bytes = read_file(dir_ / "pc2/red_cloth.pc2");
    ASSERT_EQ(bytes.size(), 32 + 3 * 16 * 12u);
    EXPECT_EQ(bytes.substr(0, 12), std::string("POINTCACHE2\0", 12));
    EXPECT_EQ(value_at<std::int32_t>(bytes, 12), 1);
    EXPECT_EQ(value_at<std::int32_t>(bytes, 16), 16);
    EXPECT_EQ(value_at<float>(bytes, 20), 0);
    EXPECT_EQ(value_at<float>(bytes, 24), 1);
    EXPECT_EQ(value_at<std::int32_t>(bytes, 28), 3);
    const Vec3 x = state(2)[0].positions[5];
    for (int k = 0; k < 3; ++k)
        EXPECT_EQ(value_at<float>(bytes, 32 + 12 * (2 * 16 + 5) + 4 * k), static_cast<float>(x[k]));
    EXPECT_EQ(read_triangle_mesh(dir_ / "pc2/red_cloth.obj").vertices, state(0)[0].positions);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_ / "pc2"), {}), 4);
}

TEST_F(Export, UnfinishedPointCachesLeaveNoPartialFile)
{
    {
        const auto exporter = make_exporter("pc2", dir_ / "pc2", bodies());
        exporter->add(0, state(0));
    }
    for (const auto& entry : std::filesystem::directory_iterator(dir_ / "pc2"))
        EXPECT_EQ(entry.path().extension(), ".obj") << entry.path();
}

TEST_F(Export, VtkFilesHoldPositionsAndFieldsAsDoubles)
{
    export_frames("vtk", dir_ / "vtk", 2);
    const std::string pvd = read_file(dir_ / "vtk/motion.pvd");
    EXPECT_NE(pvd.find("<DataSet timestep=\"0.04\" group=\"\" part=\"1\" name=\"ball\" file=\"ball_00001.vtp\"/>"),
              std::string::npos);
    const std::string bytes = read_file(dir_ / "vtk/ball_00001.vtp");
    const std::size_t start = bytes.find("<AppendedData encoding=\"raw\">\n_") + 31;
    const auto array = [&](const std::string& name, std::size_t& size) {
        const std::size_t tag = bytes.find("Name=\"" + name + "\"");
        EXPECT_NE(tag, std::string::npos) << name;
        const std::size_t offset = start + std::stoul(bytes.substr(bytes.find("offset=\"", tag) + 8));
        size = value_at<std::uint64_t>(bytes, offset);
        return offset + 8;
    };
    std::size_t size;
    std::size_t at = array("Points", size);
    ASSERT_EQ(size, 24 * ball_.vertices.size());
    EXPECT_EQ(std::memcmp(bytes.data() + at, state(1)[1].positions.data(), size), 0);
    at = array("velocity", size);
    ASSERT_EQ(size, 24 * ball_.vertices.size());
    EXPECT_EQ(value_at<double>(bytes, at + 16), 1.0 / 3);
    at = array("stress", size);
    ASSERT_EQ(size, 8 * ball_.vertices.size());
    EXPECT_EQ(value_at<double>(bytes, at + 8), 7.5);
    at = array("connectivity", size);
    ASSERT_EQ(size, 24 * ball_.triangles.size());
    EXPECT_EQ(value_at<std::int64_t>(bytes, at + 8), ball_.triangles[0][1]);
    at = array("offsets", size);
    EXPECT_EQ(value_at<std::int64_t>(bytes, at + size - 8), 3 * count(ball_.triangles));
}

TEST_F(Export, VtuHoldsTheTetrahedra)
{
    const TetMesh box = make_tet_box({1, 1, 1}, {2, 2, 2});
    const auto exporter = make_exporter("vtu", dir_ / "vtu", {{"box", {}, Vec3::Zero(), box.tets}});
    exporter->add(0, {{box.vertices, {}}});
    exporter->finish();
    EXPECT_NE(read_file(dir_ / "vtu/motion.pvd").find("box_00000.vtu"), std::string::npos);
    const std::string bytes = read_file(dir_ / "vtu/box_00000.vtu");
    EXPECT_NE(bytes.find("NumberOfPoints=\"27\" NumberOfCells=\"" + std::to_string(box.tets.size()) + "\""),
              std::string::npos);
    const std::size_t start = bytes.find("<AppendedData encoding=\"raw\">\n_") + 31;
    const auto array = [&](const std::string& name) {
        return start + std::stoul(bytes.substr(bytes.find("offset=\"", bytes.find("Name=\"" + name + "\"")) + 8));
    };
    EXPECT_EQ(value_at<std::uint64_t>(bytes, array("connectivity")), 32 * box.tets.size());
    EXPECT_EQ(value_at<std::int64_t>(bytes, array("connectivity") + 8 + 32), box.tets[1][0]);
    EXPECT_EQ(value_at<std::int64_t>(bytes, array("offsets") + 8 + 8), 8);
    EXPECT_EQ(value_at<std::uint64_t>(bytes, array("types")), box.tets.size());
    EXPECT_EQ(value_at<std::uint8_t>(bytes, array("types") + 8), 10) << "VTK_TETRA";
}

TEST_F(Export, GltfReproducesEveryFrameThroughItsWeights)
{
    constexpr int frames = 5;
    export_frames("gltf", dir_ / "a.glb", frames);
    const std::string bytes = read_file(dir_ / "a.glb");
    EXPECT_EQ(value_at<std::uint32_t>(bytes, 8), bytes.size());
    const auto json_size = value_at<std::uint32_t>(bytes, 12);
    const nlohmann::json root = nlohmann::json::parse(bytes.substr(20, json_size));
    const std::size_t data = 20 + json_size + 8;
    const auto read = [&](int accessor, std::size_t i) {
        const auto& a = root["accessors"][accessor];
        const std::size_t offset = root["bufferViews"][a["bufferView"].get<int>()]["byteOffset"];
        return value_at<float>(bytes, data + offset + 4 * i);
    };
    const auto& primitive = root["meshes"][0]["primitives"][0];
    const auto& sampler = root["animations"][0]["samplers"][0];
    ASSERT_EQ(primitive["targets"].size(), frames - 1u);
    for (int f = 0; f < frames; ++f) {
        EXPECT_FLOAT_EQ(read(sampler["input"], f), 0.04f * static_cast<float>(f));
        const Vec3s expected = state(f)[0].positions;
        for (std::size_t i = 0; i < 3 * expected.size(); ++i) {
            float x = read(primitive["attributes"]["POSITION"], i);
            for (int t = 0; t + 1 < frames; ++t)
                x += read(sampler["output"], f * (frames - 1) + t) * read(primitive["targets"][t]["POSITION"], i);
            EXPECT_NEAR(x, expected[i / 3][i % 3], 1e-6);
        }
    }
}

TEST_F(Export, FaultsAreOneSentence)
{
    EXPECT_EQ(message_of([&] { make_exporter("fbx", dir_, bodies()); }),
              "export: unknown format 'fbx'; the formats are ply, obj, stl, pc2, vtk, vtu and gltf.");
    EXPECT_EQ(message_of([&] { make_exporter("ply", dir_, {}); }), "export: there are no bodies.");
    const auto exporter = make_exporter("gltf", dir_ / "a.glb", bodies());
    EXPECT_EQ(message_of([&] { exporter->finish(); }), "export: there are no frames.");
    exporter->add(0, state(0));
    EXPECT_EQ(message_of([&] { exporter->add(0, state(1)); }), "export: the times of frames must grow.");
    auto wrong = state(1);
    wrong[0].positions.pop_back();
    EXPECT_EQ(message_of([&] { exporter->add(1, wrong); }), "export: body 'red_cloth' has 15 vertices, not 16.");
    wrong = state(1);
    wrong[1].positions[0].x() = std::numeric_limits<Real>::infinity();
    EXPECT_EQ(message_of([&] { exporter->add(1, wrong); }), "export: body 'ball' has a position that is not finite.");
    write_file(dir_ / "file", "x");
    EXPECT_NE(
        message_of([&] { make_exporter("ply", dir_ / "file/sub", bodies()); }).find("cannot create the directory"),
        std::string::npos);
    EXPECT_NE(message_of([&] { export_frames("gltf", dir_ / "no/such/a.glb", 1); }).find("cannot create the file"),
              std::string::npos);
}
