#pragma once
// Boxes around the vertices that candidates were collected with, and what they were made of: as long as vertices stay
// in them, the candidates are enough.

#include "pliant/detection/broad_phase.hpp"

namespace pliant {

class Rooms {
public:
    /// Gives all vertices the boxes of these balls.
    void set(const VertexBalls& balls);
    /// Gives boxes to the marked vertices only; a single state serves for both ends.
    void replace(const VertexBalls& balls, std::span<const char> marked);

    /// Whether the box of a ball is inside of the box of its vertex at one end, not counting on rounding.
    bool hold(int t, Index v, const Vec3& x, Real radius) const
    {
        const Vec3 beyond = (x - centre_[t][v]).cwiseAbs() + 0x1p-22 * x.cwiseAbs();
        return beyond.maxCoeff() + radius <= radius_[t][v];
    }

    bool moving() const { return boxes_.moving(); }
    const VertexBoxes& boxes() const { return boxes_; }
    const Vec3& centre(int t, Index v) const { return centre_[t][v]; }
    Real radius(int t, Index v) const { return radius_[t][v]; }
    /// Per vertex: whether the last call changed its box.
    std::span<const char> changed() const { return changed_; }
    std::size_t bytes() const;

private:
    void put(const VertexBalls& balls, Index v, bool always);

    VertexBoxes boxes_;
    std::array<Vec3s, 2> centre_;             ///< [m]; of a single state only the first
    std::array<std::vector<Real>, 2> radius_; ///< [m]
    std::vector<char> changed_;
};

} // namespace pliant
