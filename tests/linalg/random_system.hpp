#pragma once
#include "pliant/core/random.hpp"
#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

/// A chain-like graph with random long-range pairs and random positive semi-definite couplings plus mass.
inline BlockMatrix random_system(Index n, std::uint64_t seed, Real stiffness)
{
    Random random(seed);
    std::vector<std::array<Index, 2>> pairs;
    for (Index i = 0; i + 1 < n; ++i) pairs.push_back({i, i + 1});
    for (Index i = 0; i < n; ++i) {
        const Index j = random.below(n);
        if (j != i) pairs.push_back({std::min(i, j), std::max(i, j)});
    }
    BlockMatrix A(make_pattern(n, pairs));
    for (Index i = 0; i < n; ++i) A.block(A.pattern().diagonal[i]) += random.uniform(0.5, 1.5) * Mat3::Identity();
    for (const auto& [i, j] : pairs) {
        const Vec3 d = random.on_sphere();
        const Mat3 K = stiffness * d * d.transpose();
        A.block(A.pattern().diagonal[i]) += K;
        A.block(A.pattern().diagonal[j]) += K;
        A.block(A.pattern().slot(i, j)) -= K;
        A.block(A.pattern().slot(j, i)) -= K;
    }
    return A;
}

inline Vec3s random_vector(Index n, std::uint64_t seed)
{
    Random random(seed);
    Vec3s x(static_cast<std::size_t>(n));
    for (Vec3& v : x) v = random.in_box(Vec3::Constant(-1), Vec3::Constant(1));
    return x;
}

} // namespace pliant
