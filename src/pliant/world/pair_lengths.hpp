#pragma once
// A length for every pair of bodies.

#include "pliant/core/types.hpp"

#include <algorithm>
#include <vector>

namespace pliant {

/// The smaller of the lengths of the two bodies; a body without one (0) takes the other's. Exceptions are smaller
/// still.
class PairLengths {
public:
    struct Exception {
        Index a, b;  ///< a <= b
        Real length; ///< [m]
    };

    PairLengths() = default;
    PairLengths(std::vector<Real> of_body, std::vector<Exception> sorted_exceptions)
        : of_body_(std::move(of_body)), exceptions_(std::move(sorted_exceptions))
    {
        for (const Real length : of_body_) largest_ = std::max(largest_, length);
    }

    Real between(Index a, Index b) const
    {
        const Real of_a = of_body_[a], of_b = of_body_[b];
        const Real usual = of_a == 0 || of_b == 0 ? std::max(of_a, of_b) : std::min(of_a, of_b);
        return exceptions_.empty() ? usual : std::min(usual, exception(std::min(a, b), std::max(a, b), usual));
    }
    /// Two bodies' shares add up to at least their length.
    Real share(Index body) const { return (of_body_[body] > 0 ? of_body_[body] : largest_) / 2; }

private:
    Real exception(Index a, Index b, Real usual) const
    {
        const auto it = std::lower_bound(exceptions_.begin(), exceptions_.end(), std::array{a, b},
                                         [](const Exception& e, const std::array<Index, 2>& pair) {
                                             return std::array{e.a, e.b} < pair;
                                         });
        return it != exceptions_.end() && it->a == a && it->b == b ? it->length : usual;
    }

    std::vector<Real> of_body_; ///< [m]
    std::vector<Exception> exceptions_;
    Real largest_ = 0;
};

} // namespace pliant
