#include "pliant/core/error.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/show/image.hpp"
#include "pliant/show/video.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include <unistd.h>

using namespace pliant;

namespace {

Image flat(Index width, Index height, std::uint8_t value)
{
    return {width, height, std::vector<std::uint8_t>(std::size_t(3) * width * height, value)};
}

class Pictures : public ::testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(dir_); }
    void TearDown() override { std::filesystem::remove_all(dir_); }
    std::filesystem::path dir_ =
        std::filesystem::temp_directory_path() / ("pliant-pictures-" + std::to_string(::getpid()));
};

} // namespace

TEST(Image, ContactSheetPlacesTilesRowByRow)
{
    const Image sheet = contact_sheet({flat(4, 3, 10), flat(4, 3, 20), flat(4, 3, 30)}, 2, 2);
    EXPECT_EQ(sheet.width, 10);
    EXPECT_EQ(sheet.height, 8);
    EXPECT_EQ(sheet.at(0, 0)[0], 10);
    EXPECT_EQ(sheet.at(9, 2)[0], 20);
    EXPECT_EQ(sheet.at(3, 7)[0], 30);
    EXPECT_EQ(sheet.at(5, 0)[0], 255);
    EXPECT_EQ(sheet.at(9, 7)[0], 255);
}

TEST(Image, LabelsDarkenTheirCornerOnly)
{
    Image image = flat(200, 100, 230);
    draw_label(image, "0.48 s", 8, 8, 20);
    Index dark = 0, outside = 0;
    for (Index y = 0; y < 100; ++y)
        for (Index x = 0; x < 200; ++x)
            if (image.at(x, y)[0] < 200) (x < 110 && y > 65 ? dark : outside)++;
    EXPECT_GT(dark, 100);
    EXPECT_EQ(outside, 0);
    draw_label(image, "cut off at the edges", -30, -5, 200);
}

TEST_F(Pictures, PngHasItsSignatureAndSize)
{
    write_png(dir_ / "a.png", flat(33, 21, 7));
    const std::string bytes = read_file(dir_ / "a.png");
    EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
    EXPECT_EQ(bytes.substr(16, 8), std::string("\0\0\0\x21\0\0\0\x15", 8));
    EXPECT_THROW(write_png(dir_ / "no/such/dir/a.png", flat(3, 3, 7)), Error);
}

TEST_F(Pictures, FilmHasAllItsFramesAndLeavesNothingElse)
{
    if (std::system("ffprobe -version > /dev/null 2>&1") != 0) GTEST_SKIP() << "ffmpeg is not installed";
    VideoWriter film(dir_ / "a b.mp4", 65, 49, 25);
    for (int i = 0; i < 10; ++i) film.add(flat(65, 49, static_cast<std::uint8_t>(20 * i)));
    EXPECT_THROW(film.add(flat(64, 49, 0)), Error);
    film.finish();
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_), {}), 1) << "only the film";
    const std::string command = "ffprobe -v error -count_frames -select_streams v:0 -show_entries "
                                "stream=nb_read_frames,width,height -of csv=p=0 '" +
                                (dir_ / "a b.mp4").string() + "' > " + (dir_ / "probe").string();
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_EQ(read_file(dir_ / "probe"), "66,50,10\n");
}

TEST_F(Pictures, AFilmThatIsNotFinishedLeavesNothing)
{
    if (std::system("ffmpeg -version > /dev/null 2>&1") != 0) GTEST_SKIP() << "ffmpeg is not installed";
    {
        VideoWriter film(dir_ / "a.mp4", 64, 48, 25);
        film.add(flat(64, 48, 9));
    }
    EXPECT_TRUE(std::filesystem::is_empty(dir_));
}

TEST_F(Pictures, AMissingFfmpegIsNamedWithItsPackage)
{
    const std::string path = std::getenv("PATH");
    setenv("PATH", dir_.c_str(), 1);
    try {
        VideoWriter film(dir_ / "a.mp4", 64, 48, 25);
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()),
                  (dir_ / "a.mp4").string() +
                      ": films need the program ffmpeg, which is not installed (Debian: apt install ffmpeg).");
    }
    setenv("PATH", path.c_str(), 1);
}
