#include "pliant/bodies/spring_solid.hpp"

#include "pliant/bodies/st_venant_kirchhoff.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr std::array<std::array<int, 2>, 6> tet_edges = {{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};

} // namespace

SpringModuli spring_moduli(const Elasticity& elasticity)
{
    const auto [lambda, mu] = elasticity;
    const Real young = mu * (3 * lambda + 2 * mu) / (lambda + mu), poisson = lambda / (2 * (lambda + mu));
    const Real nu = std::max(poisson, 0.3);
    const Real shear = young / (2 * (1 + nu));
    return {shear, young * nu / ((1 + nu) * (1 - 2 * nu)) - shear};
}

std::vector<Spring> edge_springs(const Solid& solid, Index first_block)
{
    const Real mu = spring_moduli(solid.elasticity).mu;
    std::vector<Spring> springs;
    springs.reserve(6 * solid.elements.size());
    for (const SolidElement& e : solid.elements)
        for (const auto& [i, j] : tet_edges) {
            const auto [a, b] = std::minmax(e.nodes[i], e.nodes[j]);
            const Real length = (solid.rest[b] - solid.rest[a]).norm();
            springs.push_back({a, b, length, 2.5 * mu * e.volume / (length * length), SpringKind::edge});
        }
    std::stable_sort(springs.begin(), springs.end(),
                     [](const Spring& s, const Spring& t) { return s.a != t.a ? s.a < t.a : s.b < t.b; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < springs.size(); ++i) {
        if (kept > 0 && springs[kept - 1].a == springs[i].a && springs[kept - 1].b == springs[i].b)
            springs[kept - 1].stiffness += springs[i].stiffness;
        else
            springs[kept++] = springs[i];
    }
    springs.resize(kept);
    for (Spring& s : springs) {
        s.a += first_block;
        s.b += first_block;
    }
    return springs;
}

Real VolumeForce::energy(const Elasticity& m, const SolidElement& e, const Corners& x)
{
    const Mat3 F = deformation_gradient(e, x);
    const Real growth = F.col(0).dot(F.col(1).cross(F.col(2))) - 1;
    return e.volume * spring_moduli(m).volume / 2 * growth * growth;
}

Corners VolumeForce::forces(const Elasticity& m, const SolidElement& e, const Corners& x)
{
    const Mat3 F = deformation_gradient(e, x), C = cofactor(F);
    const Real pressure = e.volume * spring_moduli(m).volume * (F.col(0).dot(C.col(0)) - 1);
    Corners f;
    for (int k = 0; k < 4; ++k) f[k] = -pressure * (C * e.gradient[k]);
    return f;
}

// dJ/dx_i = C b_i, and d(C b_i)/dx_j = [F (b_i x b_j)]x: cof(F)(a x b) is Fa x Fb.
Mat12 VolumeForce::stiffness_exact(const Elasticity& m, const SolidElement& e, const Corners& x)
{
    const Mat3 F = deformation_gradient(e, x), C = cofactor(F);
    const Real modulus = e.volume * spring_moduli(m).volume, growth = F.col(0).dot(C.col(0)) - 1;
    Mat12 K;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            const Vec3 gi = C * e.gradient[i], gj = C * e.gradient[j];
            const Mat3 second = -skew(F * e.gradient[i].cross(e.gradient[j]));
            K.block<3, 3>(3 * i, 3 * j) = modulus * (gi * gj.transpose() + growth * second);
        }
    return K;
}

void VolumeForce::add_stiffness(const Elasticity& m, const SolidElement& e, const Corners& x, Real elastic,
                                Real damping, ElementBlocks& K)
{
    const Mat3 C = cofactor(deformation_gradient(e, x));
    const Real scale = (elastic + damping) * e.volume * spring_moduli(m).volume;
    Corners g;
    for (int k = 0; k < 4; ++k) g[k] = C * e.gradient[k];
    for (int i = 0; i < 4; ++i)
        for (int j = i; j < 4; ++j) K.upper(i, j) += scale * g[i] * g[j].transpose();
}

void VolumeForce::four_forces(const Elasticity& m, const FourElements& e, const std::array<FourVec, 4>& x,
                              const std::array<FourVec, 4>& v, Real beta, std::array<FourVec, 3>& f)
{
    // V0 C b_k is a third of the area vector of the face opposite to corner k: J and its gradient need no rest shape
    // but the volume.
    const FourVec d1 = x[1] - x[0], d2 = x[2] - x[0], d3 = x[3] - x[0];
    f = {cross(d2, d3), cross(d3, d1), cross(d1, d2)};
    const Four scale = 1 / (6 * e.volume);
    Four growth = scale * dot(d1, f[0]) - 1;
    if (beta > 0) growth += beta * scale * (dot(f[0], v[1] - v[0]) + dot(f[1], v[2] - v[0]) + dot(f[2], v[3] - v[0]));
    const Four pressure = -spring_moduli(m).volume / 6 * growth;
    for (FourVec& force : f) force = pressure * force;
}

Real VolumeForce::stiffness_bound(const Elasticity& m, const Mat3& F)
{
    const Mat3 C = cofactor(F);
    const Real growth = F.col(0).dot(C.col(0)) - 1;
    return spring_moduli(m).volume * (C.squaredNorm() + std::abs(growth) * F.norm());
}

Real VolumeForce::stress(const Elasticity& m, const Mat3& F)
{
    return StVenantKirchhoff::stress(m, F);
}

} // namespace pliant
