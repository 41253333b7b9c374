#include "pliant/core/record.hpp"

#include <gtest/gtest.h>

#include <map>

namespace pliant {
namespace {

struct Item {
    std::uint64_t key = 0;
    Vec3 impulse = Vec3::Zero();
    static constexpr const char* member_names[] = {"key", "impulse"};
};

struct Sample {
    Real length = 0;
    int many = 0;
    Vec3s places;
    std::vector<Item> items;
    static constexpr const char* member_names[] = {"length", "many", "places", "items"};
};

struct Other {
    Real x = 1;
    static constexpr const char* member_names[] = {"x"};
};

Sample sample()
{
    return {0.1, -7, {Vec3(1, 2, 3), Vec3(4, 5, 6)}, {{~std::uint64_t(0), Vec3(7, 8, 9)}, {3, Vec3(-1, 0, 1)}}};
}

/// Keeps all arrays, or hands out what it was given.
struct Store final : RecordVisitor {
    std::map<std::string, std::vector<Real>> reals;
    std::map<std::string, std::vector<std::int64_t>> integers;
    std::vector<std::string> order;
    bool loads = false;

    void visit(const std::string& name, std::vector<Real>& values, int) override
    {
        order.push_back(name);
        loads ? values = reals.at(name) : reals[name] = values;
    }
    void visit(const std::string& name, std::vector<std::int64_t>& values, int) override
    {
        order.push_back(name);
        loads ? values = integers.at(name) : integers[name] = values;
    }
};

TEST(Record, ShowsEveryMemberAsAnArrayOfNumbers)
{
    const Record record = sample();
    Store store;
    record.visit(store);
    EXPECT_EQ(store.order, (std::vector<std::string>{"length", "many", "places", "items.key", "items.impulse"}));
    EXPECT_EQ(store.reals["length"], std::vector<Real>{0.1});
    EXPECT_EQ(store.integers["many"], std::vector<std::int64_t>{-7});
    EXPECT_EQ(store.reals["places"], (std::vector<Real>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(store.integers["items.key"], (std::vector<std::int64_t>{-1, 3})) << "all 64 bits, as a signed number";
    EXPECT_EQ(store.reals["items.impulse"], (std::vector<Real>{7, 8, 9, -1, 0, 1}));
}

TEST(Record, IsLoadedBackToEveryMember)
{
    Store store;
    Record(sample()).visit(store);
    store.loads = true;
    Record record = Sample();
    record.load(store);
    const Sample &a = record.get<Sample>(), b = sample();
    EXPECT_EQ(a.length, b.length);
    EXPECT_EQ(a.many, b.many);
    EXPECT_EQ(a.places, b.places);
    ASSERT_EQ(a.items.size(), 2u);
    EXPECT_EQ(a.items[0].key, b.items[0].key);
    EXPECT_EQ(a.items[1].impulse, b.items[1].impulse);
}

TEST(Record, HasTheValueSemanticsOfWhatItHolds)
{
    Record a = sample();
    Record b = a;
    b.use<Sample>().places[0].setZero();
    EXPECT_EQ(a.get<Sample>().places[0], Vec3(1, 2, 3));
    a = b;
    EXPECT_EQ(a.get<Sample>().places[0], Vec3(0, 0, 0));
    a = Record();
    EXPECT_TRUE(a.empty());
    EXPECT_FALSE(b.empty());
}

TEST(Record, GivesWayToAStructOfAnotherType)
{
    Record record = sample();
    EXPECT_EQ(record.find<Other>(), nullptr);
    EXPECT_EQ(record.use<Other>().x, 1);
    EXPECT_EQ(record.find<Sample>(), nullptr);
}

} // namespace
} // namespace pliant
