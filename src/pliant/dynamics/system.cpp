#include "pliant/dynamics/system.hpp"

#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {

LinearSystem::LinearSystem(const Model& model)
{
    const Index n = model.block_count();
    std::vector<std::array<Index, 2>> pairs;
    for (const Body& body : model.bodies) {
        const Index o = body.first_block;
        if (body.kind == BodyKind::cloth) {
            for (const Spring& s : model.cloths[body.model].springs) pairs.push_back({o + s.a, o + s.b});
        } else if (body.kind == BodyKind::solid) {
            for (const SolidElement& e : model.solids[body.model].elements)
                for (int i = 0; i < 4; ++i)
                    for (int j = i + 1; j < 4; ++j) pairs.push_back({o + e.nodes[i], o + e.nodes[j]});
        }
    }
    A_ = BlockMatrix(make_pattern(n, std::move(pairs)));
    const BlockPattern& pattern = A_.pattern();

    // Incidence lists, counted first. A block belongs to one body, so both kinds share incident_begin_.
    std::vector<Index> fill(static_cast<std::size_t>(n) + 1, 0);
    for (const Body& body : model.bodies) {
        const Index o = body.first_block;
        if (body.kind == BodyKind::cloth)
            for (const Spring& s : model.cloths[body.model].springs) ++fill[o + s.a], ++fill[o + s.b];
        else if (body.kind == BodyKind::solid)
            for (const SolidElement& e : model.solids[body.model].elements)
                for (Index v : e.nodes) ++fill[o + v];
    }
    incident_begin_.assign(static_cast<std::size_t>(n), 0);
    Index springs = 0, corners = 0;
    for (Index i = 0; i < n; ++i) {
        const bool cloth = model.bodies[model.block_body[i]].kind == BodyKind::cloth;
        Index& total = cloth ? springs : corners;
        incident_begin_[i] = total;
        total += fill[i];
        fill[i] = incident_begin_[i];
    }
    spring_ends_.resize(static_cast<std::size_t>(springs));
    corners_.resize(static_cast<std::size_t>(corners));
    mass_.assign(static_cast<std::size_t>(n), 0);
    Index elements = 0;
    for (const Body& body : model.bodies) {
        const Index o = body.first_block;
        if (body.kind == BodyKind::cloth) {
            const Cloth& cloth = model.cloths[body.model];
            std::copy(cloth.mass.begin(), cloth.mass.end(), mass_.begin() + o);
            for (const Spring& s : cloth.springs) {
                const Index a = o + s.a, b = o + s.b;
                spring_ends_[fill[a]++] = {b, pattern.slot(a, b), s.rest_length, s.stiffness};
                spring_ends_[fill[b]++] = {a, pattern.slot(b, a), s.rest_length, s.stiffness};
            }
        } else if (body.kind == BodyKind::solid) {
            const Solid& solid = model.solids[body.model];
            std::copy(solid.mass.begin(), solid.mass.end(), mass_.begin() + o);
            first_element_.push_back(elements);
            for (const SolidElement& e : solid.elements) {
                for (int i = 0; i < 4; ++i) {
                    ElementCorner corner{elements, i, {}};
                    for (int j = 0; j < 4; ++j) corner.slot[j] = pattern.slot(o + e.nodes[i], o + e.nodes[j]);
                    corners_[fill[o + e.nodes[i]]++] = corner;
                }
                ++elements;
            }
        } else if (body.kind == BodyKind::rigid) {
            mass_[o] = model.rigids[body.model].mass;
        }
    }
    elements_.resize(static_cast<std::size_t>(elements));
    fill.pop_back();
    incident_end_ = std::move(fill);
    for (const Body& body : model.bodies)
        has_pins_.push_back(std::any_of(model.pins.begin(), model.pins.end(), [&](const Pin& p) {
            return p.block >= body.first_block && p.block < body.first_block + body.block_count;
        }));
    // A pinned body has no rigid motion, a cloth is too soft to move as one.
    std::vector<CoarseSpace::Part> parts;
    Vec3s rest(static_cast<std::size_t>(n), Vec3::Zero());
    for (std::size_t i = 0; i < model.bodies.size(); ++i) {
        const Body& body = model.bodies[i];
        if (body.kind != BodyKind::solid || has_pins_[i]) continue;
        parts.push_back({body.first_block, body.block_count});
        const Solid& solid = model.solids[body.model];
        std::copy(solid.rest.begin(), solid.rest.end(), rest.begin() + body.first_block);
    }
    coarse_ = CoarseSpace(A_.pattern(), std::move(parts), rest);
    b_.resize(static_cast<std::size_t>(n));
    force_.resize(static_cast<std::size_t>(n));
    prescribed_.assign(static_cast<std::size_t>(n), Vec3::Zero());
}

