#include "pliant/run/checkpoint.hpp"

#include "pliant/core/error.hpp"
#include "pliant/methods/table.hpp"
#include "pliant/run/array_file.hpp"
#include "pliant/world/sewing.hpp"

#include <bit>

namespace pliant {
namespace {

constexpr std::uint32_t checkpoint_version = 2; ///< since the memory of a method is a struct of its own

/// Must name every member of State: a forgotten one fails to compile here.
auto members(const State& s)
{
    const auto& [time, step, position, velocity, orientation, sewn, memory] = s;
    return std::tie(time, step, position, velocity, orientation, sewn, memory);
}

/// Members of the memory have their own names behind this.
std::string array_name(const std::string& member)
{
    return "m:" + member;
}

class Saver final : public RecordVisitor {
public:
    explicit Saver(ArrayFile& file) : file_(file) {}
    void visit(const std::string& name, std::vector<Real>& values, int components) override
    {
        file_.add(array_name(name), values, static_cast<std::uint32_t>(components));
    }
    void visit(const std::string& name, std::vector<std::int64_t>& values, int components) override
    {
        file_.add(array_name(name), values, static_cast<std::uint32_t>(components));
    }

private:
    ArrayFile& file_;
};

class Loader final : public RecordVisitor {
public:
    explicit Loader(const ArrayFile& file) : file_(file) {}
    void visit(const std::string& name, std::vector<Real>& values, int) override
    {
        values = file_.reals(array_name(name));
    }
    void visit(const std::string& name, std::vector<std::int64_t>& values, int) override
    {
        values = file_.integers(array_name(name));
    }

private:
    const ArrayFile& file_;
};

} // namespace

void save_checkpoint(const State& state, const CheckpointOwner& owner, const std::filesystem::path& path)
{
    const auto& [time, step, position, velocity, orientation, sewn, memory] = members(state);
    ArrayFile file("state", checkpoint_version);
    file.add("scene_step", std::vector<std::int64_t>{std::bit_cast<std::int64_t>(owner.scene), step});
    file.add("time", std::vector<Real>{time});
    file.add("position", position);
    file.add("velocity", velocity);
    std::vector<Real> quaternions;
    for (const Quat& q : orientation) quaternions.insert(quaternions.end(), {q.x(), q.y(), q.z(), q.w()});
    file.add("orientation", quaternions, 4);
    if (!sewn.empty()) file.add("sewn", sewn);
    file.add("method", owner.method);
    file.add("has_memory", std::vector<std::int64_t>{!memory.empty()});
    Saver saver(file);
    memory.visit(saver);
    file.add("hash", std::vector<std::int64_t>{std::bit_cast<std::int64_t>(state.hash())});
    file.save(path);
}

void load_checkpoint(World& world, const CheckpointOwner& owner, const std::filesystem::path& path)
{
    const ArrayFile file = ArrayFile::load(path, "state", checkpoint_version);
    const auto require = [&](bool good, const std::string& what) {
        if (!good) throw Error(path.string() + ": " + what);
    };
    require(file.version() == checkpoint_version, "was written by an older version of Pliant; start the run over");
    const std::vector<std::int64_t> scene_step = file.integers("scene_step");
    const std::vector<Real> times = file.reals("time");
    require(scene_step.size() == 2 && times.size() == 1, "the file is damaged");
    const std::string method = file.text("method");
    require(method == owner.method, "belongs to a run with method '" + method + "', not '" + owner.method +
                                        "'; resume it with the method that it was started with");
    require(std::bit_cast<std::uint64_t>(scene_step[0]) == owner.scene, "belongs to another scene");
    State s;
    s.step = scene_step[1];
    s.time = times[0];
    s.position = file.vectors("position");
    s.velocity = file.vectors("velocity");
    const std::vector<Real> quaternions = file.reals("orientation");
    for (std::size_t i = 0; i + 3 < quaternions.size(); i += 4)
        s.orientation.emplace_back(quaternions[i + 3], quaternions[i], quaternions[i + 1], quaternions[i + 2]);
    if (file.has("sewn")) s.sewn = file.integers("sewn");
    const std::size_t blocks = world.state.position.size();
    require(s.position.size() == blocks && s.velocity.size() == blocks &&
                s.orientation.size() == world.state.orientation.size() && may_be_sewn(world.model, s.sewn),
            "does not fit the scene");
    if (file.integers("has_memory") == std::vector<std::int64_t>{1}) {
        s.memory = method_info(method).empty_memory();
        Loader loader(file);
        s.memory.load(loader);
    }
    const std::vector<std::int64_t> hash = file.integers("hash");
    require(hash.size() == 1 && std::bit_cast<std::uint64_t>(hash[0]) == s.hash(),
            "was written by another version of Pliant");
    world.state = std::move(s);
    tie_sewn(world);
}

} // namespace pliant
