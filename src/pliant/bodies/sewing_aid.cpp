#include "pliant/bodies/sewing_aid.hpp"

#include <algorithm>
#include <cassert>

namespace pliant {
namespace {

class AidRows final : public BatchRows {
public:
    explicit AidRows(const SewingAid& aid) : aid_(aid) {}

    Index first_block() const override { return aid_.loads().empty() ? 0 : aid_.loads().front().block; }
    Index end_block() const override { return aid_.loads().empty() ? 0 : aid_.loads().back().block + 1; }

    void evaluate_system(Index, Index, const Vec3s&, Real) override {}
    void add_system(Index begin, Index end, const Vec3s&, Real, BlockMatrix&, Vec3s& force) const override
    {
        for_loads(begin, end, [&](const SewingAid::Load& l) { force[l.block] -= l.mass * aid_.gravity(); });
    }

    void evaluate_forces(Index, Index, const Vec3s&, const Vec3s&) override {}
    void add_forces(Index begin, Index end, const Vec3s&, const Vec3s& v, Vec3s& force) const override
    {
        for_loads(begin, end, [&](const SewingAid::Load& l) {
            force[l.block] -= l.mass * (aid_.gravity() + aid_.drag() * v[l.block]);
        });
    }

private:
    void for_loads(Index begin, Index end, auto&& use) const
    {
        auto l = std::ranges::lower_bound(aid_.loads(), begin, {}, &SewingAid::Load::block);
        for (; l != aid_.loads().end() && l->block < end; ++l) use(*l);
    }

    const SewingAid& aid_;
};

} // namespace

SewingAid::SewingAid(std::vector<Load> loads, std::vector<Edge> pairs, const Vec3& gravity, Real drag)
    : loads_(std::move(loads)), pairs_(std::move(pairs)), gravity_(gravity), drag_(drag)
{
    assert(drag >= 0);
    std::ranges::sort(loads_, {}, &Load::block);
    // What is tied together is one load.
    std::size_t kept = 0;
    for (std::size_t i = 0; i < loads_.size(); ++i) {
        if (kept > 0 && loads_[kept - 1].block == loads_[i].block)
            loads_[kept - 1].mass += loads_[i].mass;
        else
            loads_[kept++] = loads_[i];
    }
    loads_.resize(kept);
}

Real SewingAid::energy(const Vec3s& x) const
{
    Real sum = 0;
    for (const Load& l : loads_) sum += l.mass * gravity_.dot(x[l.block]);
    return sum;
}

std::unique_ptr<BatchRows> SewingAid::make_rows(const MatrixRows*) const
{
    return std::make_unique<AidRows>(*this);
}

void SewingAid::add_row_bounds(const Vec3s&, RowBounds& bounds) const
{
    for (const Load& l : loads_) bounds.damping[l.block] += l.mass * drag_;
}

std::shared_ptr<const ElementBatch> SewingAid::with_blocks(std::span<const Index> block) const
{
    std::vector<Load> loads;
    std::vector<Edge> pairs;
    for (const auto& [a, b] : pairs_)
        if (block[a] != block[b]) pairs.push_back({block[a], block[b]});
    if (!pairs.empty())
        for (const Load& l : loads_) loads.push_back({block[l.block], l.mass});
    return std::make_shared<SewingAid>(std::move(loads), std::move(pairs), gravity_, drag_);
}

} // namespace pliant
