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

bool NearBoxes::mark_gone(const Vec3s& x, std::vector<std::uint8_t>& marks) const
{
    const Real most = room_.place;
    const auto numbers = [](const Vec3s& v, Index begin, Index end) {
        return Eigen::Map<const Eigen::ArrayXd>(v[begin].data(), 3 * (end - begin));
    };
    return in_chunks(count(x), [&](Index begin, Index end) {
        if ((numbers(x, begin, end) - numbers(at_, begin, end)).abs().maxCoeff() <= most) return false;
        for (Index i = begin; i < end; ++i)
            if (!((x[i] - at_[i]).cwiseAbs().maxCoeff() <= most)) marks[i] = 1;
        return true;
    });
}

bool NearBoxes::mark_fast(const BlockVelocities& velocity, Real dt, const Room& room, std::vector<std::uint8_t>& marks)
{
    const Real most = room.way / dt, inf = std::numeric_limits<Real>::infinity();
    const Real4 up(most, most, most, inf), down(-most, -most, -most, -inf); // whatever the inverse mass is
    return in_chunks(count(velocity), [&](Index begin, Index end) {
        bool any = false;
        for (Index i = begin; i < end; ++i)
            if ((greater(velocity[i], up) | greater(down, velocity[i])) != 0) {
                marks[i] = 1;
                any = true;
            }
        return any;
    });
}

} // namespace pliant
