#include "pliant/contact/row_lanes.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr Index rows_a_task = 512;
// Penalties by load.
constexpr float give = 0.3f, ball_give = 1.25f; ///< of their room that rows and balls give way by under their load
constexpr float most_by_load = 1000;            ///< times the penalty by mass: single precision ends there
constexpr float slowest_change = 0.3f, fastest_change = 16; ///< at an update

} // namespace

/// sum_k w_k v_k + omega x arm of eight rows, in world axes.
Float8x3 RowLanes::relative(Index row, const LaneVectors& v) const
{
    const Index chunk = row / width;
    Float8x3 sum;
    for (Index s = entry_begin_[chunk]; s < entry_begin_[chunk + 1]; ++s)
        sum += Float8::load(&entry_weight_[width * s]) * v.gather(&entry_lane_[width * s]);
    for (Index s = arm_begin_[chunk]; s < arm_begin_[chunk + 1]; ++s)
        sum += cross(v.gather(&arm_lane_[width * s]), axis(arm_, width * s));
    return sum;
}

void RowLanes::set_direction(const LaneVectors& d)
{
    for_rows([&](Index row) {
        const Float8x3 r = relative(row, d);
        const bool contact = row < first_ball_; // a ball's frame is the world
        (contact ? dot(axis(normal_, row), r) : r.x).store(&ju_[0][row]);
        (contact ? dot(axis(tangent1_, row), r) : r.y).store(&ju_[1][row]);
        (contact ? dot(axis(tangent2_, row), r) : r.z).store(&ju_[2][row]);
    });
}

void RowLanes::advance(float alpha)
{
    const Float8 a = alpha;
    for (int c = 0; c < 3; ++c)
        for (Index row = 0; row < rows_; row += width)
            (Float8::load(&u_[c][row]) + a * Float8::load(&ju_[c][row])).store(&u_[c][row]);
}

void RowLanes::Residuals::add(const Residuals& o)
{
    natural_sq += o.natural_sq;
    gap = std::max(gap, o.gap);
    strain = std::max(strain, o.strain);
    changed |= o.changed;
}

namespace {

/// The answer's tangential part y_t to l_t - rho u_t = (a, b), within its bound, and its stiffness k per unit of
/// velocity as a quadratic form: k11 a^2 + 2 k12 a b + k22 b^2.
struct Tangents {
    Float8 y1, y2, k11, k12, k22;
};

Tangents answer_tangents(FrictionCone cone, Float8 bound, Float8 a, Float8 b, Float8 rho1, Float8 rho2)
{
    if (cone == FrictionCone::pyramid)
        return {min(max(a, Float8(0) - bound), bound), min(max(b, Float8(0) - bound), bound),
                where_greater(bound, abs(a), rho1), Float8(0), where_greater(bound, abs(b), rho2)};
    // On the rim of the disc the answer still turns with the velocity: rho bound / length across the sliding direction.
    const Float8 length = max(sqrt(a * a + b * b), Float8(1e-30f));
    const Float8 inside = where_greater(bound, length, Float8(1)),
                 factor = inside + (Float8(1) - inside) * (bound / length);
    const Float8 k = rho1 * factor, s1 = (Float8(1) - inside) * (a / length), s2 = (Float8(1) - inside) * (b / length);
    return {factor * a, factor * b, k * (Float8(1) - s1 * s1), Float8(0) - k * s1 * s2, k * (Float8(1) - s2 * s2)};
}

/// sum += k a b^T; the sum over all calls must be symmetric.
void add_outer(Float8 k, const Float8x3& a, const Float8x3& b, std::array<Float8, 6>& sum)
{
    const Float8x3 ka = k * a;
    sum[0] += ka.x * b.x;
    sum[1] += ka.x * b.y;
    sum[2] += ka.x * b.z;
    sum[3] += ka.y * b.y;
    sum[4] += ka.y * b.z;
    sum[5] += ka.z * b.z;
}

float largest(Float8 v)
{
    float lanes[Float8::width];
    v.store(lanes);
    return *std::max_element(lanes, lanes + Float8::width);
}

} // namespace

