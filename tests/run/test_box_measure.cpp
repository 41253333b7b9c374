// Runs of a method that has a measure of its own are checked by it, and triangles on request.

#include "pliant/run/certificate.hpp"
#include "pliant/run/runner.hpp"
#include "run/temporary_directory.hpp"

#include <gtest/gtest.h>

namespace pliant {
namespace {

/// Two blocks that start half a cell inside of each other, side by side with a third one.
const std::string overlapping = R"(
time: {step: 2 ms, end: 0.2 s, fps: 100}
gravity: [0, 0, 0]
contact: {method: boxes}
materials: {jelly: {type: lattice, young: 2e4, damping: 2 ms}}
bodies:
  a: {material: jelly, mesh: {box: {}}, lattice: {size: 0.5, fill: true}}
  b: {material: jelly, mesh: {box: {}}, lattice: {size: 0.5, fill: true}, place: {at: [0.75, 0, 0]}}
  c: {material: jelly, mesh: {box: {}}, lattice: {size: 0.5, fill: true}, place: {at: [0, 2, 0]}}
expect: {overlap: 0.6, final-overlap: 0.05}
)";

class BoxMeasureOfARun : public testing::Test {
protected:
    Certificate run_and_check(const std::string& text, ExactTest exact = ExactTest::on_request)
    {
        const Scene scene = parse_scene(text, "test.yaml");
        World world = build_world(scene);
        RunOptions options;
        options.directory = dir_ / "run";
        options.force = true;
        run_scene(scene, world, options);
        return certify_run(RunReader(dir_ / "run"), {}, exact);
    }
    TemporaryDirectory dir_;
};

TEST_F(BoxMeasureOfARun, IsTheOverlapInItsFrames)
{
    const Certificate c = run_and_check(overlapping);
    EXPECT_FALSE(c.exact);
    EXPECT_EQ(c.measure.frame, 0);
    EXPECT_NEAR(c.measure.worst, 0.5, 1e-9) << "a quarter of a metre in cells of half a metre";
    EXPECT_LT(c.measure.last, 0.05);
    EXPECT_EQ(c.pairs_tested, 0);
    ASSERT_EQ(c.expectations.size(), 2u);
    EXPECT_TRUE(c.expectations[0].met && c.expectations[1].met);
    EXPECT_TRUE(c.kept());
    EXPECT_NE(certificate_words(c).find("overlap of boxes in cells at most 0.5 (at 0 s)"), std::string::npos)
        << certificate_words(c);
}

TEST_F(BoxMeasureOfARun, BreaksAnExpectationThatItDoesNotMeet)
{
    std::string text = overlapping;
    text.replace(text.find("overlap: 0.6"), 12, "overlap: 0.4");
    const Certificate c = run_and_check(text);
    EXPECT_FALSE(c.kept());
    EXPECT_EQ(c.expectations.at(0).detail, "0.5 cells, at most 0.4 expected");
}

TEST_F(BoxMeasureOfARun, ComesWithTheExactTestOnRequest)
{
    const Certificate c = run_and_check(overlapping, ExactTest::always);
    EXPECT_TRUE(c.exact);
    EXPECT_GT(c.pairs_tested, 0);
    EXPECT_GT(c.intersections, 0) << "the blocks intersect at the start";
    EXPECT_NEAR(c.measure.worst, 0.5, 1e-9);
}

} // namespace
} // namespace pliant
