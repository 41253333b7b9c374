#include "pliant/core/error.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/methods/direct.hpp"
#include "pliant/methods/free_motion.hpp"
#include "pliant/methods/impact_zones.hpp"
#include "pliant/methods/implicit.hpp"
#include "pliant/methods/penalty.hpp"
#include "pliant/world/builder.hpp"

#include <gtest/gtest.h>

#include <set>

namespace pliant {
namespace {

World falling_ball()
{
    WorldBuilder builder;
    BodyOptions ball;
    ball.name = "ball";
    builder.add_rigid(make_sphere(0.1, 1), {}, ball);
    return builder.build();
}

/// Of a kind that every method can simulate.
World falling_cube()
{
    WorldBuilder builder;
    BodyOptions cube;
    cube.name = "cube";
    builder.add_solid(make_tet_box({0.1, 0.1, 0.1}, {1, 1, 1}), {}, cube);
    return builder.build();
}

World falling_lattice()
{
    WorldBuilder builder;
    BodyOptions options;
    options.name = "lattice";
    builder.add_lattice(std::make_shared<LatticeMesh>(make_lattice(make_box({1, 1, 1}), {2})), {}, options);
    return builder.build();
}

std::vector<std::string> words_of(std::string_view words)
{
    std::vector<std::string> out(1);
    for (const char c : words)
        if (c == ' ')
            out.emplace_back();
        else
            out.back() += c;
    return out;
}

OptionValue value_of(const MethodOption& option, const std::string& text)
{
    const bool number = option.kind == OptionKind::number || option.kind == OptionKind::integer;
    return {number ? std::stod(text) : 0, text};
}

struct Names final : RecordVisitor {
    std::vector<std::string> names;
    void visit(const std::string& name, std::vector<Real>&, int) override { names.push_back(name); }
    void visit(const std::string& name, std::vector<std::int64_t>&, int) override { names.push_back(name); }
};

std::vector<std::string> names_in(const Record& record)
{
    Names names;
    record.visit(names);
    return names.names;
}

template <class Options>
void expect_options_of(const MethodInfo& method)
{
    std::any fallbacks = method.default_options();
    for (const MethodOption& o : method.options) {
        const std::string fallback(o.fallback);
        o.set(fallbacks, value_of(o, fallback));
        std::vector<std::string> others = words_of(o.kind == OptionKind::boolean ? "true false" : o.words);
        if (o.kind == OptionKind::integer) others = {std::to_string(std::stod(fallback) + 1)};
        if (o.kind == OptionKind::number)
            others = {std::to_string(std::stod(fallback) == 0 ? 0.5 : std::stod(fallback) / 2)};
        for (const std::string& other : others) {
            if (other == fallback) continue;
            std::any changed = method.default_options();
            o.set(changed, value_of(o, other));
            EXPECT_FALSE(std::any_cast<Options>(changed) == Options()) << o.path << ": " << other;
        }
    }
    EXPECT_TRUE(std::any_cast<Options>(fallbacks) == Options()) << "a scene's defaults are the library's";
}

TEST(MethodTable, OptionsOfASceneHaveTheDefaultsOfTheLibraryAndReachTheStruct)
{
    expect_options_of<ImplicitOptions>(method_info("implicit"));
    expect_options_of<ImpactZonesOptions>(method_info("impact-zones"));
    expect_options_of<PenaltyOptions>(method_info("penalty"));
    expect_options_of<DirectOptions>(method_info("direct"));
    expect_options_of<FreeMotionOptions>(method_info("none"));
}

TEST(MethodTable, AStepReportsTheColumnsAndRemembersTheMembersOfItsRow)
{
    for (const MethodInfo& m : methods()) {
        World world = falling_cube();
        if (!describe_refusal(m, world.model).empty()) world = falling_lattice();
        const StepReport report = make_method(world, {.method = std::string(m.name)})->step(world, 0.01);
        EXPECT_EQ(names_in(report.own), std::vector<std::string>(m.columns.begin(), m.columns.end())) << m.name;
        EXPECT_EQ(names_in(world.state.memory), names_in(m.empty_memory())) << m.name;
        EXPECT_FALSE(m.about.empty());
    }
}

TEST(MethodTable, HasEveryNameAndEveryColumnOnce)
{
    std::set<std::string_view> names;
    for (const MethodInfo& m : methods()) {
        EXPECT_TRUE(names.insert(m.name).second) << m.name;
        std::set<std::string_view> columns(m.columns.begin(), m.columns.end());
        EXPECT_EQ(columns.size(), m.columns.size()) << m.name;
    }
}

TEST(MethodTable, OptionsThatMethodsShareAreTheSameKey)
{
    for (const MethodInfo& a : methods())
        for (const MethodInfo& b : methods())
            for (const MethodOption& x : a.options)
                for (const MethodOption& y : b.options) {
                    if (x.path != y.path) continue;
                    EXPECT_EQ(x.kind, y.kind) << x.path;
                    EXPECT_EQ(x.words, y.words) << x.path;
                    EXPECT_EQ(x.fallback, y.fallback) << x.path;
                }
}

TEST(MethodTable, ImplicitPromisesThatNothingCrossesUnlessPairsMayBeReleased)
{
    ImplicitOptions options;
    EXPECT_TRUE(promise_of(options).no_crossing);
    options.pinch = PinchPolicy::release;
    EXPECT_FALSE(promise_of(options).no_crossing);
    EXPECT_FALSE(promise_of({.method = "none"}).no_crossing);
}

TEST(MethodTable, ARefusalNamesTheBodyTheReasonAndTheMethodsThatCan)
{
    MethodInfo picky = free_motion_method(), able = free_motion_method();
    picky.name = "picky";
    able.name = "able";
    picky.why_not = [](const Model&, const Body& body) {
        return body.name == "ball" ? std::string("it is round") : std::string();
    };
    const World world = falling_ball();
    const std::vector<MethodInfo> both = {picky, able}, alone = {picky};
    EXPECT_EQ(describe_refusal(picky, world.model, both),
              "cannot simulate 'ball', because it is round; methods that can: able");
    EXPECT_EQ(describe_refusal(picky, world.model, alone),
              "cannot simulate 'ball', because it is round; no method can");
    EXPECT_EQ(describe_refusal(able, world.model, both), "");
}

TEST(MethodTable, MakesNoMethodOfAnUnknownNameOrWithTheOptionsOfAnother)
{
    const World world = falling_ball();
    EXPECT_THROW(make_method(world, {.method = "magic"}), Error);
    EXPECT_THROW(make_method(world, {.method = "none", .own = ImplicitOptions()}), Error);
    EXPECT_NO_THROW(make_method(world, ImplicitOptions()));
}

TEST(MethodMemory, OfAnotherMethodIsNotUsed)
{
    World mixed = falling_ball(), pure = mixed;
    make_method(mixed, {.method = "none"})->step(mixed, 0.01);
    make_method(pure, {.method = "none"})->step(pure, 0.01);
    pure.state.memory = {};
    make_method(mixed, {.method = "implicit"})->step(mixed, 0.01);
    make_method(pure, {.method = "implicit"})->step(pure, 0.01);
    EXPECT_EQ(mixed.state.hash(), pure.state.hash());
}

TEST(MethodMemory, IsPartOfTheHashButNotOfWhatAUserSees)
{
    World world = falling_ball();
    make_method(world, {.method = "implicit"})->step(world, 0.01);
    const std::uint64_t whole = world.state.hash(), visible = world.state.visible_hash();
    world.state.memory.use<ImplicitMemory>().released.push_back({1, 2, 3});
    EXPECT_NE(world.state.hash(), whole);
    EXPECT_EQ(world.state.visible_hash(), visible);
}

} // namespace
} // namespace pliant
