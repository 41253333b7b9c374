#include "pliant/core/error.hpp"
#include "pliant/mesh/embed.hpp"
#include "pliant/mesh/topology.hpp"
#include "pliant/mesh/validate.hpp"
#include "pliant/scene/letters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

using namespace pliant;

namespace {

int euler_characteristic(const TriangleMesh& mesh)
{
    return count(mesh.vertices) - count(edges_of(mesh.triangles)) + count(mesh.triangles);
}

std::vector<Real> smallest_angles(const TriangleMesh& mesh)
{
    std::vector<Real> angles;
    for (const Triangle& t : mesh.triangles) {
        Real smallest = 180;
        for (int k = 0; k < 3; ++k) {
            const Vec3 u = mesh.vertices[t[(k + 1) % 3]] - mesh.vertices[t[k]];
            const Vec3 v = mesh.vertices[t[(k + 2) % 3]] - mesh.vertices[t[k]];
            smallest = std::min(smallest, std::atan2(u.cross(v).norm(), u.dot(v)) * 180 / std::numbers::pi);
        }
        angles.push_back(smallest);
    }
    std::sort(angles.begin(), angles.end());
    return angles;
}

} // namespace

TEST(Letters, EveryPrintableLetterBecomesAClosedBodyOfPositiveVolume)
{
    std::string text;
    for (char c = '!'; c <= '~'; ++c) text += c;
    text += "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xe2\x82\xac"; // a, o, u with dots, sharp s, euro sign
    const std::vector<TriangleMesh> letters = make_letters(text, {.height = 0.3, .depth = 0.1});
    ASSERT_EQ(letters.size(), 94u + 5u);
    for (std::size_t i = 0; i < letters.size(); ++i) {
        EXPECT_TRUE(is_closed(letters[i].triangles)) << i;
        EXPECT_GT(enclosed_volume(letters[i]), 0) << i;
    }
}

TEST(Letters, HolesAndPartsAreThoseOfTheLetters)
{
    EXPECT_EQ(euler_characteristic(make_text("L")), 2);
    EXPECT_EQ(euler_characteristic(make_text("O")), 0);
    EXPECT_EQ(euler_characteristic(make_text("B")), -2);
    EXPECT_EQ(euler_characteristic(make_text("i")), 4);
}

TEST(Letters, ACapitalHasTheHeightAndDepthAskedFor)
{
    const TriangleMesh mesh = make_text("H", {.height = 0.5, .depth = 0.2, .edge_length = 0.03});
    Vec3 low = mesh.vertices[0], high = low;
    for (const Vec3& x : mesh.vertices) {
        low = low.cwiseMin(x);
        high = high.cwiseMax(x);
    }
    EXPECT_NEAR(high.y() - low.y(), 0.5, 1e-12);
    EXPECT_NEAR(high.z() - low.z(), 0.2, 1e-12);
    EXPECT_NEAR((high + low).norm(), 0, 1e-12);
}

TEST(Letters, TrianglesStayUsableForContact)
{
    for (const TriangleMesh& letter : make_letters("SIGRAPHeg8&", {.height = 1, .depth = 0.25, .edge_length = 0.06})) {
        const std::vector<Real> angles = smallest_angles(letter);
        EXPECT_GT(angles.front(), 3);              // no slivers
        EXPECT_GT(angles[angles.size() / 20], 20); // 95 % are decent
        EXPECT_GT(angles[angles.size() / 2], 35);  // half are good
        Real longest = 0;
        for (const Edge& e : edges_of(letter.triangles))
            longest = std::max(longest, (letter.vertices[e[0]] - letter.vertices[e[1]]).norm());
        EXPECT_LT(longest, 0.06 * 2.2);
    }
}

TEST(Letters, LettersFollowEachOtherWithoutTouching)
{
    const std::vector<TriangleMesh> letters = make_letters("PLI ANT");
    ASSERT_EQ(letters.size(), 6u);
    for (std::size_t i = 0; i + 1 < letters.size(); ++i) {
        const auto right = [](const TriangleMesh& m) {
            Real x = m.vertices[0].x();
            for (const Vec3& v : m.vertices) x = std::max(x, v.x());
            return x;
        };
        const auto left = [](const TriangleMesh& m) {
            Real x = m.vertices[0].x();
            for (const Vec3& v : m.vertices) x = std::min(x, v.x());
            return x;
        };
        EXPECT_LT(left(letters[i]), left(letters[i + 1]));
        EXPECT_LT(right(letters[i]), right(letters[i + 1]));
    }
}

TEST(Letters, CanBeEmbeddedIntoTetrahedra)
{
    for (const TriangleMesh& letter : make_letters("PLIANT&", {.height = 0.2, .depth = 0.06, .edge_length = 0.02})) {
        const EmbeddedMesh mesh = embed(letter, {.cell_size = 0.02});
        validate(mesh.tets);
        EXPECT_GT(mesh.volume_error, 0);
        EXPECT_LT(mesh.volume_error, 0.6);
        for (std::size_t v = 0; v < mesh.tet.size(); ++v) {
            ASSERT_GE(mesh.weights[v].minCoeff(), 0);
            Vec3 x = Vec3::Zero();
            for (int k = 0; k < 4; ++k) x += mesh.weights[v][k] * mesh.tets.vertices[mesh.tets.tets[mesh.tet[v]][k]];
            ASSERT_LT((x - letter.vertices[v]).norm(), 1e-9);
        }
    }
}

TEST(Letters, RefuseWhatTheyCannotDrawWithASentence)
{
    const auto message = [](const std::string& text, const LetterOptions& options) -> std::string {
        try {
            make_letters(text, options);
        } catch (const Error& error) {
            return error.what();
        }
        return "no error";
    };
    EXPECT_EQ(message("", {}), "letters: the text has no letter that leaves ink.");
    EXPECT_EQ(message("   ", {}), "letters: the text has no letter that leaves ink.");
    EXPECT_EQ(message("A\xff", {}), "letters: the text is not valid UTF-8 at byte 1.");
    EXPECT_EQ(message("A", {.height = -1}), "letters: the height must be a positive length.");
    EXPECT_EQ(message("A", {.font = "/no/such.ttf"}),
              "letters: cannot read the font '/no/such.ttf'; Debian's fonts-dejavu-core has the default one.");
    EXPECT_NE(message("\xf0\x9f\xa6\x86", {}).find("has no letter for U+1F986."), std::string::npos);
}
