#include "pliant/core/error.hpp"
#include "pliant/scene/suggest.hpp"
#include "pliant/scene/units.hpp"

#include <gtest/gtest.h>

#include <numbers>

namespace pliant {
namespace {

Real si(const char* text)
{
    const Quantity q = parse_quantity(text);
    return convert(q.value, q.unit);
}

TEST(Units, ConvertToSi)
{
    EXPECT_DOUBLE_EQ(si("4 ms"), 4e-3);
    EXPECT_DOUBLE_EQ(si("4ms"), 4e-3);
    EXPECT_DOUBLE_EQ(si("20 kN/m^2"), 2e4);
    EXPECT_DOUBLE_EQ(si("1e5 Pa"), 1e5);
    EXPECT_DOUBLE_EQ(si("2 g/cm^3"), 2000);
    EXPECT_DOUBLE_EQ(si("30 deg"), std::numbers::pi / 6);
    EXPECT_DOUBLE_EQ(si("60 rpm"), 2 * std::numbers::pi);
    EXPECT_DOUBLE_EQ(si("10 %"), 0.1);
    EXPECT_DOUBLE_EQ(si("-1.5 m/s"), -1.5);
    EXPECT_DOUBLE_EQ(si("3 N*m"), 3);
    EXPECT_DOUBLE_EQ(si("3 N m"), 3);
    EXPECT_DOUBLE_EQ(si("2 min"), 120);
    EXPECT_DOUBLE_EQ(si("5 um"), 5e-6);
    EXPECT_DOUBLE_EQ(si("5 \xc2\xb5m"), 5e-6);
    EXPECT_DOUBLE_EQ(si("2 m s^-2"), 2);
    EXPECT_DOUBLE_EQ(si("7 1/s"), 7);
}

TEST(Units, RoundOnce)
{
    EXPECT_EQ(si("1 g/cm^3"), 1000);
    EXPECT_EQ(si("8.5 g/cm^3"), 8500);
    EXPECT_EQ(si("7 ms"), 0.007);
    EXPECT_EQ(si("0.3 mm"), 0.0003);
    EXPECT_EQ(si("1 kg"), 1);
}

TEST(Units, KnowTheirDimension)
{
    EXPECT_EQ(parse_unit("N/m").dimension, parse_unit("kg/s^2").dimension);
    EXPECT_EQ(parse_unit("Pa").dimension, parse_unit("kN/m^2").dimension);
    EXPECT_EQ(parse_unit("J").dimension, parse_unit("N m").dimension);
    EXPECT_EQ(parse_unit("Hz").dimension, parse_unit("1/s").dimension);
    EXPECT_NE(parse_unit("rad/s").dimension, parse_unit("1/s").dimension);
    EXPECT_EQ(describe(parse_unit("m^5").dimension), "a quantity in m^5");
}

TEST(Units, RefuseWhatTheyDoNotKnow)
{
    for (const char* text :
         {"4 mz", "4 m//s", "4 /", "4 m^", "4 m^x", "4 m^0", "4 m^99", "4 kmin", "4 ^2", "m", "", "4 k"})
        EXPECT_THROW(parse_quantity(text), Error) << text;
}

TEST(Units, WriteTheShortestTextThatReadsBackTheSame)
{
    for (const Real x : {0.1, 1.0 / 3, 1e-300, 6.02214076e23, -0.0, 5.0, 1e22}) {
        Real y = 0;
        ASSERT_TRUE(parse_number(to_text(x), y));
        EXPECT_EQ(x, y);
    }
    EXPECT_EQ(to_text(0.1), "0.1");
}

TEST(Suggestion, IsTheNearestWord)
{
    EXPECT_EQ(edit_distance("friction", "frction"), 1);
    EXPECT_EQ(edit_distance("gird", "grid"), 1);
    EXPECT_EQ(edit_distance("", "abc"), 3);
    EXPECT_EQ(did_you_mean("frction", {"gap", "friction", "method"}), "; did you mean 'friction'?");
    EXPECT_EQ(did_you_mean("wibble", {"gap", "friction", "method"}), "");
    EXPECT_EQ(join_or({"a", "b", "c"}), "a, b or c");
}

} // namespace
} // namespace pliant
