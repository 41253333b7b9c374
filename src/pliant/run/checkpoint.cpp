#include "pliant/run/checkpoint.hpp"

#include "pliant/core/error.hpp"
#include "pliant/run/array_file.hpp"

#include <bit>

namespace pliant {
namespace {

constexpr std::uint32_t checkpoint_version = 1;

/// Must name every member of State: a forgotten one fails to compile here.
auto members(const State& s)
{
    const auto& [time, step, position, velocity, orientation, contacts, released, last_substep, free_change,
                 contact_change] = s;
    return std::tie(time, step, position, velocity, orientation, contacts, released, last_substep, free_change,
                    contact_change);
}

} // namespace

void save_checkpoint(const State& state, std::uint64_t scene, const std::filesystem::path& path)
{
    const auto& [time, step, position, velocity, orientation, contacts, released, last_substep, free_change,
                 contact_change] = members(state);
    ArrayFile file("state", checkpoint_version);
    file.add("scene_step", std::vector<std::int64_t>{std::bit_cast<std::int64_t>(scene), step});
    file.add("time", std::vector<Real>{time, last_substep});
    file.add("position", position);
    file.add("velocity", velocity);
    std::vector<Real> quaternions;
    for (const Quat& q : orientation) quaternions.insert(quaternions.end(), {q.x(), q.y(), q.z(), q.w()});
    file.add("orientation", quaternions, 4);
    std::vector<std::int64_t> keys;
    Vec3s impulses;
    for (const ContactMemory& c : contacts) {
        keys.insert(keys.end(), {std::bit_cast<std::int64_t>(c.key_a), std::bit_cast<std::int64_t>(c.key_b)});
        impulses.push_back(c.impulse);
    }
    file.add("contact_keys", keys, 2);
    file.add("contact_impulses", impulses);
    std::vector<Index> pairs;
    for (const ReleasedPair& p : released) pairs.insert(pairs.end(), {p.kind, p.a, p.b});
    file.add("released", pairs, 3);
    file.add("free_change", free_change);
    file.add("contact_change", contact_change);
    file.add("hash", std::vector<std::int64_t>{std::bit_cast<std::int64_t>(state.hash())});
    file.save(path);
}

void load_checkpoint(World& world, std::uint64_t scene, const std::filesystem::path& path)
{
    const ArrayFile file = ArrayFile::load(path, "state", checkpoint_version);
    const auto require = [&](bool good, const char* what) {
        if (!good) throw Error(path.string() + ": " + what);
    };
    const std::vector<std::int64_t> scene_step = file.integers("scene_step");
    const std::vector<Real> times = file.reals("time");
    require(scene_step.size() == 2 && times.size() == 2, "the file is damaged");
    require(std::bit_cast<std::uint64_t>(scene_step[0]) == scene, "belongs to another scene");
    State s;
    s.step = scene_step[1];
    s.time = times[0];
    s.last_substep = times[1];
    s.position = file.vectors("position");
    s.velocity = file.vectors("velocity");
    const std::vector<Real> quaternions = file.reals("orientation");
    for (std::size_t i = 0; i + 3 < quaternions.size(); i += 4)
        s.orientation.emplace_back(quaternions[i + 3], quaternions[i], quaternions[i + 1], quaternions[i + 2]);
    const std::vector<std::int64_t> keys = file.integers("contact_keys");
    const Vec3s impulses = file.vectors("contact_impulses");
    const std::vector<Index> pairs = file.indices("released");
    for (std::size_t i = 0; i + 2 < pairs.size(); i += 3) s.released.push_back({pairs[i], pairs[i + 1], pairs[i + 2]});
    s.free_change = file.vectors("free_change");
    s.contact_change = file.vectors("contact_change");
    const std::size_t blocks = world.state.position.size();
    const auto fits = [&](const Vec3s& v) { return v.empty() || v.size() == blocks; };
    require(s.position.size() == blocks && s.velocity.size() == blocks && fits(s.free_change) &&
                fits(s.contact_change) && s.orientation.size() == world.state.orientation.size() &&
                keys.size() == 2 * impulses.size(),
            "does not fit the scene");
    for (std::size_t i = 0; i < impulses.size(); ++i)
        s.contacts.push_back(
            {std::bit_cast<std::uint64_t>(keys[2 * i]), std::bit_cast<std::uint64_t>(keys[2 * i + 1]), impulses[i]});
    const std::vector<std::int64_t> hash = file.integers("hash");
    require(hash.size() == 1 && std::bit_cast<std::uint64_t>(hash[0]) == s.hash(),
            "was written by another version of Pliant");
    world.state = std::move(s);
}

} // namespace pliant
