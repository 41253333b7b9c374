#include "pliant/scene/copies.hpp"

#include "pliant/core/random.hpp"

#include <cmath>
#include <numbers>
#include <unordered_map>

namespace pliant {
namespace {

std::vector<Pose> grid_poses(const Value& grid, const Pose& place)
{
    const Vec3 spacing = grid.at("spacing").vec3();
    const Vec3 n = grid.at("count").vec3();
    std::vector<Pose> poses;
    for (int k = 0; k < n.z(); ++k)
        for (int j = 0; j < n.y(); ++j)
            for (int i = 0; i < n.x(); ++i)
                poses.push_back({place.translation + spacing.cwiseProduct(Vec3(i, j, k)), place.rotation});
    return poses;
}

std::vector<Pose> helix_poses(const Value& helix, const Pose& place, const Vec3& up)
{
    const Real radius = helix.at("radius").real(), rise = helix.at("rise").real() / (2 * std::numbers::pi),
               spacing = helix.at("spacing").real(), twist = helix.at("twist").real() * std::numbers::pi / 180;
    const Real length = std::hypot(radius, rise); // of the helix a radian
    const Quat stand = Quat::FromTwoVectors(Vec3::UnitY(), up);
    std::vector<Pose> poses;
    for (std::int64_t i = 0; i < helix.at("count").integer(); ++i) {
        const Real angle = static_cast<Real>(i) * spacing / length;
        const Vec3 out(std::sin(angle), 0,
                       std::cos(angle)); // from the axis; it goes round like the sun, seen from above
        const Vec3 along = (radius * Vec3(std::cos(angle), 0, -std::sin(angle)) + rise * Vec3::UnitY()) / length;
        Mat3 axes;
        axes << along, out.cross(along), out;
        const Quat turn = Quat(axes) * Quat(Eigen::AngleAxis<Real>(static_cast<Real>(i) * twist, Vec3::UnitX()));
        poses.push_back(
            {place.translation + stand * (radius * out + rise * angle * Vec3::UnitY()), stand * turn * place.rotation});
    }
    return poses;
}

/// Points at least `distance` apart, found again through cells of that size.
class Sparse {
public:
    Sparse(const Vec3& origin, Real distance) : origin_(origin), distance_(distance) {}

    bool add(const Vec3& x)
    {
        const Eigen::Array3i c = cell(x);
        for (int k = -1; k <= 1; ++k)
            for (int j = -1; j <= 1; ++j)
                for (int i = -1; i <= 1; ++i) {
                    const auto found = cells_.find(key(c + Eigen::Array3i(i, j, k)));
                    if (found == cells_.end()) continue;
                    for (const Vec3& y : found->second)
                        if ((x - y).norm() < distance_) return false;
                }
        cells_[key(c)].push_back(x);
        return true;
    }

private:
    Eigen::Array3i cell(const Vec3& x) const { return ((x - origin_) / distance_).array().floor().cast<int>(); }
    static std::uint64_t key(const Eigen::Array3i& c)
    {
        const auto part = [](int i) { return static_cast<std::uint64_t>(i + 1) & 0x1fffff; };
        return part(c.x()) << 42 | part(c.y()) << 21 | part(c.z()); // collisions only cost a comparison
    }

    Vec3 origin_;
    Real distance_;
    std::unordered_map<std::uint64_t, Vec3s> cells_;
};

std::vector<Pose> random_poses(const Value& random, const Pose& place, Real radius)
{
    constexpr int tries = 1000;
    const Vec3 low = random.at("box").at("min").vec3(), high = random.at("box").at("max").vec3();
    const std::int64_t wanted = random.at("count").integer();
    Random source(static_cast<std::uint64_t>(random.at("seed").integer()));
    const Value& distance = random.at("distance");
    const Real apart = distance.scalar == "auto" ? 2 * radius : distance.real();
    Sparse taken(low, std::max(apart, 1e-6 * (high - low).norm() + 1e-300));
    std::vector<Pose> poses;
    while (static_cast<std::int64_t>(poses.size()) < wanted) {
        Vec3 x = source.in_box(low, high);
        int tried = 1;
        while (!taken.add(x)) {
            if (++tried > tries)
                fail(random.at("count").mark, "there is no room for copy " + std::to_string(poses.size() + 1) + " of " +
                                                  std::to_string(wanted) + " after " + std::to_string(tries) +
                                                  " tries; enlarge the box");
            x = source.in_box(low, high);
        }
        const Quat turn = random.at("turn").boolean() ? source.rotation() : Quat::Identity();
        poses.push_back({place.translation + x, turn * place.rotation});
    }
    return poses;
}

} // namespace

Real copy_count(const Value* copies)
{
    if (!copies) return 1;
    if (const Value* grid = copies->find("grid")) return grid->at("count").vec3().prod();
    if (const Value* helix = copies->find("helix")) return helix->at("count").real();
    return copies->at("random").at("count").real();
}

std::vector<Pose> copy_poses(const Value* copies, const Pose& place, Real radius, const Vec3& up)
{
    if (!copies) return {place};
    if (const Value* grid = copies->find("grid")) return grid_poses(*grid, place);
    if (const Value* helix = copies->find("helix")) return helix_poses(*helix, place, up);
    return random_poses(copies->at("random"), place, radius);
}

} // namespace pliant
