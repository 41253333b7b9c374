#pragma once
// Small random contact problems: a stiff elastic network against itself, a fixed floor and a few rigid bodies.

#include "pliant/contact/problem.hpp"
#include "pliant/core/random.hpp"
#include "pliant/linalg/graph.hpp"
#include "pliant/linalg/solve.hpp"

namespace pliant {

struct RandomProblem {
    BlockMatrix A;
    std::vector<Mat3> diagonal_inverse;
    Vec3s free_velocity;
    ContactProblem problem;
    ContactParts parts;

    ContactSystem system() const { return {A, diagonal_inverse, free_velocity, problem, 0.01, parts}; }
    /// The parts of the rows that are there; velocity errors are compared with 1 m/s.
    void find_parts()
    {
        parts = contact_parts(problem, connected_parts(A.pattern()), free_velocity, 1);
        for (Real& scale : parts.velocity_scale) scale = 1;
    }
};

inline RandomProblem make_random_problem(std::uint64_t seed, Index nodes, Index contacts, Real stiffness, Real friction)
{
    Random random(seed);
    RandomProblem p;
    std::vector<std::array<Index, 2>> pairs;
    for (Index i = 0; i + 1 < nodes; ++i) pairs.push_back({i, i + 1});
    for (Index i = 0; i + 2 < nodes; ++i)
        if (random.uniform() < 0.7) pairs.push_back({i, i + 2 + random.below(nodes - i - 2)});
    // Two rigid bodies (linear and angular block each) come last.
    const Index rigid = 2, n = nodes + 2 * rigid;
    p.A = BlockMatrix(make_pattern(n, pairs));
    for (Index i = 0; i < n; ++i) p.A.block(p.A.pattern().diagonal[i]) += random.uniform(0.5, 2) * Mat3::Identity();
    for (const auto& [i, j] : pairs) {
        const Vec3 d = random.on_sphere();
        const Mat3 K = stiffness * (d * d.transpose() + 0.1 * Mat3::Identity());
        p.A.block(p.A.pattern().diagonal[i]) += K;
        p.A.block(p.A.pattern().diagonal[j]) += K;
        p.A.block(p.A.pattern().slot(i, j)) -= K;
        p.A.block(p.A.pattern().slot(j, i)) -= K;
    }
    invert_diagonal(p.A, p.diagonal_inverse);
    for (Index i = 0; i < n; ++i) p.free_velocity.push_back(random.in_box(Vec3::Constant(-1), Vec3::Constant(1)));
    for (Index c = 0; c < contacts; ++c) {
        Row row;
        row.normal = random.on_sphere();
        row.tangent1 = row.normal.cross(random.on_sphere()).normalized();
        row.tangent2 = row.normal.cross(row.tangent1);
        row.friction = friction;
        row.rhs = -random.uniform(0, 0.2);
        row.room = 0.01;
        row.entry_begin = count(p.problem.entries);
        row.arm_begin = count(p.problem.arms);
        const Index vertex = random.below(nodes);
        p.problem.entries.push_back({vertex, 1});
        if (c % 3 == 0) { // a face of three other nodes
            const Real a = random.uniform(), b = random.uniform(0, 1 - a);
            const Real w[3] = {a, b, 1 - a - b};
            Index face = vertex;
            for (Real weight : w) {
                face = (face + 1 + random.below(3)) % nodes;
                if (face == vertex) face = (face + 1) % nodes;
                bool known = false;
                for (Index k = row.entry_begin; k < count(p.problem.entries); ++k)
                    if (p.problem.entries[k].block == face) p.problem.entries[k].weight -= weight, known = true;
                if (!known) p.problem.entries.push_back({face, -weight});
            }
        } else if (c % 3 == 1) { // a rigid body
            const Index body = nodes + 2 * random.below(rigid);
            p.problem.entries.push_back({body, -1});
            p.problem.arms.push_back({body + 1, random.in_box(Vec3::Constant(-1), Vec3::Constant(1))});
        } // else: something fixed
        row.entry_end = count(p.problem.entries);
        row.arm_end = count(p.problem.arms);
        p.problem.rows.push_back(row);
    }
    p.find_parts();
    return p;
}

} // namespace pliant
