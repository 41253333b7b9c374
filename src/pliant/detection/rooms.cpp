#include "pliant/detection/rooms.hpp"

#include "pliant/core/parallel.hpp"

#include <cassert>

namespace pliant {

void Rooms::put(const VertexBalls& balls, Index v, bool always)
{
    changed_[v] = 0;
    for (int t = 0; t < (moving() ? 2 : 1); ++t) {
        const int from = balls.moving() ? t : 0;
        const Vec3& x = balls.centre(from, v);
        const Real r = balls.radius(from, v);
        if (!always && centre_[t][v] == x && radius_[t][v] == r) continue;
        centre_[t][v] = x;
        radius_[t][v] = r;
        (t == 0 ? boxes_.t0 : boxes_.t1)[v] = Box::of_ball(x, r);
        changed_[v] = 1;
    }
}

void Rooms::set(const VertexBalls& balls)
{
    const auto n = static_cast<std::size_t>(balls.size());
    const bool all = boxes_.t0.size() != n || moving() != balls.moving();
    boxes_.t0.resize(n);
    boxes_.t1.resize(balls.moving() ? n : 0);
    for (int t = 0; t < 2; ++t) {
        centre_[t].resize(n);
        radius_[t].resize(n);
    }
    changed_.resize(n);
    parallel_for(
        balls.size(), [&](Index v) { put(balls, v, all); }, 1024);
}

void Rooms::replace(const VertexBalls& balls, std::span<const char> marked)
{
    assert(boxes_.t0.size() == marked.size() && count(marked) == balls.size());
    parallel_for(
        balls.size(),
        [&](Index v) {
            if (marked[v])
                put(balls, v, true);
            else
                changed_[v] = 0;
        },
        1024);
}

std::size_t Rooms::bytes() const
{
    const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
    std::size_t n = of(boxes_.t0) + of(boxes_.t1) + of(changed_);
    for (int t = 0; t < 2; ++t) n += of(centre_[t]) + of(radius_[t]);
    return n;
}

} // namespace pliant
