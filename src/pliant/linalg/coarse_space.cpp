#include "pliant/linalg/coarse_space.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/parallel.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr Real cell_size = 2;      ///< of the grid, in mean distances between coupled blocks
constexpr Index max_controls = 32; ///< a part: reading the inverse is what a correction costs
constexpr Real independent = 1e-3; ///< smallest over largest eigenvalue of P^T P

/// P of one part: the weights of its blocks one after the other.
struct Interpolation {
    Index controls = 0;
    std::vector<CoarseSpace::Weight> weights;
    std::vector<Index> end; ///< per block: its weights' end
};

Real mean_coupling_length(const BlockPattern& pattern, const CoarseSpace::Part& part, const Vec3s& rest)
{
    Real sum = 0;
    Index couplings = 0;
    for (Index i = part.first; i < part.first + part.size; ++i)
        for (Index s = pattern.row_begin[i]; s < pattern.row_begin[i + 1]; ++s) {
            if (pattern.column[s] == i) continue;
            sum += (rest[pattern.column[s]] - rest[i]).norm();
            ++couplings;
        }
    return couplings > 0 ? sum / couplings : 0;
}

/// Trilinear in a grid over the box of the points; only the grid points that some block follows are kept.
Interpolation interpolate_in_grid(std::span<const Vec3> x, const Eigen::AlignedBox<Real, 3>& box,
                                  const std::array<Index, 3>& cells)
{
    Interpolation P;
    std::vector<Index> number(static_cast<std::size_t>((cells[0] + 1) * (cells[1] + 1) * (cells[2] + 1)), none);
    for (const Vec3& xi : x) {
        std::array<Index, 3> corner;
        std::array<Real, 3> t;
        for (int a = 0; a < 3; ++a) {
            const Real extent = box.sizes()[a], place = extent > 0 ? (xi[a] - box.min()[a]) / extent * cells[a] : 0;
            corner[a] = std::min(Index(place), cells[a] - 1);
            t[a] = place - corner[a];
        }
        for (int k = 0; k < 8; ++k) {
            Real value = 1;
            Index at = 0;
            for (int a = 2; a >= 0; --a) {
                const int side = k >> a & 1;
                value *= side ? t[a] : 1 - t[a];
                at = at * (cells[a] + 1) + corner[a] + side;
            }
            if (value < 1e-9) continue; // a place on the grid, rounded
            if (number[at] == none) number[at] = P.controls++;
            P.weights.push_back({number[at], value});
        }
        P.end.push_back(count(P.weights));
    }
    return P;
}

/// The affine motions as orthonormal modes: for parts of so few or so unlucky points that no grid fits them.
Interpolation affine_modes(std::span<const Vec3> x)
{
    Vec3 centre = Vec3::Zero();
    for (const Vec3& xi : x) centre += xi / Real(x.size());
    Mat3 moments = Mat3::Zero();
    for (const Vec3& xi : x) moments += (xi - centre) * (xi - centre).transpose();
    const Eigen::SelfAdjointEigenSolver<Mat3> axes(moments);
    Interpolation P;
    P.controls = 4;
    for (const Vec3& xi : x) {
        P.weights.push_back({0, 1 / std::sqrt(Real(x.size()))});
        for (int a = 0; a < 3; ++a)
            if (axes.eigenvalues()[a] > 1e-12 * axes.eigenvalues()[2])
                P.weights.push_back(
                    {a + 1, axes.eigenvectors().col(a).dot(xi - centre) / std::sqrt(axes.eigenvalues()[a])});
        P.end.push_back(count(P.weights));
    }
    return P;
}

bool is_independent(const Interpolation& P)
{
    Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(P.controls, P.controls);
    Index begin = 0;
    for (Index end : P.end) {
        for (Index a = begin; a < end; ++a)
            for (Index b = begin; b < end; ++b)
                gram(P.weights[a].control, P.weights[b].control) += P.weights[a].value * P.weights[b].value;
        begin = end;
    }
    const Eigen::VectorXd values =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(gram, Eigen::EigenvaluesOnly).eigenvalues();
    return values[0] > independent * values[P.controls - 1];
}