/// How far y is from the friction law's fixed point, in units of velocity, as contact_residuals() measures it.
Float8 RowLanes::natural_map_sq(Index row, const Float8x3& u, const Float8x3& y) const
{
    const Float8 r = Float8::load(&natural_[row]), mu = Float8::load(&friction_[row]);
    const bool disc = cone_ == FrictionCone::exact;
    const Float8 shift = disc ? mu * sqrt(u.y * u.y + u.z * u.z) : Float8(0);
    Float8x3 p = y - r * Float8x3{u.x + shift, u.y, u.z};
    if (disc) { // projection to the cone |y_t| <= mu y_n
        const Float8 length = sqrt(p.y * p.y + p.z * p.z);
        const Float8 on_rim = max(Float8(0), (p.x + mu * length) / (Float8(1) + mu * mu));
        const Float8 outside = where_greater(length, mu * p.x, Float8(1));
        const Float8 normal = outside * on_rim + (Float8(1) - outside) * p.x;
        const Tangents t = answer_tangents(cone_, mu * normal, p.y, p.z, Float8(0), Float8(0));
        p = {normal, t.y1, t.y2};
    } else {
        const Tangents t = answer_tangents(cone_, mu * y.x, p.y, p.z, Float8(0), Float8(0));
        p = {max(Float8(0), p.x), t.y1, t.y2};
    }
    const Float8x3 difference = y - p;
    // Rows that nothing can act on, and padding, have r = 0.
    return where_greater(r, Float8(0), dot(difference, difference) / max(r * r, Float8(1e-37f)));
}

RowLanes::Residuals RowLanes::answer_contacts(Index row)
{
    const Float8x3 u = axis(u_, row), rho = axis(rho_, row);
    Float8x3 y = axis(l_, row) - Float8x3{rho.x * u.x, rho.y * u.y, rho.z * u.z};
    y.x = max(Float8(0), y.x);
    const Float8 bound = Float8::load(&friction_[row]) * (frozen_ ? Float8::load(&l_[0][row]) : y.x);
    const Tangents t = answer_tangents(cone_, bound, y.y, y.z, rho.y, rho.z);
    y = {y.x, t.y1, t.y2};
    bound.store(&bound_[row]);
    set(y_, row, y);
    const Float8x3 n = axis(normal_, row), t1 = axis(tangent1_, row), t2 = axis(tangent2_, row);
    set(impulse_, row, y.x * n + y.y * t1 + y.z * t2);
    std::array<Float8, 6> stiffness;
    add_outer(where_greater(y.x, Float8(0), rho.x), n, n, stiffness);
    add_outer(Float8(1), t.k11 * t1 + t.k12 * t2, t1, stiffness);
    add_outer(Float8(1), t.k12 * t1 + t.k22 * t2, t2, stiffness);
    Residuals residuals;
    residuals.changed = remember_stiffness(row, stiffness);
    residuals.natural_sq = natural_map_sq(row, u, y).sum();
    const Float8 room = Float8::load(&room_[row]);
    residuals.gap = largest(where_greater(room, Float8(0), (Float8(0) - u.x) / max(room, Float8(1e-30f))));
    return residuals;
}

