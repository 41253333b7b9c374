#pragma once
// Lattice shape matching [Rivers and James 2007, "FastLSM: fast lattice shape matching for robust real-time
// deformation"]. A region is the nodes up to w places from its middle along each axis; every node is the middle of one.
// The goal of a node is the mean over the regions it belongs to of where their best rotation would put it. Sums over
// regions, and over the regions of a node, are running sums along the three axes: constant time a region, whatever w.

#include "pliant/core/real4.hpp"
#include "pliant/world/world.hpp"

namespace pliant {

/// Sums over windows of 2 width + 1 places along each axis of a grid of items of `size` numbers: 1, 4, 24, 48 or 60.
void window_sums(const std::array<Index, 3>& places, Index width, Index size, std::span<Real> values);

/// What does not change of a matched lattice.
class RegionPlan {
public:
    RegionPlan(const LatticeMesh& mesh, const std::vector<Real>& mass, Index width);

    Index node_count() const { return count(slot_); }
    /// Goals of the nodes [m] at positions x [m].
    void goals(std::span<const Vec3> x, Vec3s& goal) const;
    /// Per node: mean of the velocities of its regions, as rigid bodies, at the node [m/s].
    void rigid_velocities(std::span<const Vec3> x, std::span<const Vec3> v, Vec3s& velocity) const;
    /// The same for four lattices at once.
    void goals(std::span<const Real4x3> x, std::span<Real4x3> goal) const;
    void rigid_velocities(std::span<const Real4x3> x, std::span<const Real4x3> v, std::span<Real4x3> out) const;

private:
    std::array<Index, 3> places_; ///< of the grid, along each axis
    Index width_;
    std::vector<Index> slot_;   ///< per node: its place in the grid
    std::vector<Real> members_; ///< per node: nodes of its region, which is the number of regions it belongs to
    std::vector<Real> part_;    ///< per node: m~ = mass / members [kg]
    std::vector<Real> mass_;    ///< per region: sum of m~ [kg]
    Vec3s rest_;                ///< per node, from the middle of the lattice [m]
    Vec3s rest_centre_;         ///< per region [m]
};

/// Moves the lattices of a model that are matched.
class ShapeMatching {
public:
    explicit ShapeMatching(const Model& model);

    bool empty() const { return groups_.empty(); }
    /// Adds to the velocities along which blocks go from x in a step of length dt what brings them to their goals, and
    /// takes away motion within regions.
    void correct(const Vec3s& x, Real dt, Vec3s& path) const;

private:
    /// Up to four lattices of one mesh and material.
    struct Group {
        LatticeMaterial material;
        std::shared_ptr<const RegionPlan> plan;
        Index bodies = 0;
        std::array<Index, Real4::width> first_block; ///< the last one again where there are fewer
    };
    std::vector<Group> groups_;
};

} // namespace pliant
