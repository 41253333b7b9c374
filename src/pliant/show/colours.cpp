#include "pliant/show/render.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

Real to_linear(Real s)
{
    return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
}

/// Hue in degrees, saturation and value in [0, 1].
Vec3 from_hsv(Real hue, Real saturation, Real value)
{
    Vec3 rgb;
    for (int k = 0; k < 3; ++k) {
        const Real n = std::fmod((k == 0 ? 5 : k == 1 ? 3 : 1) + hue / 60 + 6, 6);
        rgb[k] = value * (1 - saturation * std::clamp(std::min(n, 4 - n), 0.0, 1.0));
    }
    return rgb;
}

} // namespace

Vec3 body_colour(BodyKind kind, Index number)
{
    Real hue = 46, saturation = 0.85, value = 0.97;
    if (kind == BodyKind::solid) hue = 23, saturation = 0.88, value = 0.95;
    if (kind == BodyKind::cloth) hue = 357, saturation = 0.85, value = 0.80;
    if (kind == BodyKind::lattice) hue = 168, saturation = 0.70, value = 0.80;
    if (kind == BodyKind::obstacle) hue = 212, saturation = 0.25, value = 0.66;
    // Golden-ratio steps spread any number of bodies; the first keeps the pure colour.
    const auto spread = [&](Real step) {
        const Real s = std::fmod(number * step, 1.0);
        return number == 0 ? 0 : 2 * s - 1;
    };
    // Lattices come in piles and cloth in layers, and neighbours should differ: cloth from red to violet, away from
    // solids.
    if (kind == BodyKind::cloth)
        hue -= number == 0 ? 0 : 35 * (1 + spread(0.6180339887));
    else
        hue += (kind == BodyKind::lattice ? 180 : 7) * spread(0.6180339887);
    value *= 1 + 0.09 * std::min(0.4, spread(0.7548776662));
    const Vec3 srgb = from_hsv(hue, saturation, std::min(value, 1.0));
    return {to_linear(srgb.x()), to_linear(srgb.y()), to_linear(srgb.z())};
}

} // namespace pliant
