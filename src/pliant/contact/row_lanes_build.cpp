#include "pliant/contact/row_lanes.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr float start_penalty = 0.5f; ///< times the inverse response: the answer of a row by itself is half of exact
constexpr float ball_penalty = 1.0f;  ///< likewise: that of a limit of length by itself is exact

Index padded(Index n)
{
    return (n + Float8::width - 1) / Float8::width * Float8::width;
}

/// Response of the row's point to an impulse there, as the diagonal of A sees it.
Mat3 response_of(const ContactSystem& system, const Row& row)
{
    Mat3 W = Mat3::Zero();
    const ContactProblem& p = system.problem;
    for (Index k = row.entry_begin; k < row.entry_end; ++k)
        W += p.entries[k].weight * p.entries[k].weight * system.diagonal_inverse[p.entries[k].block];
    for (Index k = row.arm_begin; k < row.arm_end; ++k) {
        const Mat3 arm = skew(p.arms[k].arm);
        W += arm * system.diagonal_inverse[p.arms[k].block] * arm.transpose();
    }
    return W;
}

} // namespace

void RowLanes::resize(const ContactProblem& problem, std::span<const Index> rows, Index balls)
{
    contacts_ = count(rows);
    balls_ = balls;
    first_ball_ = padded(contacts_);
    rows_ = first_ball_ + padded(balls);
    for (Planes* planes : {&normal_, &tangent1_, &tangent2_, &u_, &ju_, &l_, &y_, &rho_, &impulse_, &response_})
        for (Plane& plane : *planes) plane.assign(static_cast<std::size_t>(rows_), 0.0f);
    for (Plane* plane : {&friction_, &bound_, &room_, &natural_, &radius_})
        plane->assign(static_cast<std::size_t>(rows_), 0.0f);
    for (Plane& plane : stiffness_) plane.assign(static_cast<std::size_t>(rows_), -1.0f); // unknown
    entry_begin_ = arm_begin_ = {0};
    for (Index chunk = 0; chunk < rows_; chunk += width) {
        Index entries = chunk >= first_ball_ ? 2 : 0, arms = 0;
        for (Index at = chunk; at < std::min(chunk + width, contacts_); ++at) {
            const Row& row = problem.rows[rows[at]];
            entries = std::max(entries, row.entry_end - row.entry_begin);
            arms = std::max(arms, row.arm_end - row.arm_begin);
        }
        entry_begin_.push_back(entry_begin_.back() + entries);
        arm_begin_.push_back(arm_begin_.back() + arms);
    }
    entry_lane_.assign(static_cast<std::size_t>(width * entry_begin_.back()), none);
    entry_weight_.assign(entry_lane_.size(), 0.0f);
    arm_lane_.assign(static_cast<std::size_t>(width * arm_begin_.back()), none);
    for (Plane& plane : arm_) plane.assign(arm_lane_.size(), 0.0f);
}

void RowLanes::set_penalties(Index at, const Mat3& response, const Mat3& frame)
{
    const float share = at < first_ball_ ? start_penalty : ball_penalty;
    for (int c = 0; c < 3; ++c) {
        const Real w = frame.col(c).dot(response * frame.col(c));
        rho_[c][at] = w > 0 ? share / static_cast<float>(w) : 0;
    }
    if (cone_ == FrictionCone::exact) rho_[1][at] = rho_[2][at] = std::min(rho_[1][at], rho_[2][at]);
}

void RowLanes::set_contact(Index at, const ContactSystem& system, const Row& row, const LaneOrder& order,
                           const Vec3s& dv, const Vec3& lambda)
{
    const ContactProblem& p = system.problem;
    const Mat3 W = response_of(system, row);
    set_penalties(at, W, row.frame());
    const Vec3 velocity = p.relative_velocity(row, system.free_velocity) + p.relative_velocity(row, dv);
    const Vec3 u = row.local(row.u0 + velocity) - Vec3(row.rhs, 0, 0);
    for (int c = 0; c < 3; ++c) {
        normal_[c][at] = static_cast<float>(row.normal[c]);
        tangent1_[c][at] = static_cast<float>(row.tangent1[c]);
        tangent2_[c][at] = static_cast<float>(row.tangent2[c]);
        u_[c][at] = static_cast<float>(u[c]);
        l_[c][at] = static_cast<float>(lambda[c]);
    }
    friction_[at] = static_cast<float>(row.friction);
    room_[at] = static_cast<float>(row.room / system.dt);
    natural_[at] = W.trace() > 0 ? static_cast<float>(1 / W.trace()) : 0;
    const Index chunk = at / width, lane = at % width;
    for (Index k = row.entry_begin; k < row.entry_end; ++k) {
        const Index place = width * (entry_begin_[chunk] + k - row.entry_begin) + lane;
        entry_lane_[place] = order.lane_of_block[p.entries[k].block];
        entry_weight_[place] = static_cast<float>(p.entries[k].weight);
    }
    for (Index k = row.arm_begin; k < row.arm_end; ++k) {
        const Index place = width * (arm_begin_[chunk] + k - row.arm_begin) + lane;
        arm_lane_[place] = order.lane_of_block[p.arms[k].block];
        for (int c = 0; c < 3; ++c) arm_[c][place] = static_cast<float>(p.arms[k].arm[c]);
    }
}