RowLanes::Residuals RowLanes::answer_balls(Index row)
{
    const Float8x3 s = axis(u_, row);
    const Float8 rho = Float8::load(&rho_[0][row]), radius = Float8::load(&radius_[row]);
    const Float8x3 z = s - (Float8(1) / max(rho, Float8(1e-30f))) * axis(l_, row);
    const Float8 length = max(sqrt(dot(z, z)), Float8(1e-30f));
    const Float8 k = where_greater(length, radius, rho * (Float8(1) - radius / length));
    const Float8x3 y = (Float8(0) - k) * z;
    set(y_, row, y);
    set(impulse_, row, y);
    std::array<Float8, 6> stiffness;
    // rho along the ball's radius; across it the tension turns with the edge, as a taut string's does.
    add_outer(where_greater(length, radius, rho * radius / (length * length * length)), z, z, stiffness);
    for (const int e : {0, 3, 5}) stiffness[e] += k;
    Residuals residuals;
    residuals.changed = remember_stiffness(row, stiffness);
    const Float8 room = Float8::load(&room_[row]);
    residuals.strain = largest(where_greater(room, Float8(0), (sqrt(dot(s, s)) - radius) / max(room, Float8(1e-30f))));
    return residuals;
}

/// A ball's direction turns all the time: its stiffness is news only when it comes or goes.
bool RowLanes::remember_stiffness(Index row, const std::array<Float8, 6>& stiffness)
{
    const Float8 trace = stiffness[0] + stiffness[3] + stiffness[5];
    const Float8 before =
        Float8::load(&stiffness_[0][row]) + Float8::load(&stiffness_[3][row]) + Float8::load(&stiffness_[5][row]);
    for (int e = 0; e < 6; ++e) stiffness[e].store(&stiffness_[e][row]);
    return largest(where_greater(abs(trace - before), Float8(0.01f) * max(abs(trace), abs(before)), Float8(1))) > 0;
}

RowLanes::Residuals RowLanes::answer()
{
    const Index chunks = rows_ / width, tasks = (chunks + chunks_a_task - 1) / chunks_a_task;
    std::vector<Residuals> partial(static_cast<std::size_t>(tasks));
    parallel_for(
        tasks,
        [&](Index task) {
            for (Index chunk = task * chunks_a_task; chunk < std::min(chunks, (task + 1) * chunks_a_task); ++chunk) {
                const Index row = width * chunk;
                const Residuals some = row < first_ball_ ? answer_contacts(row) : answer_balls(row);
                partial[task].add(some);
            }
        },
        1);
    Residuals all;
    for (const Residuals& p : partial) all.add(p);
    return all;
}

/// force += J^T p for impulses p in world axes.
void RowLanes::gather(const Planes& impulse, LaneVectors& force) const
{
    parallel_for(
        count(touched_),
        [&](Index t) {
            Eigen::Vector3f sum = Eigen::Vector3f::Zero();
            for (Index k = touch_begin_[t]; k < touch_begin_[t + 1]; ++k) {
                const Touch& touch = touches_[k];
                for (int c = 0; c < 3; ++c) sum[c] += touch.weight * impulse[c][touch.row];
            }
            force.put(touched_[t], force.get(touched_[t]) + sum);
        },
        rows_a_task);
    for (Index t = 0; t < count(arm_touched_); ++t) {
        Eigen::Vector3f sum = Eigen::Vector3f::Zero();
        for (Index k = arm_touch_begin_[t]; k < arm_touch_begin_[t + 1]; ++k) {
            const ArmTouch& touch = arm_touches_[k];
            const Eigen::Vector3f p(impulse[0][touch.row], impulse[1][touch.row], impulse[2][touch.row]);
            sum += touch.arm.cross(p);
        }
        force.put(arm_touched_[t], force.get(arm_touched_[t]) + sum);
    }
}

void RowLanes::add_impulses(LaneVectors& force) const
{
    gather(impulse_, force);
}

void RowLanes::add_response(const LaneVectors& d, LaneVectors& out)
{
    for_rows([&](Index row) {
        const Float8x3 r = relative(row, d);
        const auto k = [&](int e) { return Float8::load(&stiffness_[e][row]); };
        set(response_, row,
            {k(0) * r.x + k(1) * r.y + k(2) * r.z, k(1) * r.x + k(3) * r.y + k(4) * r.z,
             k(2) * r.x + k(4) * r.y + k(5) * r.z});
    });
    gather(response_, out);
}

