#include "pliant/bodies/spring_solid.hpp"

#include "pliant/bodies/st_venant_kirchhoff.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr Real edge_share = 2.5; ///< k L^2 / (mu V), see spring_solid.hpp

// The compiler would rather call these, with all their vectors in memory.
#define PLIANT_INLINE inline __attribute__((always_inline))

template <bool damped>
PLIANT_INLINE void four_volume_forces(Real modulus, const Four& volume, const std::array<FourVec, 4>& x,
                                      const std::array<FourVec, 4>& v, Real beta, std::array<FourVec, 3>& f)
{
    // V0 C b_k is a third of the area vector of the face opposite to corner k: J and its gradient need no rest shape
    // but the volume.
    const FourVec d1 = x[1] - x[0], d2 = x[2] - x[0], d3 = x[3] - x[0];
    f[0] = cross(d2, d3); // one by one: all at once would be copied piece by piece
    f[1] = cross(d3, d1);
    f[2] = cross(d1, d2);
    const Four scale = 1 / (6 * volume);
    Four growth = scale * dot(d1, f[0]) - 1;
    if constexpr (damped)
        growth += beta * scale * (dot(f[0], v[1] - v[0]) + dot(f[1], v[2] - v[0]) + dot(f[2], v[3] - v[0]));
    const Four pressure = -modulus / 6 * growth;
    for (FourVec& force : f) force = pressure * force;
}

constexpr Real least_length_sq = 1e-200; ///< of no length there is no direction: d is 0, and so is the force

/// What a spring along d with the stiffness k = modulus r^2 does to the end where d begins; r = 1 / L, w: velocity of
/// the other end. k (1 - L/l) d, and with damping the stiffness of spring_stiffness() times the velocity.
template <bool damped>
PLIANT_INLINE FourVec spring(const Four& modulus, const Four& r, const FourVec& d, const FourVec& w, Real beta)
{
    const Four inverse = 1 / dot(d, d).max(least_length_sq).sqrt();
    const Four tension = modulus * r * (r - inverse);
    if constexpr (!damped) return tension * d;
    const Four across = tension.max(0), along = dot(d, w) * inverse * inverse;
    return (tension + beta * along * (modulus * r * r - across)) * d + (beta * across) * w;
}

/// Adds the springs of four tetrahedra to the forces on their nodes 1 to 3; modulus: k L^2; v counts with damping only.
template <bool damped>
PLIANT_INLINE void add_springs(const Four& modulus, const std::array<Four, 6>& r, const std::array<FourVec, 4>& x,
                               const std::array<FourVec, 4>& v, Real beta, std::array<FourVec, 3>& f)
{
    const auto pull = [&](int k, int i, int j) __attribute__((always_inline))
    {
        return spring<damped>(modulus, r[k], x[j] - x[i], damped ? v[j] - v[i] : x[i], beta);
    };
    const FourVec p01 = pull(0, 0, 1), p02 = pull(1, 0, 2), p03 = pull(2, 0, 3), p12 = pull(3, 1, 2),
                  p13 = pull(4, 1, 3), p23 = pull(5, 2, 3); // in the order of tet_edges
    f[0] = f[0] - p01 + p12 + p13;
    f[1] = f[1] - p02 - p12 + p23;
    f[2] = f[2] - p03 - p13 - p23;
}

#undef PLIANT_INLINE

/// Both, one after the other, for a matrix.
class BothRows final : public BatchRows {
public:
    BothRows(const SpringBatch& springs, const TetBatch& volumes, const MatrixRows& matrix)
        : springs_(springs.make_rows(&matrix)), volumes_(volumes.make_rows(&matrix))
    {}
    Index first_block() const override { return volumes_->first_block(); }
    Index end_block() const override { return volumes_->end_block(); }
    void evaluate_system(Index begin, Index end, const Vec3s& x, Real dt) override
    {
        volumes_->evaluate_system(begin, end, x, dt); // springs have nothing to do before
    }
    void add_system(Index begin, Index end, const Vec3s& x, Real dt, BlockMatrix& A, Vec3s& force) const override
    {
        springs_->add_system(begin, end, x, dt, A, force);
        volumes_->add_system(begin, end, x, dt, A, force);
    }
    void evaluate_forces(Index, Index, const Vec3s&, const Vec3s&) override {}
    void add_forces(Index, Index, const Vec3s&, const Vec3s&, Vec3s&) const override {}

private:
    std::unique_ptr<BatchRows> springs_, volumes_;
};

