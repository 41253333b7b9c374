#include "pliant/show/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// With the prefix that leaves one to three digits before the point.
std::string quantity(Real value, const char* unit)
{
    constexpr const char* prefixes[] = {"u", "m", "", "k", "M", "G"};
    const int power = value > 0 ? std::clamp(static_cast<int>(std::floor(std::log10(value) / 3 + 1e-12)), -2, 3) : 0;
    return fmt::format("{:.3g} {}{}", value / std::pow(1000.0, power), prefixes[power + 2], unit);
}

} // namespace

std::vector<Real> vertex_elongation(const RunMesh& mesh, const Vec3s& x)
{
    std::vector<Real> out(x.size(), -1);
    for (const Triangle& t : mesh.triangles) {
        // The squared stretches are the eigenvalues of inv(R) D, with R and D the edges' dot products before and after.
        const auto products = [&](const Vec3s& p) {
            const Vec3 u = p[t[1]] - p[t[0]], v = p[t[2]] - p[t[0]];
            return Vec3(u.dot(u), u.dot(v), v.dot(v));
        };
        const Vec3 r = products(mesh.rest), d = products(x);
        const Real area = r[0] * r[2] - r[1] * r[1];
        if (!(area > 0)) continue;
        const Real half = (r[2] * d[0] - 2 * r[1] * d[1] + r[0] * d[2]) / (2 * area);
        const Real product = (d[0] * d[2] - d[1] * d[1]) / area;
        const Real stretch = std::sqrt(half + std::sqrt(std::max(0.0, half * half - product))) - 1;
        for (const Index v : t) out[v] = std::max(out[v], stretch);
    }
    return out;
}

void StressScale::add(const RunMesh& mesh, const Frame& frame)
{
    for (const bool tension : {false, true}) {
        std::vector<Real> values;
        for (const RunBody& body : mesh.bodies)
            if (is_deformable(body.kind) && has_tension(body.kind) == tension)
                values.insert(values.end(), frame.stress.begin() + body.first_vertex,
                              frame.stress.begin() + body.first_vertex + body.vertex_count);
        if (values.empty()) continue;
        const auto at = values.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<Real>(values.size() - 1));
        std::nth_element(values.begin(), at, values.end());
        Real& end_of_kind = tension ? cloth : solid;
        end_of_kind = std::max(end_of_kind, *at);
    }
}

std::string StressScale::words() const
{
    std::string out;
    if (solid > 0) out += "stress " + quantity(solid, "Pa");
    if (cloth > 0) out += (out.empty() ? "" : ", ") + std::string("tension ") + quantity(cloth, "N");
    return out.empty() ? "no stress" : out;
}

Vec3 scale_colour(Real t)
{
    const Vec3 cold(0.044, 0.105, 0.708), middle(0.694, 0.694, 0.694), hot(0.672, 0.033, 0.150);
    const Real s = 2 * std::clamp(t, 0.0, 1.0);
    return s < 1 ? Vec3((1 - s) * cold + s * middle) : Vec3((2 - s) * middle + (s - 1) * hot);
}

} // namespace pliant