void RowLanes::add_stiffness(LaneBlocks& C) const
{
    parallel_for(
        count(touched_),
        [&](Index t) {
            for (int e = 0; e < 6; ++e) {
                float sum = 0;
                for (Index k = touch_begin_[t]; k < touch_begin_[t + 1]; ++k)
                    if (touches_[k].row < first_ball_) sum += touches_[k].share * stiffness_[e][touches_[k].row];
                C.element(touched_[t], e) += sum;
            }
        },
        rows_a_task);
    for (Index t = 0; t < count(arm_touched_); ++t) {
        Eigen::Matrix3f sum = Eigen::Matrix3f::Zero();
        for (Index k = arm_touch_begin_[t]; k < arm_touch_begin_[t + 1]; ++k) {
            const ArmTouch& touch = arm_touches_[k];
            const auto s = [&](int e) { return stiffness_[e][touch.row]; };
            Eigen::Matrix3f B, arm;
            B << s(0), s(1), s(2), s(1), s(3), s(4), s(2), s(4), s(5);
            arm << 0, -touch.arm[2], touch.arm[1], touch.arm[2], 0, -touch.arm[0], -touch.arm[1], touch.arm[0], 0;
            sum += touch.share * arm * B * arm.transpose();
        }
        const float six[6] = {sum(0, 0), sum(0, 1), sum(0, 2), sum(1, 1), sum(1, 2), sum(2, 2)};
        for (int e = 0; e < 6; ++e) C.element(arm_touched_[t], e) += six[e];
    }
}

std::vector<Multigrid::Coupling> RowLanes::couplings() const
{
    std::vector<Multigrid::Coupling> couplings;
    for (Index row = first_ball_; row < first_ball_ + balls_; ++row) {
        Multigrid::Coupling k;
        for (int e = 0; e < 6; ++e) k.K[e] = stiffness_[e][row];
        if (!(k.K[0] + k.K[3] + k.K[5] > 0)) continue;
        const Index place = width * entry_begin_[row / width] + row % width;
        k.a = entry_lane_[place];
        k.b = entry_lane_[place + width];
        couplings.push_back(k);
    }
    return couplings;
}

std::array<double, 2> RowLanes::slope(float alpha) const
{
    const Float8 a = alpha;
    const auto contact = [&](Index row, double& slope, double& curvature) {
        const Float8x3 ju = axis(ju_, row), u = axis(u_, row) + a * ju, rho = axis(rho_, row);
        Float8x3 y = axis(l_, row) - Float8x3{rho.x * u.x, rho.y * u.y, rho.z * u.z};
        const Float8 bound = Float8::load(&bound_[row]);
        const Tangents t = answer_tangents(cone_, bound, y.y, y.z, rho.y, rho.z);
        y = {max(Float8(0), y.x), t.y1, t.y2};
        slope -= dot(y, ju).sum();
        curvature += (where_greater(y.x, Float8(0), rho.x) * ju.x * ju.x + t.k11 * ju.y * ju.y +
                      (t.k12 + t.k12) * ju.y * ju.z + t.k22 * ju.z * ju.z)
                         .sum();
    };
    const auto ball = [&](Index row, double& slope, double& curvature) {
        const Float8x3 js = axis(ju_, row), s = axis(u_, row) + a * js;
        const Float8 rho = Float8::load(&rho_[0][row]), radius = Float8::load(&radius_[row]);
        const Float8x3 z = s - (Float8(1) / max(rho, Float8(1e-30f))) * axis(l_, row);
        const Float8 length = max(sqrt(dot(z, z)), Float8(1e-30f)), along = dot(z, js) / length;
        slope += where_greater(length, radius, rho * (length - radius) * along).sum();
        const Float8 across = max(Float8(0), dot(js, js) - along * along);
        curvature +=
            where_greater(length, radius, rho * (along * along + (Float8(1) - radius / length) * across)).sum();
    };
    const Index chunks = rows_ / width, tasks = (chunks + chunks_a_task - 1) / chunks_a_task;
    std::vector<std::array<double, 2>> partial(static_cast<std::size_t>(tasks), {0, 0});
    parallel_for(
        tasks,
        [&](Index task) {
            auto& [slope, curvature] = partial[task];
            for (Index chunk = task * chunks_a_task; chunk < std::min(chunks, (task + 1) * chunks_a_task); ++chunk)
                if (width * chunk < first_ball_)
                    contact(width * chunk, slope, curvature);
                else
                    ball(width * chunk, slope, curvature);
        },
        1);
    std::array<double, 2> sum = {0, 0};
    for (const auto& p : partial) sum[0] += p[0], sum[1] += p[1];
    return sum;
}

