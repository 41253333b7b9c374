#include "pliant/methods/report.hpp"

#include <algorithm>
#include <tuple>

namespace pliant {

const char* to_string(Rung rung)
{
    switch (rung) {
    case Rung::free:
        return "free";
    case Rung::refinement:
        return "refinement";
    case Rung::halved:
        return "halved";
    case Rung::zones:
        return "zones";
    case Rung::truncation:
        return "truncation";
    }
    return "?";
}

void add_impulse(std::vector<PairForce>& pairs, const Vec3& normal, const Vec3& impulse, Index body_a, Index body_b)
{
    const Real sign = body_a == body_b ? 0 : body_a < body_b ? 1 : -1;
    const auto key = std::minmax(body_a, body_b);
    auto it = std::lower_bound(pairs.begin(), pairs.end(), key, [](const PairForce& p, const auto& k) {
        return std::tie(p.body_a, p.body_b) < std::tie(k.first, k.second);
    });
    if (it == pairs.end() || it->body_a != key.first || it->body_b != key.second)
        it = pairs.insert(it, PairForce{key.first, key.second, 0, Vec3::Zero(), Vec3::Zero()});
    const Vec3 along = normal * normal.dot(impulse);
    ++it->contacts;
    it->normal += sign * along;
    it->friction += sign * (impulse - along);
}

void make_means(std::vector<PairForce>& pairs, Real dt)
{
    for (PairForce& p : pairs) {
        p.normal /= dt;
        p.friction /= dt;
    }
}

} // namespace pliant