void LinearSystem::rotate_elements(const Model& model, const State& state)
{
    for (const Body& body : model.bodies) {
        if (body.kind != BodyKind::solid) continue;
        const Solid& solid = model.solids[body.model];
        const Vec3* x = state.position.data() + body.first_block;
        ElementState* out = elements_.data() + first_element_[body.model];
        parallel_for(count(solid.elements), [&](Index i) {
            const SolidElement& e = solid.elements[i];
            const Mat3 F = deformation_gradient(e, {x[e.nodes[0]], x[e.nodes[1]], x[e.nodes[2]], x[e.nodes[3]]});
            const Mat3 R = element_rotation(F), VP = e.volume * element_stress(solid, F, R);
            for (int k = 0; k < 4; ++k) {
                out[i].gradient[k] = R * e.gradient[k];
                out[i].force[k] = -(VP * e.gradient[k]);
            }
        });
    }
}

void LinearSystem::assemble_cloth_row(Index row, const Body& body, const Model& model, const State& state, Real dt)
{
    const ClothMaterial& material = model.cloths[body.model].material;
    const Real scale = dt * dt + dt * material.damping;
    const Real mass = mass_[row];
    const Vec3 x = state.position[row];
    Vec3 f = mass * model.gravity;
    Mat3 diagonal = (1 + dt * material.drag) * mass * Mat3::Identity();
    for (Index k = incident_begin_[row]; k < incident_end_[row]; ++k) {
        const SpringEnd& s = spring_ends_[k];
        const Vec3 d = state.position[s.other] - x;
        const Real length_sq = d.squaredNorm(), length = std::sqrt(length_sq);
        Mat3 K;
        if (length > 0) {
            // k [n n^T + max(0, 1 - L/l) (I - n n^T)], see spring_stiffness()
            const Real ratio = 1 - s.rest_length / length, transverse = std::max(0.0, ratio);
            f += (s.stiffness * ratio) * d;
            const Real a = scale * s.stiffness * (1 - transverse) / length_sq, c = scale * s.stiffness * transverse;
            K = (a * d) * d.transpose();
            K.diagonal().array() += c;
        } else {
            K = scale * s.stiffness * Mat3::Identity();
        }
        A_.block(s.slot) = -K;
        diagonal += K;
    }
    A_.block(A_.pattern().diagonal[row]) = diagonal;
    force_[row] = f;
    b_[row] = dt * f + mass * state.velocity[row];
}

void LinearSystem::assemble_solid_row(Index row, const Body& body, const Model& model, const State& state, Real dt)
{
    const Solid& solid = model.solids[body.model];
    const Real scale = dt * dt + dt * solid.material.damping;
    const Real mass = mass_[row];
    Vec3 f = mass * model.gravity;
    const BlockPattern& pattern = A_.pattern();
    for (Index s = pattern.row_begin[row]; s < pattern.row_begin[row + 1]; ++s) A_.block(s).setZero();
    for (Index k = incident_begin_[row]; k < incident_end_[row]; ++k) {
        const ElementCorner& c = corners_[k];
        const ElementState& e = elements_[c.element];
        f += e.force[c.corner];
        const Real volume = scale * solid.elements[c.element - first_element_[body.model]].volume;
        const Vec3& gi = e.gradient[c.corner];
        for (int j = 0; j < 4; ++j)
            A_.block(c.slot[j]) += element_stiffness_block(volume, solid.lambda, solid.mu, gi, e.gradient[j]);
    }
    A_.block(pattern.diagonal[row]).diagonal().array() += (1 + dt * solid.material.drag) * mass;
    force_[row] = f;
    b_[row] = dt * f + mass * state.velocity[row];
}

void LinearSystem::assemble_rigid(const Body& body, const Model& model, const State& state, Real dt)
{
    const Rigid& rigid = model.rigids[body.model];
    const Index linear = body.first_block, angular = linear + 1;
    A_.block(A_.pattern().diagonal[linear]) = rigid.mass * Mat3::Identity();
    force_[linear] = rigid.mass * model.gravity;
    b_[linear] = dt * force_[linear] + rigid.mass * state.velocity[linear];
    const Mat3 inertia = world_inertia(rigid, state.orientation[body.model]);
    A_.block(A_.pattern().diagonal[angular]) = inertia;
    force_[angular].setZero();
    b_[angular] = inertia * free_rotation(rigid, state.orientation[body.model], state.velocity[angular], dt);
}

void LinearSystem::eliminate_prescribed(Index row, const Model& model)
{
    const BlockPattern& pattern = A_.pattern();
    if (model.is_prescribed(row)) {
        for (Index s = pattern.row_begin[row]; s < pattern.row_begin[row + 1]; ++s) A_.block(s).setZero();
        // A unit of mass keeps the row's weight in residual norms comparable with its neighbours'.
        A_.block(pattern.diagonal[row]) = mass_[row] * Mat3::Identity();
        b_[row] = mass_[row] * prescribed_[row];
        return;
    }
    for (Index s = pattern.row_begin[row]; s < pattern.row_begin[row + 1]; ++s) {
        const Index col = pattern.column[s];
        if (!model.is_prescribed(col)) continue;
        b_[row] -= A_.block(s) * prescribed_[col];
        A_.block(s).setZero();
    }
}