/// The finest grid that is coarse enough, has few enough points, and moves with every one of them.
Interpolation interpolate(std::span<const Vec3> x, Real cell)
{
    Eigen::AlignedBox<Real, 3> box;
    for (const Vec3& xi : x) box.extend(xi);
    for (; cell > 0; cell *= 1.1) {
        std::array<Index, 3> cells;
        Index controls = 1;
        for (int a = 0; a < 3; ++a) {
            cells[a] = std::max<Index>(1, Index(std::lround(std::min(box.sizes()[a] / cell, 1e3))));
            controls *= cells[a] + 1;
        }
        if (controls > max_controls) continue;
        Interpolation P = interpolate_in_grid(x, box, cells);
        if (is_independent(P)) return P;
        if (controls == 8) break;
    }
    return affine_modes(x);
}

} // namespace

CoarseSpace::CoarseSpace(const BlockPattern& pattern, std::vector<Part> parts, const Vec3s& rest)
    : parts_(std::move(parts))
{
    assert(count(rest) == pattern.rows() && all_finite(rest));
    part_of_block_.assign(rest.size(), none);
    weight_begin_.assign(1, 0);
    for (Index p = 0; p < count(parts_); ++p) {
        const Part& part = parts_[p];
        assert(part.first + 1 >= count(weight_begin_) && part.size >= 0 && part.first + part.size <= count(rest));
        weight_begin_.resize(static_cast<std::size_t>(part.first) + 1, count(weights_)); // blocks outside of any part
        for (Index i = part.first; i < part.first + part.size; ++i) part_of_block_[i] = p;
        const Interpolation P = interpolate({rest.data() + part.first, static_cast<std::size_t>(part.size)},
                                            cell_size * mean_coupling_length(pattern, part, rest));
        for (Index end : P.end) weight_begin_.push_back(count(weights_) + end);
        weights_.insert(weights_.end(), P.weights.begin(), P.weights.end());
        control_begin_.push_back(control_begin_.back() + P.controls);
    }
    weight_begin_.resize(rest.size() + 1, count(weights_));
    inverse_.resize(parts_.size());
}

void CoarseSpace::update(const BlockMatrix& A)
{
    const BlockPattern& pattern = A.pattern();
    assert(parts() == 0 || A.rows() == count(part_of_block_));
    parallel_for(
        parts(),
        [&](Index p) {
            using Rows = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
            const Part& part = parts_[p];
            const Eigen::Index n = 3 * controls(p);
            Rows coarse = Rows::Zero(n, n), product(3, n); // product: rows of A P
            for (Index i = part.first; i < part.first + part.size; ++i) {
                product.setZero();
                for (Index s = pattern.row_begin[i]; s < pattern.row_begin[i + 1]; ++s)
                    for (const Weight& w : weights(pattern.column[s]))
                        product.middleCols<3>(3 * w.control) += w.value * A.block(s);
                for (const Weight& w : weights(i)) coarse.middleRows<3>(3 * w.control) += w.value * product;
            }
            for (Eigen::Index k = 0; k < n; ++k) // a mode without weights
                if (coarse(k, k) == 0) coarse(k, k) = 1;
            const Eigen::MatrixXd inverse = Eigen::LLT<Eigen::MatrixXd>(coarse).solve(Eigen::MatrixXd::Identity(n, n));
            inverse_[p] = (0.5 * (inverse + inverse.transpose())).cast<float>();
        },
        1);
}

void CoarseSpace::answer(Index p, const Vec3s& r, Real* z) const
{
    const Eigen::Index n = 3 * controls(p);
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(n);
    for (Index i = parts_[p].first; i < parts_[p].first + parts_[p].size; ++i)
        for (const Weight& w : weights(i)) sum.segment<3>(3 * w.control) += w.value * r[i];
    Eigen::Map<Eigen::VectorXd> answer(z, n);
    answer.setZero();
    for (Eigen::Index k = 0; k < n; ++k) answer += sum[k] * inverse_[p].col(k).cast<Real>();
}

void CoarseSpace::add_correction(const Vec3s& r, Vec3s& x) const
{
    assert(r.size() == x.size() && (parts() == 0 || r.size() == part_of_block_.size()));
    parallel_for(
        parts(), [&](Index p) { add_correction(p, r, x); }, 4);
}

void CoarseSpace::add_correction(Index p, const Vec3s& r, Vec3s& x) const
{
    Eigen::VectorXd z(3 * controls(p));
    answer(p, r, z.data());
    for (Index i = parts_[p].first; i < parts_[p].first + parts_[p].size; ++i) x[i] += velocity(z.data(), i);
}

} // namespace pliant
