#pragma once
// The start of methods that promise that nothing crosses: bodies that intersect are refused, bodies that touch are
// opened by less than anyone sees, because what lies in a surface has no side.

#include "pliant/world/world.hpp"

namespace pliant {

/// Two bodies (or two parts of one) that pass through each other.
struct StartCrossing {
    Index body_a = none, body_b = none; ///< a <= b
    Vec3 position = Vec3::Zero();       ///< of one of the places [m]
};
/// One for each pair of bodies that may touch and intersect, by exact signs, or of a body that is behind a plane;
/// contact without passing through is none.
std::vector<StartCrossing> start_crossings(const World& world);

/// Moves bodies as a whole that touch others, each by a small part of the gap, until they are apart: from where the
/// solver opens the gap softly. Bodies that are scripted or pinned stay. What cannot be opened this way (two sheets
/// that lie in one another have no sides) is left as it is.
void open_touching(World& world);

/// Two bodies that start close to each other.
struct StartDistance {
    Index body_a = none, body_b = none; ///< a < b
    Real distance = 0;                  ///< [m]
    Real gap = 0;                       ///< that contact keeps between them [m]
};
/// Pairs of bodies that may touch and are closer than this many of their gaps, planes included; sorted by bodies.
std::vector<StartDistance> start_distances(const World& world, Real gaps);

/// Where the default gap of two bodies is larger than the room between them at the start, contact keeps half of that
/// room instead: a piston in its cylinder, layers of a skirt. Bodies that all but touch keep the gap, and open it.
/// Before a method is made: it reads the gaps from the model.
void fit_gaps(World& world);

/// Refuses crossings and opens what touches, before the first step: throws Error with a sentence for each pair of
/// bodies that intersects.
void require_free_start(World& world);

} // namespace pliant
