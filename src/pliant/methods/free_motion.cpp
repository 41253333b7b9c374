#include "pliant/methods/free_motion.hpp"

#include "pliant/dynamics/strain_limit.hpp"

namespace pliant {

FreeMotion::FreeMotion(const World& world, const MethodOptions& options) : options_(options), system_(world.model), explicit_(world.model, options.integrator)
{}

StepReport FreeMotion::step(World& world, Real dt)
{
    StepReport report;
    const Model& model = world.model;
    State& state = world.state;
    if (options_.integrator != Integrator::backward_euler) {
        const ScopedTimer timer(report.profile, "integrate");
        report.substeps = stable_substeps(model, state, dt);
        const Real end = state.time + dt;
        for (int i = 0; i < report.substeps; ++i) explicit_.substep(model, state, dt / report.substeps);
        state.time = end; // the sum of the sub-steps up to rounding
        ++state.step;
        return report;
    }
    {
        const ScopedTimer timer(report.profile, "assemble");
        system_.assemble(model, state, dt);
    }
    Vec3s v;
    {
        const ScopedTimer timer(report.profile, "solve");
        const CgResult cg = system_.solve(state, dt, options_.linear_tolerance_or_default(), v);
        report.linear_iterations = cg.iterations;
        report.linear_residual = cg.residual;
    }
    state.free_change.resize(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) state.free_change[i] = v[i] - state.velocity[i];
    state.last_substep = dt;
    {
        const ScopedTimer timer(report.profile, "strain");
        limit_strain(model, state, dt, v);
    }
    advance(model, state, v, dt);
    ++state.step;
    return report;
}

} // namespace pliant
