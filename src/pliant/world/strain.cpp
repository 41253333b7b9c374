#include "pliant/world/strain.hpp"

#include "pliant/core/parallel.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {
namespace {

Mat3 gradient_of(const SolidElement& e, const Vec3* x)
{
    return deformation_gradient(e, {x[e.nodes[0]], x[e.nodes[1]], x[e.nodes[2]], x[e.nodes[3]]});
}

Real largest_stretch(const Mat3& F)
{
    Eigen::SelfAdjointEigenSolver<Mat3> solver;
    solver.computeDirect(Mat3(F.transpose() * F), Eigen::EigenvaluesOnly);
    return std::sqrt(std::max(0.0, solver.eigenvalues()[2]));
}

/// Volume-weighted mean of the elements' von Mises stress at each node [Pa]. The elements are computed in parallel and
/// summed in their order, so that the sums do not depend on the number of threads.
std::vector<Real> node_stress(const Solid& solid, const Vec3* x)
{
    std::vector<Real> element(solid.elements.size());
    parallel_for(count(solid.elements), [&](Index i) {
        const Mat3 F = gradient_of(solid.elements[i], x), R = element_rotation(F);
        element[i] = von_mises_stress(R.transpose() * element_stress(solid, F, R));
    });
    std::vector<Real> sum(solid.mass.size(), 0), volume(solid.mass.size(), 0);
    for (std::size_t i = 0; i < element.size(); ++i)
        for (const Index n : solid.elements[i].nodes) {
            sum[n] += solid.elements[i].volume * element[i];
            volume[n] += solid.elements[i].volume;
        }
    for (std::size_t n = 0; n < sum.size(); ++n)
        if (volume[n] > 0) sum[n] /= volume[n];
    return sum;
}

std::vector<Real> particle_tension(const Cloth& cloth, const Vec3* x)
{
    std::vector<Real> out(cloth.mass.size(), 0);
    for (const Spring& s : cloth.springs) {
        if (s.kind == SpringKind::flexion) continue;
        const Real tension = s.stiffness * ((x[s.b] - x[s.a]).norm() - s.rest_length);
        out[s.a] = std::max(out[s.a], tension);
        out[s.b] = std::max(out[s.b], tension);
    }
    return out;
}

} // namespace

Real max_elongation(const Model& model, const State& state)
{
    assert(fits(model, state));
    Real largest = 0;
    for (const Body& body : model.bodies) {
        const Vec3* x = state.position.data() + body.first_block;
        if (body.kind == BodyKind::cloth) {
            const Cloth& cloth = model.cloths[body.model];
            largest = std::max(largest, parallel_max(count(cloth.springs), 0, [&](Index i) {
                                   const Spring& s = cloth.springs[i];
                                   if (s.kind == SpringKind::flexion || !(s.rest_length > 0)) return Real(0);
                                   return (x[s.b] - x[s.a]).norm() / s.rest_length - 1;
                               }));
        } else if (body.kind == BodyKind::solid) {
            const Solid& solid = model.solids[body.model];
            largest = std::max(largest, parallel_max(count(solid.elements), 0, [&](Index i) {
                                   return largest_stretch(gradient_of(solid.elements[i], x)) - 1;
                               }));
        }
    }
    return largest;
}

void block_stress(const Model& model, const State& state, std::vector<Real>& out)
{
    assert(fits(model, state));
    out.assign(state.position.size(), 0);
    for (const Body& body : model.bodies) {
        if (body.kind != BodyKind::cloth && body.kind != BodyKind::solid) continue;
        const Vec3* x = state.position.data() + body.first_block;
        const std::vector<Real> at = body.kind == BodyKind::cloth ? particle_tension(model.cloths[body.model], x)
                                                                  : node_stress(model.solids[body.model], x);
        std::copy(at.begin(), at.end(), out.begin() + body.first_block);
    }
}

void surface_stress(const Model& model, const State& state, std::vector<Real>& out)
{
    std::vector<Real> at;
    block_stress(model, state, at);
    surface_values(model.surface, at, out);
}

} // namespace pliant
