#pragma once
// A small grid of cubic cells over a box: triangles are put into the cells they may touch, and a segment visits the
// cells it passes in order (Amanatides and Woo 1987, "A Fast Voxel Traversal Algorithm for Ray Tracing").

#include "pliant/core/types.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace pliant {

class VoxelGrid {
public:
    struct Face {
        Vec3 corner; ///< [m]
        Vec3 e1, e2; ///< edges from there to the others [m]
        Vec3 area;   ///< e1 x e2 [m^2]
    };

    /// An empty grid over [lo, hi] with cells of about the given size [m], larger where they would be more than `most`.
    void reset(const Vec3& lo, const Vec3& hi, Real cell, Index most)
    {
        lo_ = lo;
        const Vec3 size = hi - lo;
        const Real longest = size.maxCoeff();
        cell_ = cell > 1e-9 * longest ? cell : longest;
        if (!(cell_ > 0)) cell_ = 1;
        const auto cells = [&] { return ((size / cell_).array().floor() + 1).prod(); };
        while (cells() > most && cell_ < longest) cell_ *= 1.26; // a factor of two in the number of cells
        for (int k = 0; k < 3; ++k) dims_[k] = static_cast<Index>(std::floor(size[k] / cell_)) + 1;
        begin_.assign(static_cast<std::size_t>(dims_[0]) * dims_[1] * dims_[2] + 1, 0);
    }

    /// Puts the numbers of the faces into the cells.
    void fill(const std::vector<Face>& faces)
    {
        entries_.clear();
        for (Index i = 0; i < static_cast<Index>(faces.size()); ++i)
            for_cells(faces[i], [&](Index c) {
                ++begin_[c + 1];
                entries_.push_back({c, i});
            });
        for (std::size_t c = 0; c + 1 < begin_.size(); ++c) begin_[c + 1] += begin_[c];
        next_.assign(begin_.begin(), begin_.end() - 1);
        items_.resize(entries_.size());
        for (const auto& [c, i] : entries_) items_[next_[c]++] = i;
    }

    /// visit(items, t) for the cells that the segment a + t (b - a) passes, in order, with the t at which it leaves the
    /// cell; ends when visit returns true. Both ends are in the box.
    template <class Visit>
    void along(const Vec3& a, const Vec3& b, Visit&& visit) const
    {
        std::array<Index, 3> at, step;
        Vec3 t_next, t_cell;
        for (int k = 0; k < 3; ++k) {
            const Real d = b[k] - a[k];
            at[k] = coordinate(a[k], k);
            step[k] = d > 0 ? 1 : -1;
            t_cell[k] = d != 0 ? cell_ / std::abs(d) : std::numeric_limits<Real>::infinity();
            const Real wall = lo_[k] + cell_ * (at[k] + (d > 0 ? 1 : 0));
            t_next[k] = d != 0 ? (wall - a[k]) / d : std::numeric_limits<Real>::infinity();
        }
        for (;;) {
            int axis = t_next[1] < t_next[0] ? 1 : 0;
            if (t_next[2] < t_next[axis]) axis = 2;
            const Index c = cell_number(at[0], at[1], at[2]);
            const std::span<const Index> items{items_.data() + begin_[c],
                                               static_cast<std::size_t>(begin_[c + 1] - begin_[c])};
            if (visit(items, t_next[axis]) || !(t_next[axis] <= 1)) return;
            at[axis] += step[axis];
            if (at[axis] < 0 || at[axis] >= dims_[axis]) return;
            t_next[axis] += t_cell[axis];
        }
    }

private:
    Index coordinate(Real x, int k) const
    {
        return static_cast<Index>(std::clamp((x - lo_[k]) / cell_, 0.0, Real(dims_[k] - 1)));
    }
    Index cell_number(Index i, Index j, Index k) const { return (k * dims_[1] + j) * dims_[0] + i; }
    /// Cells that the box and the plane of the triangle meet [Greene 1994]. Both are widened a little, so that rounding
    /// on the way of a segment does not matter.
    template <class Visit>
    void for_cells(const Face& f, Visit&& visit) const
    {
        const Real margin = 1e-6 * cell_;
        const Vec3 zero = Vec3::Zero();
        const Vec3 lo = f.corner + (zero.cwiseMin(f.e1).cwiseMin(f.e2).array() - margin).matrix();
        const Vec3 hi = f.corner + (zero.cwiseMax(f.e1).cwiseMax(f.e2).array() + margin).matrix();
        std::array<Index, 3> first, last;
        for (int k = 0; k < 3; ++k) {
            if (hi[k] < lo_[k] || lo[k] > lo_[k] + cell_ * dims_[k]) return;
            first[k] = coordinate(lo[k], k);
            last[k] = coordinate(hi[k], k);
        }
        const Real reach = (0.5 * cell_ + margin) * f.area.lpNorm<1>();
        for (Index k = first[2]; k <= last[2]; ++k)
            for (Index j = first[1]; j <= last[1]; ++j)
                for (Index i = first[0]; i <= last[0]; ++i) {
                    const Vec3 middle = lo_ + cell_ * Vec3(i + 0.5, j + 0.5, k + 0.5);
                    if (std::abs(f.area.dot(middle - f.corner)) <= reach) visit(cell_number(i, j, k));
                }
    }

    Vec3 lo_ = Vec3::Zero();
    Real cell_ = 1;
    std::array<Index, 3> dims_ = {1, 1, 1};
    std::vector<Index> begin_; ///< per cell + 1: range in items_
    std::vector<Index> items_, next_;
    std::vector<std::array<Index, 2>> entries_; ///< (cell, face)
};

} // namespace pliant
