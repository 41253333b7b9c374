#include "pliant/contact/box_response.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/parallel.hpp"

namespace pliant {
namespace {

/// Sum over the corners of what a contact does to them: of their velocities, with the inverse masses behind.
Real4 relative_velocity(const BoxContact& contact, const BlockVelocities& velocity)
{
    std::array<Real4, 4> sum;
    for (Index k = 0; k < contact.corners; k += 4)
        for (int j = 0; j < 4; ++j) sum[j] += Real4(contact.weight[k + j]) * velocity[contact.block[k + j]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

Real4 padded(const Vec3& a)
{
    return {a.x(), a.y(), a.z(), 0};
}

Vec3 unpadded(Real4 a)
{
    alignas(32) Real numbers[4];
    a.store(numbers);
    return {numbers[0], numbers[1], numbers[2]};
}

/// Parts of the nodes of a box become parts of its cell's corners, by the trilinear weights of the nodes.
void give_to_corners(const Eigen::Array<Real, 8, 1>& part, const BoxCell& cell, Real* out)
{
    const Real4 tx(cell.low.x(), cell.high.x(), cell.low.x(), cell.high.x());
    const Real4 ty(cell.low.y(), cell.low.y(), cell.high.y(), cell.high.y());
    const Real4 sx = Real4(1) - tx, sy = Real4(1) - ty;
    const Real4 a = Real4::load(part.data()), b = Real4::load(part.data() + 4);
    for (const bool top : {false, true}) {
        const Real4 p = top ? Real4(cell.low.z()) * a + Real4(cell.high.z()) * b
                            : Real4(1 - cell.low.z()) * a + Real4(1 - cell.high.z()) * b;
        const Real4 y0 = sy * p, y1 = ty * p;
        const Real4 q = with_upper(lower(y0) + upper(y0), lower(y1) + upper(y1));
        const Real4 x0 = sx * q, x1 = tx * q;
        with_odds(evens(x0) + odds(x0), evens(x1) + odds(x1)).store(out + (top ? 4 : 0));
    }
}

} // namespace

BoxResponse::BoxResponse(const LatticeBoxes& boxes, const std::vector<Real>& mass,
                         const std::vector<std::uint8_t>& fixed, const BoxLaw& law)
    : boxes_(boxes), mass_(mass), law_(law)
{
    assert(fixed.size() == mass.size() && std::ranges::all_of(mass, [](Real m) { return m >= 0; }));
    for (std::size_t i = 0; i < mass.size(); ++i) inverse_.push_back(fixed[i] || mass[i] == 0 ? 0 : 1 / mass[i]);
}

void BoxResponse::load(const Vec3s& velocity, BlockVelocities& out) const
{
    out.resize(velocity.size());
    parallel_for(
        count(velocity),
        [&](Index i) {
            out[i] = {velocity[i].x(), velocity[i].y(), velocity[i].z(), inverse_[i]};
        },
        4096);
}

void BoxResponse::store(const BlockVelocities& velocity, Vec3s& out)
{
    parallel_for(
        count(velocity), [&](Index i) { out[i] = unpadded(velocity[i]); }, 4096);
}

Real BoxResponse::attach(BoxContact& contact, Index first, Index cell, const Eigen::Array<Real, 8, 1>& depth) const
{
    const BoxCell& c = boxes_.cell(cell);
    Real* weight = contact.weight.data() + first;
    std::copy(c.block.begin(), c.block.end(), contact.block.begin() + first);
    if (law_.push == BoxPush::cell) {
        Real sum = 0;
        for (const Index b : c.block) sum += mass_[b];
        for (int k = 0; k < 8; ++k) weight[k] = mass_[c.block[k]] / sum;
        return depth.maxCoeff(); // the whole box gets out
    }
    // Nodes of the box that are behind the wall, in proportion to their depth.
    const Eigen::Array<Real, 8, 1> behind = depth.max(0);
    const Eigen::Array<Real, 8, 1> part = behind / behind.sum();
    give_to_corners(part, c, weight);
    return (part * depth).sum();
}

namespace {

/// 1 / sum W^2 / m.
Real mass_of(const BoxContact& contact, const std::vector<Real>& inverse)
{
    Real sum = 0;
    for (Index k = 0; k < contact.corners; ++k)
        sum += contact.weight[k] * contact.weight[k] * inverse[contact.block[k]];
    return sum > 0 ? 1 / sum : 0;
}

} // namespace

BoxContact BoxResponse::contact(const BoxPair& pair, Real friction) const
{
    BoxContact out;
    out.corners = 16;
    out.a = pair.a;
    out.b = pair.b;
    const Vec3& n = out.normal = pair.overlap.normal;
    const Eigen::Array<Real, 8, 1> on_a = along(boxes_.box(pair.a).nodes, n), on_b = along(boxes_.box(pair.b).nodes, n);
    // Between the innermost node of b and the outermost of a is what they share.
    const Real begin = on_b.minCoeff(), end = on_a.maxCoeff(), shared = end - begin;
    const Real depth_b = attach(out, 0, pair.b, begin + std::max(shared, range(pair.b)) - on_b);
    const Real depth_a = attach(out, 8, pair.a, on_a - end + std::max(shared, range(pair.a)));
    for (int k = 8; k < 16; ++k) out.weight[k] = -out.weight[k];
    const Real left = law_.left * std::min(boxes_.cell(pair.a).side, boxes_.cell(pair.b).side);
    out.depth = std::max(0.0, std::min({pair.overlap.depth, depth_a, depth_b}) - left);
    out.gap = std::max(0.0, -pair.overlap.depth);
    out.friction = friction;
    out.mass = mass_of(out, inverse_);
    return out;
}

BoxContact BoxResponse::contact(Index cell, const BoxWall& wall, Real friction) const
{
    BoxContact out;
    out.corners = 8;
    out.b = cell;
    out.normal = wall.normal;
    const Eigen::Array<Real, 8, 1> height = along(boxes_.box(cell).nodes, wall.normal) - wall.offset;
    const Real lowest = height.minCoeff();
    const Real depth = attach(out, 0, cell, std::max(0.0, lowest + range(cell)) - height);
    out.depth = lowest < 0 ? std::max(0.0, std::min(depth, -lowest) - law_.left * boxes_.cell(cell).side) : 0;
    out.gap = std::max(0.0, lowest);
    out.friction = friction;
    out.mass = mass_of(out, inverse_);
    return out;
}

/// [Jung, eq. 8] on the relative velocity; nothing is asked of what parts already. What does not touch yet may come as
/// close as that; if it would come closer, the law holds for what is too fast.
void BoxResponse::set_wanted(BoxContact& contact, const Vec3& wall_velocity, const BlockVelocities& velocity,
                             Real dt) const
{
    const Vec3 u = unpadded(relative_velocity(contact, velocity)) - wall_velocity;
    const Real along = contact.normal.dot(u), most = -contact.gap / dt;
    contact.wanted = wall_velocity + (1 - law_.beta) * (u - along * contact.normal) +
                     (most + (1 - law_.alpha) * std::min(along - most, 0.0)) * contact.normal;
}

namespace {

void push_corners(const BoxContact& contact, Real4 impulse, BlockVelocities& velocity)
{
    for (Index k = 0; k < contact.corners; ++k) {
        Real4& v = velocity[contact.block[k]];
        v += Real4(contact.weight[k]) * last(v) * impulse;
    }
}

/// Gives a contact the impulse next to `wanted` that pushes and obeys Coulomb's law.
void apply(BoxContact& contact, Real4 wanted, BlockVelocities& velocity)
{
    const Real4 n = padded(contact.normal);
    const Real4 along = sum3(n * wanted), push = max(along, 0);
    const Real4 drag = wanted - along * n;
    const Real4 most = Real4(contact.friction) * push, size_sq = sum3(drag * drag);
    const Real4 kept = choose_greater(size_sq, most * most, most / sqrt(size_sq), 1);
    const Real4 total = push * n + kept * drag;
    const Real4 change = without_last(total - padded(contact.impulse));
    contact.impulse = unpadded(total);
    assert(contact.impulse.allFinite());
    push_corners(contact, change, velocity);
}

} // namespace

void BoxResponse::begin(BoxContact& contact, const Vec3& impulse, BlockVelocities& velocity)
{
    if (!impulse.isZero(0)) apply(contact, padded(impulse), velocity);
}

void BoxResponse::relax(BoxContact& contact, BlockVelocities& velocity)
{
    const Real4 lacking = padded(contact.wanted) - relative_velocity(contact, velocity);
    apply(contact, padded(contact.impulse) + Real4(contact.mass) * lacking, velocity);
}

void BoxResponse::shift(const BoxContact& contact, Vec3s& position, std::vector<std::uint8_t>& moved) const
{
    if (contact.mass == 0 || contact.depth == 0) return;
    const Vec3 l = contact.depth * contact.mass * contact.normal;
    for (Index k = 0; k < contact.corners; ++k) {
        const Index block = contact.block[k];
        position[block] += contact.weight[k] * inverse_[block] * l;
        moved[block] = 1;
    }
}

} // namespace pliant
