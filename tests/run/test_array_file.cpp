#include "pliant/core/error.hpp"
#include "pliant/core/random.hpp"
#include "pliant/methods/implicit_memory.hpp"
#include "pliant/run/array_file.hpp"
#include "pliant/run/checkpoint.hpp"
#include "run/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <sstream>

namespace pliant {
namespace {

std::string file_bytes(const std::filesystem::path& path)
{
    std::ifstream stream(path, std::ios::binary);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
}

ArrayFile sample()
{
    ArrayFile file("frame", 3);
    file.add("points", Vec3s{{1, 2, 3}, {-0.0, 1e-310, std::numeric_limits<Real>::infinity()}});
    file.add("numbers", std::vector<Index>{1, -2, 3});
    file.add("text", "odd");
    file.add("empty", std::vector<Real>{});
    file.add("large", std::vector<std::int64_t>{std::int64_t(1) << 60});
    return file;
}

TEST(ArrayFile, GivesBackTheSameBits)
{
    const TemporaryDirectory dir;
    sample().save(dir / "a");
    const ArrayFile file = ArrayFile::load(dir / "a", "frame", 3);
    const Vec3s points = file.vectors("points");
    ASSERT_EQ(points.size(), 2u);
    EXPECT_EQ(points[0], Vec3(1, 2, 3));
    EXPECT_TRUE(std::signbit(points[1].x()));
    EXPECT_EQ(points[1].y(), 1e-310);
    EXPECT_EQ(file.indices("numbers"), (std::vector<Index>{1, -2, 3}));
    EXPECT_EQ(file.text("text"), "odd");
    EXPECT_TRUE(file.reals("empty").empty());
    EXPECT_EQ(file.integers("large")[0], std::int64_t(1) << 60);
    EXPECT_FALSE(std::filesystem::exists(dir / "a.tmp"));
}

TEST(ArrayFile, NoticesEveryDamage)
{
    const TemporaryDirectory dir;
    sample().save(dir / "a");
    const std::string bytes = file_bytes(dir / "a");
    const auto is_refused = [&](const std::string& damaged) {
        std::ofstream(dir / "b", std::ios::binary) << damaged;
        try {
            ArrayFile::load(dir / "b", "frame", 3);
            return false;
        } catch (const Error&) {
            return true;
        }
    };
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
        EXPECT_TRUE(is_refused(damaged)) << "byte " << i;
        EXPECT_TRUE(is_refused(bytes.substr(0, i))) << "cut at " << i;
    }
    EXPECT_TRUE(is_refused(bytes + '\0'));
    EXPECT_FALSE(is_refused(bytes));
}

TEST(ArrayFile, RefusesWhatItDoesNotKnow)
{
    const TemporaryDirectory dir;
    sample().save(dir / "a");
    EXPECT_THROW(ArrayFile::load(dir / "a", "mesh", 3), Error);
    EXPECT_THROW(ArrayFile::load(dir / "a", "frame", 2), Error);
    EXPECT_THROW(ArrayFile::load(dir / "missing", "frame", 2), Error);
    const ArrayFile file = ArrayFile::load(dir / "a", "frame", 3);
    EXPECT_THROW(file.reals("missing"), Error);
    EXPECT_THROW(file.reals("numbers"), Error);
    EXPECT_THROW(sample().save(dir.path() / "missing" / "a"), StorageError);
}

World random_world(int seed)
{
    Random random(static_cast<std::uint64_t>(seed));
    const auto vectors = [&](int n) {
        Vec3s v;
        for (int i = 0; i < n; ++i) v.push_back(random.in_box(Vec3::Constant(-1), Vec3::Constant(1)));
        return v;
    };
    World world;
    State& s = world.state;
    s.time = random.uniform();
    s.step = 12;
    s.position = vectors(5);
    s.velocity = vectors(5);
    s.orientation = {random.rotation(), random.rotation()};
    ImplicitMemory& m = s.memory.use<ImplicitMemory>();
    m.contacts = {{random.bits(), random.bits(), vectors(1)[0]}, {random.bits(), random.bits(), vectors(1)[0]}};
    m.released = {{1, 2, 3}, {1, 2, 4}};
    m.last_substep = random.uniform();
    m.free_change = vectors(5);
    m.contact_change = vectors(5);
    return world;
}

TEST(Checkpoint, HoldsEveryBitOfTheState)
{
    const TemporaryDirectory dir;
    const World world = random_world(1);
    save_checkpoint(world.state, {99, "implicit"}, dir / "c");
    World other = random_world(2);
    load_checkpoint(other, {99, "implicit"}, dir / "c");
    EXPECT_EQ(other.state.hash(), world.state.hash());
    EXPECT_EQ(other.state.step, 12);
    const auto &ours = world.state.memory.get<ImplicitMemory>(), &theirs = other.state.memory.get<ImplicitMemory>();
    EXPECT_EQ(theirs.contacts[1].key_b, ours.contacts[1].key_b);
    EXPECT_EQ(theirs.contacts[1].impulse, ours.contacts[1].impulse);
    EXPECT_EQ(theirs.released, ours.released);
    EXPECT_EQ(theirs.last_substep, ours.last_substep);
    EXPECT_EQ(theirs.contact_change, ours.contact_change);
}

std::string refusal(const CheckpointOwner& owner, const std::filesystem::path& path)
{
    World world = random_world(2);
    try {
        load_checkpoint(world, owner, path);
    } catch (const Error& e) {
        return e.what();
    }
    return "(accepted)";
}

TEST(Checkpoint, IsRefusedByAnotherMethod)
{
    const TemporaryDirectory dir;
    save_checkpoint(random_world(1).state, {99, "implicit"}, dir / "c");
    EXPECT_EQ(refusal({99, "none"}, dir / "c"),
              (dir / "c").string() + ": belongs to a run with method 'implicit', not 'none'; resume it with the method "
                                     "that it was started with");
}

TEST(Checkpoint, OfAnEarlierVersionIsRefused)
{
    const TemporaryDirectory dir;
    ArrayFile("state", 1).save(dir / "c");
    EXPECT_EQ(refusal({99, "implicit"}, dir / "c"),
              (dir / "c").string() + ": was written by an older version of Pliant; start the run over");
}

TEST(Checkpoint, OfAStateThatHasTakenNoStepHasNoMemory)
{
    const TemporaryDirectory dir;
    World world = random_world(1), other = random_world(2);
    world.state.memory = {};
    save_checkpoint(world.state, {99, "implicit"}, dir / "c");
    load_checkpoint(other, {99, "implicit"}, dir / "c");
    EXPECT_TRUE(other.state.memory.empty());
}

TEST(Checkpoint, IsRefusedByAnotherSceneOrWorld)
{
    const TemporaryDirectory dir;
    save_checkpoint(random_world(1).state, {99, "implicit"}, dir / "c");
    World other = random_world(2);
    const std::uint64_t before = other.state.hash();
    EXPECT_THROW(load_checkpoint(other, {98, "implicit"}, dir / "c"), Error);
    EXPECT_EQ(other.state.hash(), before);
    other.state.position.pop_back();
    EXPECT_THROW(load_checkpoint(other, {99, "implicit"}, dir / "c"), Error);
}

} // namespace
} // namespace pliant
