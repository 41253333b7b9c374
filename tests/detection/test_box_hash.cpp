#include "pliant/detection/box_hash.hpp"

#include "pliant/core/random.hpp"

#include <gtest/gtest.h>

namespace pliant {
namespace {

TEST(BoxKin, AreNextToEachOtherWhenNoCoordinateDiffersByMoreThanOne)
{
    Random random(1);
    const auto place = [&] { // all over the grid, and often near each other or at its ends
        const auto coordinate = [&] {
            return random.uniform() < 0.5 ? random.below(4) : BoxKin::most - 1 - random.below(4);
        };
        return std::array<Index, 3>{coordinate(), coordinate(), coordinate()};
    };
    int next = 0;
    for (int trial = 0; trial < 100'000; ++trial) {
        const std::array<Index, 3> a = place(), b = place();
        bool expected = true;
        for (int k = 0; k < 3; ++k) expected = expected && std::abs(a[k] - b[k]) <= 1;
        ASSERT_EQ(BoxKin::next_to(BoxKin::place_of(a) - BoxKin::place_of(b)), expected)
            << a[0] << ' ' << a[1] << ' ' << a[2] << " and " << b[0] << ' ' << b[1] << ' ' << b[2];
        next += expected;
    }
    EXPECT_GT(next, 1000);
}

/// Boxes of about the given length; a few are very long, and some are far away.
std::vector<Box> random_boxes(Random& random, Index n, Real length)
{
    std::vector<Box> boxes;
    for (Index i = 0; i < n; ++i) {
        Vec3 at = random.in_box(Vec3::Constant(-1), Vec3::Constant(1));
        if (i % 97 == 5) at *= 1e7;
        Vec3 size = random.in_box(Vec3::Zero(), Vec3::Constant(length));
        if (i % 61 == 7) size *= 30;
        boxes.push_back(Box::between(at, at + size));
    }
    return boxes;
}

TEST(BoxHash, FindsThePairsOfASearchAmongAll)
{
    Random random(2);
    for (const Real length : {0.05, 0.2, 0.6}) {
        const Index n = 700;
        const std::vector<Box> boxes = random_boxes(random, n, length);
        std::vector<BoxKin> kin;
        for (Index i = 0; i < n; ++i)
            kin.push_back(i % 5 == 0 ? BoxKin()
                                     : BoxKin{i % 2, BoxKin::place_of({random.below(4), random.below(4), 0})});
        for (const bool with_kin : {false, true}) {
            const auto keep = [](Index i, Index j) { return (i + j) % 3 != 0; };
            std::vector<std::array<Index, 2>> expected, found;
            for (Index i = 0; i < n; ++i)
                for (Index j = i + 1; j < n; ++j) {
                    const bool together = with_kin && kin[i].group != none && kin[i].group == kin[j].group &&
                                          BoxKin::next_to(kin[i].place - kin[j].place);
                    if (overlap(boxes[i], boxes[j]) && !together && keep(i, j)) expected.push_back({i, j});
                }
            ASSERT_GT(expected.size(), 100u);
            for (const int threads : {1, 4}) {
                set_thread_count(threads);
                BoxHash hash;
                hash.update(boxes, length, with_kin ? std::span<const BoxKin>(kin) : std::span<const BoxKin>());
                hash.collect(keep, found);
                EXPECT_EQ(found, expected) << "length " << length << ", kin " << with_kin;
            }
            set_thread_count(0);
        }
    }
}

TEST(BoxHash, VisitsAllThatOverlapABox)
{
    Random random(3);
    const std::vector<Box> boxes = random_boxes(random, 500, 0.2), others = random_boxes(random, 100, 0.3);
    BoxHash hash;
    hash.update(boxes, 0.2);
    std::size_t all = 0;
    for (const Box& box : others) {
        std::vector<Index> expected, found;
        for (Index i = 0; i < count(boxes); ++i)
            if (overlap(box, boxes[i])) expected.push_back(i);
        if ((box.hi(0) - box.lo(0)) > 3) continue; // would take long, and is not asked
        hash.visit(box, [&](Index i) { found.push_back(i); });
        std::ranges::sort(found);
        EXPECT_EQ(found, expected);
        all += found.size();
    }
    EXPECT_GT(all, 100u);
}

} // namespace
} // namespace pliant
