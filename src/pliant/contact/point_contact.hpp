#pragma once
// A point that has penetrated something, as the forces of the methods on tetrahedra see it.

#include "pliant/core/types.hpp"

#include <cmath>
#include <limits>

namespace pliant {

struct PointContact {
    Index point = none;                                    ///< node that penetrates
    std::array<Index, 4> nodes = {none, none, none, none}; ///< of what is penetrated: a triangle (the last is `none`),
                                                           ///< a tetrahedron, or all `none`: it cannot be moved
    Vec4 weights = Vec4::Zero();                           ///< of the nodes, each >= 0, sum 1; 0 where there is none
    Vec3 depth = Vec3::Zero();                             ///< d_i: depth times the direction out [m]
    Real friction = 0;                                     ///< Coulomb's coefficient
    Vec3 motion = Vec3::Zero(); ///< of a partner that cannot be moved, at the contact: displacement over the step [m]
                                ///< for direct forces, velocity [m/s] for penalty forces
    /// Of a point of a rigid body: the mass that a push along the depth feels [kg], and how many contacts the body has;
    /// 0: the node's own mass counts.
    Real point_mass = 0;
    Index point_contacts = 1;
    /// Likewise, of a partner without nodes.
    Real partner_mass = std::numeric_limits<Real>::infinity();
    Index partner_contacts = 1;

    bool has_nodes() const { return nodes[0] != none; }
    /// visit(node) for the point and the nodes of its partner.
    template <class Visit>
    void for_each_node(Visit&& visit) const
    {
        visit(point);
        for (const Index node : nodes)
            if (node != none) visit(node);
    }
};

/// What the forces rely on, for assert().
inline bool is_sound(const PointContact& c)
{
    const bool weighted = !c.has_nodes() || (c.weights.minCoeff() >= 0 && std::abs(c.weights.sum() - 1) < 1e-6);
    return c.point != none && c.depth.allFinite() && c.motion.allFinite() && weighted && c.friction >= 0 &&
           c.point_contacts > 0 && c.partner_contacts > 0;
}

} // namespace pliant