/// Forces of both, tetrahedron by tetrahedron.
class SpringSolidForces final : public BatchRows {
public:
    explicit SpringSolidForces(const SpringSolidBatch& batch)
        : batch_(batch), sums_(batch.tetrahedra()), incidence_(incidence_of(batch.tetrahedra())),
          moduli_(spring_moduli(batch.tetrahedra().elasticity()))
    {}
    Index first_block() const override { return incidence_.first_block; }
    Index end_block() const override { return incidence_.end_block(); }
    void evaluate_system(Index, Index, const Vec3s&, Real) override {}
    void add_system(Index, Index, const Vec3s&, Real, BlockMatrix&, Vec3s&) const override {}

    void evaluate_forces(Index begin, Index end, const Vec3s& x, const Vec3s& v) override
    {
        const TetBatch& tets = batch_.tetrahedra();
        const Real beta = tets.damping();
        Index four = begin / 4;
        const auto kernel = [&](auto damped, const FourElements&, const auto& at, const auto& speed, auto& f)
            __attribute__((always_inline))
        {
            const auto& [r, volume] = batch_.rest(four++);
            four_volume_forces<damped.value>(moduli_.volume, volume, at, speed, beta, f);
            add_springs<damped.value>(edge_share * moduli_.mu * volume, r, at, speed, beta, f);
        };
        sums_.evaluate(begin, end, x, v, kernel);
    }
    void add_forces(Index begin, Index end, const Vec3s&, const Vec3s&, Vec3s& force) const override
    {
        sums_.add_rows(begin, end, force);
    }

private:
    const SpringSolidBatch& batch_;
    TetForces sums_;
    Incidence incidence_;
    SpringModuli moduli_;
};

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
            springs.push_back({a, b, length, edge_share * mu * e.volume / (length * length), SpringKind::edge});
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

SpringSolidBatch::SpringSolidBatch(const Solid& solid, Index first_block)
    : springs_(edge_springs(solid, first_block), solid.material.damping), volumes_(solid, first_block)
{
    const Index elements = volumes_.element_count();
    for (Index i = 0; i < elements; i += 4) {
        FourRest& four = rest_.emplace_back();
        for (Index lane = 0; lane < 4; ++lane) {
            const SolidElement& e = solid.elements[std::min(i + lane, elements - 1)];
            four.volume[lane] = e.volume;
            for (std::size_t k = 0; k < tet_edges.size(); ++k) {
                const auto [a, b] = tet_edges[k];
                four.inverse_length[k][lane] = 1 / (solid.rest[e.nodes[b]] - solid.rest[e.nodes[a]]).norm();
            }
        }
    }
}

std::unique_ptr<BatchRows> SpringSolidBatch::make_rows(const MatrixRows* matrix) const
{
    if (matrix) return std::make_unique<BothRows>(springs_, volumes_, *matrix);
    return std::make_unique<SpringSolidForces>(*this);
}

void SpringSolidBatch::add_row_bounds(const Vec3s& x, RowBounds& bounds) const
{
    springs_.add_row_bounds(x, bounds);
    volumes_.add_row_bounds(x, bounds);
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
    if (beta > 0)
        four_volume_forces<true>(spring_moduli(m).volume, e.volume, x, v, beta, f);
    else
        four_volume_forces<false>(spring_moduli(m).volume, e.volume, x, v, beta, f);
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
