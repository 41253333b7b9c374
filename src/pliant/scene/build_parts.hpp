#pragma once
// Parts of a body on their way from a scene file to the world: values of its keys, its mesh in its carrier, its pins.

#include "pliant/mesh/lattice.hpp"
#include "pliant/scene/garments.hpp"
#include "pliant/scene/meshes.hpp"

namespace pliant {

/// The value of a key in degrees, in radians.
Vec3 radians(const Value& degrees);
Pose place_of(const Value& body);
std::optional<Real> length_or_auto(const Value& value);
/// A script that turns about `place` unless it says otherwise.
Motion motion_of(const Value& motion, const Vec3& place);

ClothMaterial cloth_material(const Value& material);
SolidMaterial solid_material(const Value& material);
LatticeMaterial lattice_material(const Value& material);

/// `up: z`: what was made with y up is turned about x.
void turn_to_z(Vec3s& vertices);

/// The meshes of one entry, each with its pins, in their rest shape.
struct Piece {
    BodyMesh shape;
    std::optional<EmbeddedMesh> embedded;
    std::shared_ptr<const LatticeMesh> lattice;
    Vec3s start;                          ///< of cloth that does not start in its rest shape, else empty
    std::vector<std::vector<Index>> pins; ///< per selection
};

void put_in_lattice(const std::string& name, const Value& body, const Value& mesh, Piece& piece);
void embed_piece(const std::string& name, const Value& options, const Value& mesh, Piece& piece);
/// One selection of each piece for every entry of `pin`; Error for one that selects nothing.
void select_pins(const std::string& name, const Value& body, Real scale, std::vector<Piece>& pieces);
/// Hems and bands of a garment.
void set_trim(const GarmentTrim& trim, const Garment& garment, BodyOptions& options);

} // namespace pliant
