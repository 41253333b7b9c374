// Exports are read back by programs that are not ours: VTK, Blender and the Khronos glTF validator.

#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/show/export.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include <unistd.h>

using namespace pliant;

namespace {

class ExportReadByOthers : public ::testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(dir_); }
    void TearDown() override { std::filesystem::remove_all(dir_); }

    static constexpr int frames = 10;
    /// A cloth that sinks by 0.1 m a frame, moving at (0, -2.5, 0) m/s, and a ball at rest.
    void export_as(const std::string& format, const std::filesystem::path& out, const ExportOptions& options = {}) const
    {
        const TriangleMesh cloth = make_grid(1, 1, 12, 12), ball = make_sphere(0.3, 2);
        const auto exporter = make_exporter(
            format, out, {{"cloth", cloth.triangles, {0.6, 0.1, 0.1}}, {"ball", ball.triangles, {0.2, 0.3, 0.5}}},
            options);
        for (int f = 0; f < frames; ++f) {
            ExportState sheet{cloth.vertices, {{"velocity", Vec3s(cloth.vertices.size(), Vec3(0, -2.5, 0)), {}}}};
            for (Vec3& x : sheet.positions) x.y() -= 0.1 * f;
            exporter->add(0.04 * f, {sheet, {ball.vertices, {}}});
        }
        exporter->finish();
    }
    bool run(const std::string& command) const
    {
        const std::string log = (dir_ / "log").string();
        const bool good = std::system((command + " > " + log + " 2>&1").c_str()) == 0;
        if (!good) std::puts(read_file(log).c_str());
        return good;
    }
    static bool can(const std::string& command) { return std::system((command + " > /dev/null 2>&1").c_str()) == 0; }

    std::filesystem::path dir_ =
        std::filesystem::temp_directory_path() / ("pliant-others-" + std::to_string(::getpid()));
};

} // namespace

TEST_F(ExportReadByOthers, VtkReadsPositionsAndVelocities)
{
    std::string python = "python3"; // the first of the path need not be Debian's, which has its packages
    if (!can(python + " -c 'import vtk'")) python = "/usr/bin/python3";
    if (!can(python + " -c 'import vtk'")) GTEST_SKIP() << "Debian's python3-vtk9 is not installed";
    export_as("vtk", dir_ / "vtk");
    write_file(dir_ / "read.py", R"(
import sys, vtk, xml.etree.ElementTree as xml
folder = sys.argv[1]
sets = xml.parse(folder + "/motion.pvd").getroot().findall("Collection/DataSet")
assert len(sets) == 20, len(sets)
for item in sets:
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(folder + "/" + item.get("file"))
    reader.Update()
    mesh = reader.GetOutput()
    if item.get("name") == "cloth":
        frame = round(float(item.get("timestep")) / 0.04)
        assert mesh.GetNumberOfPoints() == 144 and mesh.GetNumberOfPolys() == 242
        assert mesh.GetPoint(7)[1] == -0.1 * frame
        assert mesh.GetPointData().GetArray("velocity").GetTuple(3) == (0, -2.5, 0)
    else:
        assert mesh.GetNumberOfPoints() == 162 and mesh.GetNumberOfPolys() == 320
        assert abs(sum(c * c for c in mesh.GetPoint(9)) - 0.09) < 1e-12
)");
    EXPECT_TRUE(run(python + " " + (dir_ / "read.py").string() + " " + (dir_ / "vtk").string()));
}

TEST_F(ExportReadByOthers, BlenderReadsPlyAndPlaysPointCaches)
{
    if (!can("blender --version")) GTEST_SKIP() << "Debian's blender is not installed";
    export_as("ply", dir_ / "ply");
    export_as("pc2", dir_ / "pc2");
    write_file(dir_ / "read.py", R"(
import sys, traceback
sys.path.insert(0, ")" PLIANT_SOURCE_DIR R"(/extras")
try:
    import bpy, blender_pliant
    folder = sys.argv[sys.argv.index("--") + 1]
    if bpy.app.version >= (4, 0):
        bpy.ops.wm.ply_import(filepath=folder + "/ply/cloth_00003.ply")
    else:
        bpy.ops.import_mesh.ply(filepath=folder + "/ply/cloth_00003.ply")
    mesh = bpy.context.object.data
    assert len(mesh.vertices) == 144 and len(mesh.polygons) == 242, (len(mesh.vertices), len(mesh.polygons))
    assert all(abs(v.co.y + 0.3) < 1e-6 for v in mesh.vertices)
    cloth = [o for o in blender_pliant.load(folder + "/pc2") if o.name.startswith("cloth")][0]
    assert bpy.context.scene.frame_end == 10
    for frame in (1, 5, 10):
        bpy.context.scene.frame_set(frame)
        moved = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
        assert all(abs(v.co.y + 0.1 * (frame - 1)) < 1e-5 for v in moved.vertices), frame
except BaseException:
    traceback.print_exc()
    sys.exit(1)
)");
    EXPECT_TRUE(run("blender --background --factory-startup --python-exit-code 1 --python " +
                    (dir_ / "read.py").string() + " -- " + dir_.string()));
}

TEST_F(ExportReadByOthers, TheGltfValidatorHasNothingToSay)
{
    if (!can("node --version") || !can("npm --version")) GTEST_SKIP() << "node and npm are not installed";
    const std::string prefix = PLIANT_BINARY_DIR "/npm-soak";
    if (!run("npm install --silent --no-save --no-audit --no-fund --prefix " + prefix + " gltf-validator"))
        GTEST_SKIP() << "npm cannot fetch gltf-validator";
    export_as("gltf", dir_ / "y.glb");
    export_as("gltf", dir_ / "z.glb", {.up = Vec3::UnitZ(), .normals = false});
    write_file(dir_ / "read.js", R"(
const fs = require("fs"), validator = require(process.argv[2] + "/node_modules/gltf-validator");
Promise.all(process.argv.slice(3).map(f => validator.validateBytes(new Uint8Array(fs.readFileSync(f))))).then(reports => {
  for (const r of reports) {
    console.log(JSON.stringify(r.issues));
    if (r.issues.numErrors || r.issues.numWarnings || r.info.animationCount !== 1) process.exit(1);
  }
}, e => { console.log(e); process.exit(1); });
)");
    EXPECT_TRUE(run("node " + (dir_ / "read.js").string() + " " + prefix + " " + (dir_ / "y.glb").string() + " " +
                    (dir_ / "z.glb").string()));
}