void RowLanes::update_multipliers()
{
    for (int c = 0; c < 3; ++c) l_[c] = y_[c];
    if (!least_rho_.empty()) follow_load(slowest_change, fastest_change);
}

Real RowLanes::load() const
{
    Real sum = 0;
    Index carrying = 0;
    for (Index row = 0; row < contacts_; ++row) {
        if (!(l_[0][row] > 0) || !(rho_[0][row] > 0) || !(room_[row] > 0)) continue;
        sum += Real(l_[0][row]) / (Real(rho_[0][row]) * room_[row]);
        ++carrying;
    }
    return carrying > 0 ? sum / carrying : 0;
}

void RowLanes::go_by_load()
{
    least_rho_ = rho_[0];
    follow_load(1, most_by_load);
}

void RowLanes::follow_load(float least, float most)
{
    for (Index row = 0; row < rows_; ++row) {
        if (!(room_[row] > 0)) continue;
        const bool ball = row >= first_ball_;
        const float load = ball ? std::hypot(l_[0][row], l_[1][row], l_[2][row]) : l_[0][row];
        const float by_load = load / ((ball ? ball_give : give) * room_[row]);
        const float target = std::clamp(by_load, least_rho_[row], most_by_load * least_rho_[row]);
        rho_[0][row] = std::clamp(target, least * rho_[0][row], most * rho_[0][row]);
    }
}

void RowLanes::stiffen(float factor)
{
    for (Plane& plane : rho_)
        for (float& rho : plane) rho *= factor;
    for (float& rho : least_rho_) rho *= factor;
}

void RowLanes::stiffen_slow(float least_velocity)
{
    constexpr float fallen = 0.5f, factor = 2, most = 256;
    if (slow_u_[0].empty())
        for (int c = 0; c < 3; ++c) {
            slow_u_[c].assign(u_[c].size(), 0);
            slow_rate_[c].assign(u_[c].size(), 1);
        }
    for (int c = 0; c < 3; ++c)
        for (Index row = 0; row < contacts_; ++row) {
            const bool pushes = c == 0 ? y_[0][row] > 0 : std::abs(y_[c][row]) < bound_[row]; // sliding is no error
            const float u = pushes ? u_[c][row] : 0, before = slow_u_[c][row];
            slow_u_[c][row] = u;
            if (std::abs(u) <= least_velocity || u * before <= 0 || std::abs(u) <= fallen * std::abs(before)) continue;
            if (slow_rate_[c][row] >= most) continue;
            slow_rate_[c][row] *= factor;
            rho_[c][row] *= factor;
            if (c == 0 && !least_rho_.empty()) least_rho_[row] *= factor;
        }
}

void RowLanes::read(std::span<const Index> rows, Multipliers& lambda, std::span<LengthBall> balls) const
{
    for (Index at = 0; at < contacts_; ++at)
        lambda[rows[at]] = project_to_cone(Vec3(y_[0][at], y_[1][at], y_[2][at]), friction_[at], cone_);
    for (Index k = 0; k < balls_; ++k)
        balls[k].impulse = Vec3(y_[0][first_ball_ + k], y_[1][first_ball_ + k], y_[2][first_ball_ + k]);
}

} // namespace pliant
