// Every bad scene gets exactly one message, with its place. messages.txt lists "file | message".
#include "pliant/methods/table.hpp"
#include "pliant/scene/scene.hpp"
#include "pliant/scene/schema.hpp"
#include "pliant/scene/suggest.hpp"
#include "run/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace pliant {
namespace {

namespace fs = std::filesystem;

const fs::path bad = fs::path(PLIANT_SOURCE_DIR) / "tests/scene/bad";

std::string replace(std::string text, const std::string& what, const std::string& by)
{
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

/// {able} for the names of methods at the end of a refusal.
std::string without_able(const std::string& message)
{
    const std::string before = "; methods that can: ";
    const std::size_t at = message.find(before);
    if (at == std::string::npos) return message;
    std::istringstream names(replace(message.substr(at + before.size()), ",", " "));
    for (std::string name; names >> name;)
        if (!find_method(name)) return message;
    return message.substr(0, at + before.size()) + "{able}";
}

/// File -> message; {methods}, {able} and {meshes} stand for what is available, so that a new one breaks no test.
std::map<std::string, std::string> expected_messages()
{
    std::vector<std::string> meshes;
    for (const auto& m : scene_schema().field("bodies")->item->field("mesh")->children) meshes.push_back(m->name);
    std::map<std::string, std::string> messages;
    std::ifstream stream(bad / "messages.txt");
    for (std::string line; std::getline(stream, line);) {
        const std::size_t bar = line.find(" | ");
        if (bar == std::string::npos) continue;
        const std::string text = replace(line.substr(bar + 3), "{methods}", join_or(method_names()));
        messages[line.substr(0, bar)] = replace(text, "{meshes}", join_or(meshes));
    }
    return messages;
}

TEST(BadScene, GetsExactlyItsMessage)
{
    const fs::path here = fs::current_path();
    fs::current_path(bad);
    std::map<std::string, std::string> expected = expected_messages();
    int scenes = 0;
    for (const auto& entry : fs::directory_iterator(".")) {
        const std::string file = entry.path().filename().string();
        if (entry.path().extension() != ".yaml") continue;
        ++scenes;
        std::string message = "(accepted)";
        try {
            build_world(load_scene(file));
        } catch (const Error& e) {
            message = e.what();
        }
        EXPECT_EQ(without_able(message), expected[file]) << file;
        expected.erase(file);
    }
    fs::current_path(here);
    for (const auto& [file, message] : expected) ADD_FAILURE() << "messages.txt names " << file << ", which is missing";
    EXPECT_GE(scenes, 50);
}

TEST(BadScene, IsNamedWhenItDoesNotExist)
{
    try {
        load_scene("nowhere/scene.yaml");
        FAIL();
    } catch (const Error& e) {
        EXPECT_STREQ(e.what(), "nowhere/scene.yaml: no such scene file");
    }
    try {
        load_scene(bad);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.what(), bad.string() + ": is a directory, not a file");
    }
}

TEST(BadScene, IsRefusedWhenItIsTooLarge)
{
    const TemporaryDirectory dir;
    const fs::path path = dir / "huge.yaml";
    std::ofstream(path) << "title: x\n";
    fs::resize_file(path, 17u << 20);
    try {
        load_scene(path);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.what(), path.string() + ": larger than 16 MB, too large for a scene");
    }
}

std::string override_message(const std::vector<std::string>& overrides)
{
    const std::string text = "contact: {method: none}\nbodies: {floor: {obstacle: {plane: {y: 0}}}}\n";
    try {
        parse_scene(text, "scene.yaml", overrides);
    } catch (const Error& e) {
        return e.what();
    }
    return "(accepted)";
}

TEST(BadOverride, IsNamedAsItWasTyped)
{
    EXPECT_EQ(override_message({"contact.frction=1"}),
              "--set contact.frction=1: unknown key 'frction' in contact; did you mean 'friction'?");
    EXPECT_EQ(override_message({"contact.friction=-1"}),
              "--set contact.friction=-1: contact.friction must be at least 0, but is -1");
    EXPECT_EQ(override_message({"contact.friction"}),
              "--set contact.friction: expected KEY=VALUE, like contact.friction=0.5");
    EXPECT_EQ(override_message({"contact.friction="}), "--set contact.friction=: there is no value after '='");
    EXPECT_EQ(override_message({"contact..friction=1"}),
              "--set contact..friction=1: 'contact..friction' is not a key path like contact.friction");
    EXPECT_EQ(override_message({"bodies.flor.gap=1"}),
              "--set bodies.flor.gap=1: there is no 'flor' in bodies; did you mean 'floor'?");
    EXPECT_EQ(override_message({"bodies.wall={obstacle: {plane: {x: 0}}}"}), "(accepted)");
    EXPECT_EQ(override_message({"gravity.3=1"}),
              "--set gravity.3=1: gravity must be a list of 3 numbers or auto, but is a map");
    EXPECT_EQ(override_message({"gravity=[0, 0, 0]", "gravity.3=1"}),
              "--set gravity.3=1: '3' is not an item of a list of 3");
    EXPECT_EQ(override_message({"include=other.yaml"}),
              "--set include=other.yaml: include belongs into a scene file, not on the command line");
    EXPECT_EQ(override_message({"title={a: [1}"}).substr(0, 38), "--set title={a: [1}:1:7: not valid YAM");
}

} // namespace
} // namespace pliant