void RowLanes::set_ball(Index at, const ContactSystem& system, const LengthBall& ball, const LaneOrder& order,
                        const Vec3s& dv)
{
    const Vec3 n = ball.start.normalized(), now = ball.start + dv[ball.a] - dv[ball.b];
    const Real w = n.dot((system.diagonal_inverse[ball.a] + system.diagonal_inverse[ball.b]) * n);
    rho_[0][at] = w > 0 ? ball_penalty / static_cast<float>(w) : 0;
    for (int c = 0; c < 3; ++c) {
        u_[c][at] = static_cast<float>(now[c]);
        l_[c][at] = static_cast<float>(ball.impulse[c]);
    }
    radius_[at] = static_cast<float>(ball.radius);
    room_[at] = static_cast<float>(ball.room);
    const Index first = width * entry_begin_[at / width] + at % width;
    entry_lane_[first] = order.lane_of_block[ball.a];
    entry_weight_[first] = 1;
    entry_lane_[first + width] = order.lane_of_block[ball.b];
    entry_weight_[first + width] = -1;
}

void RowLanes::build(const ContactSystem& system, std::span<const Index> rows, std::span<const LengthBall> balls,
                     FrictionCone cone, const LaneOrder& order, const Vec3s& dv, const Multipliers& lambda)
{
    cone_ = cone;
    dt_ = system.dt;
    resize(system.problem, rows, count(balls));
    parallel_for(contacts_, [&](Index at) {
        set_contact(at, system, system.problem.rows[rows[at]], order, dv, lambda[rows[at]]);
    });
    for (Index k = 0; k < balls_; ++k) set_ball(first_ball_ + k, system, balls[k], order, dv);
    least_rho_.clear();
    list_touches();
    for (Index& lane : entry_lane_) lane = std::max(lane, 0); // an empty place reads somebody, times 0
    for (Index& lane : arm_lane_) lane = std::max(lane, 0);
}

/// The rows at every lane, in their order, so that sums over them have the same bits on any number of threads.
void RowLanes::list_touches()
{
    // (sum_k x_k)^2 <= sum_k s_k sum_k x_k^2 / s_k: shares by weight, an arm counts like a weight of one.
    const auto row_weight = [&](Index row) {
        float sum = 0;
        const Index chunk = row / width;
        for (Index s = entry_begin_[chunk]; s < entry_begin_[chunk + 1]; ++s)
            sum += std::abs(entry_weight_[width * s + row % width]);
        for (Index s = arm_begin_[chunk]; s < arm_begin_[chunk + 1]; ++s)
            sum += arm_lane_[width * s + row % width] != none;
        return sum;
    };
    std::vector<std::pair<Index, Touch>> touches;
    std::vector<std::pair<Index, ArmTouch>> arm_touches;
    for (Index row = 0; row < rows_; ++row) {
        const Index chunk = row / width;
        const float sum = row_weight(row);
        for (Index s = entry_begin_[chunk]; s < entry_begin_[chunk + 1]; ++s) {
            const Index place = width * s + row % width;
            if (entry_lane_[place] != none)
                touches.push_back(
                    {entry_lane_[place], {row, entry_weight_[place], std::abs(entry_weight_[place]) * sum}});
        }
        for (Index s = arm_begin_[chunk]; s < arm_begin_[chunk + 1]; ++s) {
            const Index place = width * s + row % width;
            if (arm_lane_[place] != none)
                arm_touches.push_back({arm_lane_[place], {row, {arm_[0][place], arm_[1][place], arm_[2][place]}, sum}});
        }
    }
    const auto group = [](auto& pairs, auto& list, std::vector<Index>& lanes, std::vector<Index>& begin) {
        std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        list.clear();
        lanes.clear();
        begin.clear();
        for (const auto& [lane, touch] : pairs) {
            if (lanes.empty() || lanes.back() != lane) {
                lanes.push_back(lane);
                begin.push_back(count(list));
            }
            list.push_back(touch);
        }
        begin.push_back(count(list));
    };
    group(touches, touches_, touched_, touch_begin_);
    group(arm_touches, arm_touches_, arm_touched_, arm_touch_begin_);
}

} // namespace pliant
