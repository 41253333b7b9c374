#include "pliant/detection/near_boxes.hpp"

#include <atomic>

namespace pliant {
namespace {

constexpr Index blocks_a_chunk = 1024;

/// mark(begin, end) for chunks of all blocks; whether one of them returned true.
template <class Mark>
bool in_chunks(Index n, Mark&& mark)
{
    std::atomic<bool> any = false;
    parallel_for((n + blocks_a_chunk - 1) / blocks_a_chunk,
                 [&](Index c) {
                     if (mark(c * blocks_a_chunk, std::min(n, (c + 1) * blocks_a_chunk)))
                         any.store(true, std::memory_order_relaxed);
                 },
                 8);
    return any;
}

} // namespace

bool NearBoxes::mark_gone(const Vec3s& x, std::vector<std::uint8_t>& marks)
{
    went_ = parallel_sum(count(x), Vec3(Vec3::Zero()), [&](Index i) -> Vec3 { return x[i] - at_[i]; }) /
            static_cast<Real>(x.size());
    const Real most_sq = room_.place * room_.place;
    return in_chunks(count(x), [&](Index begin, Index end) {
        bool any = false;
        for (Index i = begin; i < end; ++i)
            if (!((x[i] - at_[i] - went_).squaredNorm() <= most_sq)) {
                marks[i] = 1;
                any = true;
            }
        return any;
    });
}

bool NearBoxes::mark_fast(const BlockVelocities& velocity, const Vec3& common, Real dt, const Room& room,
                          std::vector<std::uint8_t>& marks)
{
    const Real4 mean(common.x(), common.y(), common.z(), 0);
    const Real most_sq = room.way * room.way / (dt * dt);
    return in_chunks(count(velocity), [&](Index begin, Index end) {
        bool any = false;
        for (Index i = begin; i < end; ++i)
            if (const Real4 v = velocity[i] - mean; greater(sum3(v * v), most_sq) != 0) {
                marks[i] = 1;
                any = true;
            }
        return any;
    });
}

} // namespace pliant