void LinearSystem::assemble(const Model& model, const State& state, Real dt)
{
    rotate_elements(model, state);
    prescribed_velocities(model, state, dt, prescribed_);
    for (const Body& body : model.bodies) {
        const bool pinned = has_pins_[static_cast<std::size_t>(&body - model.bodies.data())];
        if (body.kind == BodyKind::rigid) {
            assemble_rigid(body, model, state, dt);
        } else if (body.kind == BodyKind::cloth || body.kind == BodyKind::solid) {
            parallel_for(
                body.block_count,
                [&](Index i) {
                    const Index row = body.first_block + i;
                    if (body.kind == BodyKind::cloth)
                        assemble_cloth_row(row, body, model, state, dt);
                    else
                        assemble_solid_row(row, body, model, state, dt);
                    if (pinned) eliminate_prescribed(row, model);
                },
                128);
        }
    }
    invert_diagonal(A_, diagonal_inverse_);
    for (const Pin& pin : model.pins) diagonal_inverse_[pin.block].setZero();
    coarse_.update(A_);
    momentum_scale_ = std::sqrt(parallel_sum(A_.rows(), 0.0, [&](Index i) {
        const Vec3 p = dt * mass_[i] * model.gravity, mv = mass_[i] * state.velocity[i];
        return p.dot(diagonal_inverse_[i] * p) + mv.dot(diagonal_inverse_[i] * mv);
    }));
}

void extrapolate(const Vec3s& velocity, const Vec3s& change, Real dt, Real change_dt, Vec3s& v)
{
    v = velocity;
    if (change_dt > 0) parallel_for(count(v), [&](Index i) { v[i] += dt / change_dt * change[i]; });
}

CgResult LinearSystem::solve(Real tolerance, Vec3s& v) const
{
    const BlockPattern& pattern = A_.pattern();
    const auto set_single_blocks = [&] {
        parallel_for(A_.rows(), [&](Index i) {
            if (pattern.row_begin[i + 1] == pattern.row_begin[i] + 1) v[i] = diagonal_inverse_[i] * b_[i];
            if (diagonal_inverse_[i].isZero(0)) v[i] = prescribed_[i];
        });
    };
    set_single_blocks();
    CgOptions options;
    options.tolerance = tolerance;
    options.coarse = &coarse_;
    const Real b_norm =
        std::sqrt(parallel_sum(A_.rows(), 0.0, [&](Index i) { return b_[i].dot(diagonal_inverse_[i] * b_[i]); }));
    options.scale = std::max(momentum_scale_, b_norm);
    const CgResult result = conjugate_gradients(A_, diagonal_inverse_, b_, v, options);
    set_single_blocks(); // the iteration moves them by rounding errors
    return result;
}

void prescribed_velocities(const Model& model, const State& state, Real dt, Vec3s& v)
{
    for (const Pin& pin : model.pins)
        v[pin.block] = (pin_position(model, pin, state.time + dt) - state.position[pin.block]) / dt;
}

void move_configuration(const Model& model, const State& start, const Vec3s& v, Real dt, State& end)
{
    end.time = start.time + dt;
    end.position.resize(start.position.size());
    end.orientation = start.orientation;
    parallel_for(count(start.position), [&](Index i) { end.position[i] = start.position[i] + dt * v[i]; });
    for (const Body& body : model.bodies) {
        if (body.kind != BodyKind::rigid) continue;
        end.position[body.first_block + 1].setZero();
        end.orientation[body.model] = rotate_by(start.orientation[body.model], v[body.first_block + 1], dt);
    }
    for (const Pin& pin : model.pins) end.position[pin.block] = pin_position(model, pin, end.time);
}

void advance(const Model& model, State& state, const Vec3s& v, Real dt)
{
    State end;
    move_configuration(model, state, v, dt, end);
    for (const Body& body : model.bodies) {
        if (body.kind != BodyKind::rigid) continue;
        // A (w - w_free) is the angular impulse of the step; it adds to the momentum, which then fixes the velocity.
        const Rigid& rigid = model.rigids[body.model];
        const Index angular = body.first_block + 1;
        const Quat& q0 = state.orientation[body.model];
        const Mat3 inertia = world_inertia(rigid, q0);
        const Vec3 free = free_rotation(rigid, q0, state.velocity[angular], dt);
        const Vec3 momentum = inertia * (state.velocity[angular] + v[angular] - free);
        const Quat& q1 = end.orientation[body.model];
        state.velocity[angular] = q1 * (rigid.inertia_inv * (q1.conjugate() * momentum));
        state.velocity[body.first_block] = v[body.first_block];
    }
    parallel_for(count(v), [&](Index i) {
        if (model.bodies[model.block_body[i]].kind != BodyKind::rigid) state.velocity[i] = v[i];
    });
    state.position = std::move(end.position);
    state.orientation = std::move(end.orientation);
    state.time = end.time;
}

} // namespace pliant
