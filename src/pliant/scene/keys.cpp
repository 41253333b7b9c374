#include "pliant/scene/keys.hpp"

#include "pliant/bodies/solid_models.hpp"
#include "pliant/methods/table.hpp"

#include <fmt/format.h>

#include <deque>
#include <string>
#include <vector>

namespace pliant {
namespace {

using K = KeyKind;

// clang-format off
constexpr Key own_keys[] = {
    {.path = "title", .kind = K::text, .fallback = "Untitled", .meaning = "One line that says what the scene shows."},
    {.path = "about", .kind = K::text, .meaning = "A few sentences for whoever opens the scene."},
    {.path = "include", .kind = K::texts, .meaning = "Scene files (relative to this one) that this scene changes or extends: maps are merged key by key, everything else is replaced."},
    {.path = "up", .kind = K::choice, .words = "y z", .fallback = "y", .meaning = "The axis that points up. With `z`, generated meshes are turned so that their y axis becomes z."},

    {.path = "time", .kind = K::map, .fallback = "{}", .meaning = "How long to simulate, and in what steps."},
    {.path = "time.step", .kind = K::number, .unit = "s", .range = above(0), .fallback = "4 ms", .meaning = "Length of a time step."},
    {.path = "time.end", .kind = K::number, .unit = "s", .range = above(0), .fallback = "2", .meaning = "Simulated time, rounded up to whole steps."},
    {.path = "time.fps", .kind = K::number, .unit = "Hz", .range = above(0), .fallback = "25", .meaning = "Stored frames per second: for each frame the step nearest to its time is stored, nothing is interpolated."},

    {.path = "gravity", .kind = K::vector3, .unit = "m/s^2", .words = "auto", .fallback = "auto", .meaning = "Acceleration of gravity; `auto` is 9.81 downward."},

    {.path = "contact", .kind = K::map, .fallback = "{}", .meaning = "How contact is treated."},
    {.path = "contact.method", .kind = K::choice, .fallback = "implicit", .meaning = "The contact method."},
    {.path = "contact.friction", .kind = K::number, .range = at_least(0), .fallback = "0.3", .meaning = "Coulomb friction coefficient of all pairs that `friction` does not name."},
    {.path = "contact.gap", .kind = K::number, .unit = "m", .range = above(0), .words = "auto", .fallback = "auto", .meaning = "Distance that contact keeps between surfaces; `auto` is, for each body, a tenth of its median edge length, at most 0.5 % of its diagonal, and half of the distance between two bodies that start closer than that."},

    {.path = "materials", .kind = K::named, .fallback = "{}", .meaning = "What bodies are made of, by name."},
    {.path = "materials.*", .kind = K::map, .meaning = "A material."},
    {.path = "materials.*.type", .kind = K::choice, .words = "cloth solid rigid lattice", .fallback = "required", .meaning = "`cloth`: springs on a triangle mesh; `solid`: co-rotational elasticity on tetrahedra; `rigid`: a rigid body inside a closed mesh; `lattice`: cubic cells around any triangle mesh, which carry it."},
    {.path = "materials.*.density", .kind = K::number, .unit = "kg/m^2", .range = above(0), .fallback = "0.2", .only = "cloth", .meaning = "Mass per area."},
    {.path = "materials.*.stretch", .kind = K::number, .unit = "N/m", .range = at_least(0), .fallback = "400", .only = "cloth", .meaning = "Stiffness of a structural spring."},
    {.path = "materials.*.shear", .kind = K::number, .unit = "N/m", .range = at_least(0), .fallback = "60", .only = "cloth", .meaning = "Stiffness of a diagonal spring (grids only)."},
    {.path = "materials.*.bend", .kind = K::number, .unit = "N m", .range = at_least(0), .fallback = "1e-5", .only = "cloth", .meaning = "Bending stiffness."},
    {.path = "materials.*.damping", .kind = K::number, .unit = "s", .range = at_least(0), .fallback = "1e-3", .only = "cloth", .meaning = "Stiffness-proportional (Rayleigh) damping."},
    {.path = "materials.*.drag", .kind = K::number, .unit = "1/s", .range = at_least(0), .fallback = "0", .only = "cloth", .meaning = "Mass-proportional (Rayleigh) damping."},
    {.path = "materials.*.max-strain", .kind = K::number, .range = above(0), .words = "none", .fallback = "none", .only = "cloth", .meaning = "Largest elongation of structural and diagonal springs (0.1 is 10 %)."},
    {.path = "materials.*.density", .kind = K::number, .unit = "kg/m^3", .range = above(0), .fallback = "1000", .only = "solid", .meaning = "Mass per volume."},
    {.path = "materials.*.young", .kind = K::number, .unit = "Pa", .range = above(0), .fallback = "1e5", .only = "solid", .meaning = "Young's modulus."},
    {.path = "materials.*.poisson", .kind = K::number, .range = {0, 0.5, false, true}, .fallback = "0.3", .only = "solid", .meaning = "Poisson's ratio."},
    {.path = "materials.*.damping", .kind = K::number, .unit = "s", .range = at_least(0), .fallback = "0", .only = "solid", .meaning = "Stiffness-proportional (Rayleigh) damping."},
    {.path = "materials.*.drag", .kind = K::number, .unit = "1/s", .range = at_least(0), .fallback = "0", .only = "solid", .meaning = "Mass-proportional (Rayleigh) damping."},
    {.path = "materials.*.model", .kind = K::choice, .fallback = "corotational", .only = "solid", .meaning = "How tetrahedra resist deformation."},
    {.path = "materials.*.density", .kind = K::number, .unit = "kg/m^3", .range = above(0), .fallback = "1000", .only = "rigid", .meaning = "Mass per volume."},

    {.path = "materials.*.model", .kind = K::choice, .words = "springs shape-matching", .fallback = "springs", .only = "lattice", .meaning = "What moves the cells. `springs`: along their edges, face and body diagonals; `shape-matching`: lattice shape matching (FastLSM), for method `boxes` only."},
    {.path = "materials.*.density", .kind = K::number, .unit = "kg/m^3", .range = above(0), .fallback = "1000", .only = "lattice", .meaning = "Mass per volume of a body whose lattice is filled."},
    {.path = "materials.*.areal-density", .kind = K::number, .unit = "kg/m^2", .range = above(0), .fallback = "1", .only = "lattice", .meaning = "Mass per area of the surface of a body whose lattice is not filled."},
    {.path = "materials.*.young", .kind = K::number, .unit = "Pa", .range = above(0), .fallback = "1e4", .only = "lattice", .meaning = "Young's modulus of a block of cells with springs; their Poisson's ratio is 1/4."},
    {.path = "materials.*.damping", .kind = K::number, .unit = "s", .range = at_least(0), .fallback = "0", .only = "lattice", .meaning = "Stiffness-proportional (Rayleigh) damping of springs."},
    {.path = "materials.*.drag", .kind = K::number, .unit = "1/s", .range = at_least(0), .fallback = "0", .only = "lattice", .meaning = "Mass-proportional (Rayleigh) damping."},
    {.path = "materials.*.width", .kind = K::integer, .range = between(1, 100), .fallback = "1", .only = "lattice", .meaning = "Shape matching: a region is all nodes up to so many cells from its middle along each axis. Wider regions are stiffer."},
    {.path = "materials.*.rigidity", .kind = K::number, .range = {0, 1, true, false}, .fallback = "1", .only = "lattice", .meaning = "Shape matching: part of the way to its goal that a node goes in a step."},
    {.path = "materials.*.region-damping", .kind = K::number, .unit = "1/s", .range = at_least(0), .fallback = "0", .only = "lattice", .meaning = "Shape matching: rate at which motion within regions dies away; motion of the body as a whole does not."},

    {.path = "bodies", .kind = K::named, .fallback = "required", .meaning = "What is in the scene, by name. A body has a `material` and a `mesh`, or is an `obstacle`."},
    {.path = "bodies.*", .kind = K::map, .meaning = "A body."},
    {.path = "bodies.*.material", .kind = K::text, .meaning = "Name of a material."},
    {.path = "bodies.*.mesh", .kind = K::one_of, .meaning = "Shape of the body, centred at the origin unless stated. Cloth and rigid bodies take triangle meshes; a solid takes a tetrahedral one (`tet-...`, a Gmsh file), or a closed triangle mesh with `embed`; a lattice takes any triangle mesh."},
    {.path = "bodies.*.mesh.grid", .kind = K::map, .meaning = "Rectangle in the horizontal plane."},
    {.path = "bodies.*.mesh.grid.size", .kind = K::vector2, .unit = "m", .range = above(0), .fallback = "[1, 1]", .meaning = "Lengths of its sides."},
    {.path = "bodies.*.mesh.grid.vertices", .kind = K::integer2, .range = at_least(2), .fallback = "[20, 20]", .meaning = "Vertices along each side."},
    {.path = "bodies.*.mesh.grid.diagonals", .kind = K::choice, .words = "alternating uniform", .fallback = "alternating", .meaning = "How squares are cut into triangles: in diamonds, or all the same way."},
    {.path = "bodies.*.mesh.disc", .kind = K::map, .meaning = "Disc in the horizontal plane."},
    {.path = "bodies.*.mesh.disc.radius", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.5", .meaning = "Radius."},
    {.path = "bodies.*.mesh.disc.around", .kind = K::integer, .range = at_least(3), .fallback = "48", .meaning = "Vertices on the rim."},
    {.path = "bodies.*.mesh.box", .kind = K::map, .meaning = "Closed box."},
    {.path = "bodies.*.mesh.box.size", .kind = K::vector3, .unit = "m", .range = above(0), .fallback = "[1, 1, 1]", .meaning = "Lengths of its sides."},
    {.path = "bodies.*.mesh.box.cells", .kind = K::integer3, .range = at_least(1), .fallback = "[1, 1, 1]", .meaning = "Squares along each side."},
    {.path = "bodies.*.mesh.sphere", .kind = K::map, .meaning = "Closed sphere."},
    {.path = "bodies.*.mesh.sphere.radius", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.5", .meaning = "Radius."},
    {.path = "bodies.*.mesh.sphere.subdivisions", .kind = K::integer, .range = between(0, 10), .fallback = "3", .meaning = "Subdivisions of an icosahedron: n give 20 x 4^n triangles."},
    {.path = "bodies.*.mesh.cylinder", .kind = K::map, .meaning = "Closed upright cylinder."},
    {.path = "bodies.*.mesh.cylinder.radius", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.5", .meaning = "Radius."},
    {.path = "bodies.*.mesh.cylinder.height", .kind = K::number, .unit = "m", .range = above(0), .fallback = "1", .meaning = "Height."},
    {.path = "bodies.*.mesh.cylinder.around", .kind = K::integer, .range = at_least(3), .fallback = "32", .meaning = "Vertices on each rim."},
    {.path = "bodies.*.mesh.cylinder.along", .kind = K::integer, .range = at_least(2), .fallback = "9", .meaning = "Rows of vertices from rim to rim."},
    {.path = "bodies.*.mesh.cone", .kind = K::map, .meaning = "Open truncated cone, a skirt; its bottom row of vertices comes first."},
    {.path = "bodies.*.mesh.cone.bottom", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.5", .meaning = "Radius of the bottom rim."},
    {.path = "bodies.*.mesh.cone.top", .kind = K::number, .unit = "m", .range = at_least(0), .fallback = "0.2", .meaning = "Radius of the top rim; 0 closes it."},
    {.path = "bodies.*.mesh.cone.height", .kind = K::number, .unit = "m", .range = above(0), .fallback = "1", .meaning = "Height."},
    {.path = "bodies.*.mesh.cone.around", .kind = K::integer, .range = at_least(3), .fallback = "48", .meaning = "Vertices in each row."},
    {.path = "bodies.*.mesh.cone.along", .kind = K::integer, .range = at_least(2), .fallback = "20", .meaning = "Rows of vertices from bottom to top."},
    {.path = "bodies.*.mesh.torus", .kind = K::map, .meaning = "Closed torus around the vertical axis."},
    {.path = "bodies.*.mesh.torus.ring", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.5", .meaning = "Radius of the circle along the middle of the tube."},
    {.path = "bodies.*.mesh.torus.tube", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.2", .meaning = "Radius of the tube."},
    {.path = "bodies.*.mesh.torus.around", .kind = K::integer, .range = at_least(3), .fallback = "48", .meaning = "Vertices along the ring."},
    {.path = "bodies.*.mesh.torus.section", .kind = K::integer, .range = at_least(3), .fallback = "20", .meaning = "Vertices around the tube."},
    {.path = "bodies.*.mesh.capsule", .kind = K::map, .meaning = "Closed upright capsule."},
    {.path = "bodies.*.mesh.capsule.radius", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.2", .meaning = "Radius."},
    {.path = "bodies.*.mesh.capsule.length", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.6", .meaning = "Length of the straight part."},
    {.path = "bodies.*.mesh.capsule.around", .kind = K::integer, .range = at_least(3), .fallback = "24", .meaning = "Vertices in each row."},
    {.path = "bodies.*.mesh.capsule.along", .kind = K::integer, .range = at_least(2), .fallback = "8", .meaning = "Rows of vertices on the straight part."},
    {.path = "bodies.*.mesh.wedge", .kind = K::map, .meaning = "Stone of an arch that stands in the x-y plane; the origin is the centre of the arch, so that turning copies about z builds it."},
    {.path = "bodies.*.mesh.wedge.inner", .kind = K::number, .unit = "m", .range = above(0), .fallback = "1", .meaning = "Inner radius."},
    {.path = "bodies.*.mesh.wedge.outer", .kind = K::number, .unit = "m", .range = above(0), .fallback = "1.2", .meaning = "Outer radius."},
    {.path = "bodies.*.mesh.wedge.angle", .kind = K::number, .unit = "deg", .range = {0, 180, true, true}, .fallback = "7.2", .meaning = "Angle that the stone spans."},
    {.path = "bodies.*.mesh.wedge.depth", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.2", .meaning = "Thickness along z."},
    {.path = "bodies.*.mesh.wedge.cells", .kind = K::integer3, .range = at_least(1), .fallback = "[1, 1, 1]", .meaning = "Cells along the arch, across it and in depth."},
    {.path = "bodies.*.mesh.blend", .kind = K::map, .meaning = "Closed surface of simple shapes that melt together, for figures, statues and animals. It stays where its parts are. Features thinner than about three edges may get lost."},
    {.path = "bodies.*.mesh.blend.edge", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.05", .meaning = "Mean length of the triangles' edges."},
    {.path = "bodies.*.mesh.blend.melt", .kind = K::number, .unit = "m", .range = at_least(0), .fallback = "0", .meaning = "Parts closer than this run into each other smoothly; 0 leaves creases."},
    {.path = "bodies.*.mesh.blend.triangles", .kind = K::integer, .range = at_least(0), .fallback = "0", .meaning = "Collapses edges until so many triangles are left, first those that change the shape least: so hands can have finer triangles than a back. 0: none."},
    {.path = "bodies.*.mesh.blend.shell", .kind = K::number, .unit = "m", .range = above(0), .words = "none", .fallback = "none", .meaning = "Thickness of a hollow shell: a second surface inside that faces in."},
    {.path = "bodies.*.mesh.blend.parts", .kind = K::list, .fallback = "required", .meaning = "The shapes, joined one after the other."},
    {.path = "bodies.*.mesh.blend.parts[]", .kind = K::one_of, .meaning = "A shape."},
    {.path = "bodies.*.mesh.blend.parts[].ball", .kind = K::map, .meaning = "A ball."},
    {.path = "bodies.*.mesh.blend.parts[].ball.at", .kind = K::vector3, .unit = "m", .fallback = "[0, 0, 0]", .meaning = "Its centre."},
    {.path = "bodies.*.mesh.blend.parts[].ball.radius", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.1", .meaning = "Radius."},
    {.path = "bodies.*.mesh.blend.parts[].ball.melt", .kind = K::number, .unit = "m", .range = at_least(0), .meaning = "Instead of the blend's own, where this part joins those before it."},
    {.path = "bodies.*.mesh.blend.parts[].ball.mirror", .kind = K::boolean, .fallback = "false", .meaning = "Adds its mirror image in the plane x = 0."},
    {.path = "bodies.*.mesh.blend.parts[].capsule", .kind = K::map, .meaning = "All points within a radius of a segment; the radius may change along it."},
    {.path = "bodies.*.mesh.blend.parts[].capsule.from", .kind = K::vector3, .unit = "m", .fallback = "required", .meaning = "One end of the segment."},
    {.path = "bodies.*.mesh.blend.parts[].capsule.to", .kind = K::vector3, .unit = "m", .fallback = "required", .meaning = "The other end."},
    {.path = "bodies.*.mesh.blend.parts[].capsule.radius", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.1", .meaning = "Radius."},
    {.path = "bodies.*.mesh.blend.parts[].capsule.end-radius", .kind = K::number, .unit = "m", .range = at_least(0), .words = "auto", .fallback = "auto", .meaning = "Radius at `to`; `auto` is the same."},
    {.path = "bodies.*.mesh.blend.parts[].capsule.melt", .kind = K::number, .unit = "m", .range = at_least(0), .meaning = "Instead of the blend's own, where this part joins those before it."},
    {.path = "bodies.*.mesh.blend.parts[].capsule.mirror", .kind = K::boolean, .fallback = "false", .meaning = "Adds its mirror image in the plane x = 0."},
    {.path = "bodies.*.mesh.blend.parts[].ellipsoid", .kind = K::map, .meaning = "An ellipsoid."},
    {.path = "bodies.*.mesh.blend.parts[].ellipsoid.at", .kind = K::vector3, .unit = "m", .fallback = "[0, 0, 0]", .meaning = "Its centre."},
    {.path = "bodies.*.mesh.blend.parts[].ellipsoid.radii", .kind = K::vector3, .unit = "m", .range = above(0), .fallback = "[0.1, 0.1, 0.1]", .meaning = "Radii along its axes."},
    {.path = "bodies.*.mesh.blend.parts[].ellipsoid.turn", .kind = K::vector3, .unit = "deg", .fallback = "[0, 0, 0]", .meaning = "Rotation about the x, then the y, then the z axis."},
    {.path = "bodies.*.mesh.blend.parts[].ellipsoid.melt", .kind = K::number, .unit = "m", .range = at_least(0), .meaning = "Instead of the blend's own, where this part joins those before it."},
    {.path = "bodies.*.mesh.blend.parts[].ellipsoid.mirror", .kind = K::boolean, .fallback = "false", .meaning = "Adds its mirror image in the plane x = 0."},
    {.path = "bodies.*.mesh.blend.parts[].box", .kind = K::map, .meaning = "A box."},
    {.path = "bodies.*.mesh.blend.parts[].box.at", .kind = K::vector3, .unit = "m", .fallback = "[0, 0, 0]", .meaning = "Its centre."},
    {.path = "bodies.*.mesh.blend.parts[].box.size", .kind = K::vector3, .unit = "m", .range = above(0), .fallback = "[0.2, 0.2, 0.2]", .meaning = "Lengths of its sides."},
    {.path = "bodies.*.mesh.blend.parts[].box.round", .kind = K::number, .unit = "m", .range = at_least(0), .fallback = "0", .meaning = "Radius of its edges, at most half of its smallest side."},
    {.path = "bodies.*.mesh.blend.parts[].box.turn", .kind = K::vector3, .unit = "deg", .fallback = "[0, 0, 0]", .meaning = "Rotation about the x, then the y, then the z axis."},
    {.path = "bodies.*.mesh.blend.parts[].box.melt", .kind = K::number, .unit = "m", .range = at_least(0), .meaning = "Instead of the blend's own, where this part joins those before it."},
    {.path = "bodies.*.mesh.blend.parts[].box.mirror", .kind = K::boolean, .fallback = "false", .meaning = "Adds its mirror image in the plane x = 0."},
    {.path = "bodies.*.mesh.teapot", .kind = K::map, .meaning = "Closed teapot that stands on the origin, spout along x, without self-intersection; another one can be stacked on it."},
    {.path = "bodies.*.mesh.teapot.radius", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.5", .meaning = "Radius of its body; it is about 3.4 radii long and 1.8 high."},
    {.path = "bodies.*.mesh.teapot.edge", .kind = K::number, .unit = "m", .range = above(0), .words = "auto", .fallback = "auto", .meaning = "Mean length of the triangles' edges; `auto` is a fourteenth of the radius."},
    {.path = "bodies.*.mesh.letters", .kind = K::map, .meaning = "Extruded letters that stand upright, the text centred at the origin. Each letter becomes a body of its own: name#1, name#2, ..."},
    {.path = "bodies.*.mesh.letters.text", .kind = K::text, .fallback = "required", .meaning = "The letters; spaces keep their place."},
    {.path = "bodies.*.mesh.letters.height", .kind = K::number, .unit = "m", .range = above(0), .fallback = "1", .meaning = "Height of a capital letter."},
    {.path = "bodies.*.mesh.letters.depth", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.25", .meaning = "Thickness."},
    {.path = "bodies.*.mesh.letters.edge", .kind = K::number, .unit = "m", .range = above(0), .words = "auto", .fallback = "auto", .meaning = "Wanted length of the triangles' edges; `auto` is a twelfth of the height."},
    {.path = "bodies.*.mesh.letters.spacing", .kind = K::number, .unit = "m", .range = at_least(0), .fallback = "0", .meaning = "Added between letters."},
    {.path = "bodies.*.mesh.letters.font", .kind = K::text, .fallback = "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf", .meaning = "A font file."},
    {.path = "bodies.*.mesh.file", .kind = K::text, .meaning = "A mesh file (relative to the scene file): .obj, .ply, .stl, or Gmsh's .msh, which gives a solid its tetrahedra. Not turned by `up: z`."},
    {.path = "bodies.*.mesh.tet-box", .kind = K::map, .meaning = "Box of tetrahedra."},
    {.path = "bodies.*.mesh.tet-box.size", .kind = K::vector3, .unit = "m", .range = above(0), .fallback = "[1, 1, 1]", .meaning = "Lengths of its sides."},
    {.path = "bodies.*.mesh.tet-box.cells", .kind = K::integer3, .range = at_least(1), .fallback = "[4, 4, 4]", .meaning = "Cells along each side."},
    {.path = "bodies.*.mesh.tet-box.split", .kind = K::choice, .words = "six five", .fallback = "six", .meaning = "Tetrahedra a cell: `six` around a diagonal, or `five`, mirrored from cell to cell."},
    {.path = "bodies.*.mesh.tet-bar", .kind = K::map, .meaning = "Bar of tetrahedra along x."},
    {.path = "bodies.*.mesh.tet-bar.length", .kind = K::number, .unit = "m", .range = above(0), .fallback = "1", .meaning = "Length along x."},
    {.path = "bodies.*.mesh.tet-bar.height", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.1", .meaning = "Height."},
    {.path = "bodies.*.mesh.tet-bar.width", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.1", .meaning = "Width."},
    {.path = "bodies.*.mesh.tet-bar.cells", .kind = K::integer3, .range = at_least(1), .fallback = "[20, 2, 2]", .meaning = "Cells along length, height and width."},
    {.path = "bodies.*.mesh.tet-sphere", .kind = K::map, .meaning = "Ball of tetrahedra."},
    {.path = "bodies.*.mesh.tet-sphere.radius", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.5", .meaning = "Radius."},
    {.path = "bodies.*.mesh.tet-sphere.layers", .kind = K::integer, .range = at_least(1), .fallback = "4", .meaning = "Shells: n give 20 n^3 tetrahedra."},
    {.path = "bodies.*.mesh.tet-torus", .kind = K::map, .meaning = "Solid torus of tetrahedra around the vertical axis."},
    {.path = "bodies.*.mesh.tet-torus.ring", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.5", .meaning = "Radius of the circle along the middle of the tube."},
    {.path = "bodies.*.mesh.tet-torus.tube", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.2", .meaning = "Radius of the tube."},
    {.path = "bodies.*.mesh.tet-torus.around", .kind = K::integer, .range = at_least(3), .fallback = "24", .meaning = "Slices along the ring."},
    {.path = "bodies.*.mesh.tet-torus.section", .kind = K::integer, .range = at_least(3), .fallback = "8", .meaning = "Vertices around the tube."},
    {.path = "bodies.*.mesh.tet-wedge", .kind = K::map, .meaning = "Arch stone of tetrahedra, like `wedge`."},
    {.path = "bodies.*.mesh.tet-wedge.inner", .kind = K::number, .unit = "m", .range = above(0), .fallback = "1", .meaning = "Inner radius."},
    {.path = "bodies.*.mesh.tet-wedge.outer", .kind = K::number, .unit = "m", .range = above(0), .fallback = "1.2", .meaning = "Outer radius."},
    {.path = "bodies.*.mesh.tet-wedge.angle", .kind = K::number, .unit = "deg", .range = {0, 180, true, true}, .fallback = "7.2", .meaning = "Angle that the stone spans."},
    {.path = "bodies.*.mesh.tet-wedge.depth", .kind = K::number, .unit = "m", .range = above(0), .fallback = "0.2", .meaning = "Thickness along z."},
    {.path = "bodies.*.mesh.tet-wedge.cells", .kind = K::integer3, .range = at_least(1), .fallback = "[2, 2, 2]", .meaning = "Cells along the arch, radial and along the depth."},
    {.path = "bodies.*.mesh.tet-wedge.split", .kind = K::choice, .words = "six five", .fallback = "six", .meaning = "Tetrahedra a cell, as in `tet-box`."},
    {.path = "bodies.*.mesh.tet-turned", .kind = K::map, .meaning = "Turned solid of tetrahedra around the vertical axis, like a chess figure."},
    {.path = "bodies.*.mesh.tet-turned.profile", .kind = K::list, .fallback = "[[0.3, -0.5], [0.35, -0.3], [0.15, 0], [0.2, 0.3], [0, 0.5]]", .meaning = "Its outline from the bottom up; heights increase, and only the ends may lie on the axis."},
    {.path = "bodies.*.mesh.tet-turned.profile[]", .kind = K::vector2, .unit = "m", .meaning = "Radius and height."},
    {.path = "bodies.*.mesh.tet-turned.around", .kind = K::integer, .range = at_least(3), .fallback = "8", .meaning = "Vertices around."},
    {.path = "bodies.*.mesh.tet-turned.core", .kind = K::choice, .words = "axis bare", .fallback = "axis", .meaning = "`axis`: vertices along the axis; `bare`: none inside, which takes fewer tetrahedra."},
    {.path = "bodies.*.embed", .kind = K::one_of, .meaning = "Carries the closed triangle mesh of a solid by a lattice of tetrahedra that covers it."},
    {.path = "bodies.*.embed.cells", .kind = K::integer, .range = between(1, 1000), .meaning = "Lattice cells along the longest side of the mesh."},
    {.path = "bodies.*.embed.size", .kind = K::number, .unit = "m", .range = above(0), .meaning = "Side of a lattice cell."},
    {.path = "bodies.*.lattice", .kind = K::map, .meaning = "Cells that carry the mesh of a body whose material is a lattice: cubes around what they hold. Give `cells` or `size`."},
    {.path = "bodies.*.lattice.cells", .kind = K::integer, .range = between(1, 1000), .meaning = "Cells along the longest side of the mesh; 10 if there is no `size` either."},
    {.path = "bodies.*.lattice.size", .kind = K::number, .unit = "m", .range = above(0), .meaning = "Side of a cell."},
    {.path = "bodies.*.lattice.fill", .kind = K::boolean, .fallback = "false", .meaning = "Keeps the cells that a closed mesh encloses as well, and gives the body the mass of its volume; otherwise only cells that hold surface are kept, and the mass is the surface's."},
    {.path = "bodies.*.obstacle", .kind = K::one_of, .meaning = "A body that moves by its script only, whatever touches it."},
    {.path = "bodies.*.obstacle.plane", .kind = K::map, .meaning = "A plane: all other bodies stay on the side that its normal points to. Give one of `x`, `y`, `z`, or `normal` and `point`."},
    {.path = "bodies.*.obstacle.plane.x", .kind = K::number, .unit = "m", .meaning = "Plane with normal +x through this coordinate."},
    {.path = "bodies.*.obstacle.plane.y", .kind = K::number, .unit = "m", .meaning = "Plane with normal +y through this coordinate."},
    {.path = "bodies.*.obstacle.plane.z", .kind = K::number, .unit = "m", .meaning = "Plane with normal +z through this coordinate."},
    {.path = "bodies.*.obstacle.plane.normal", .kind = K::vector3, .meaning = "Normal of any length."},
    {.path = "bodies.*.obstacle.plane.point", .kind = K::vector3, .unit = "m", .meaning = "A point of the plane."},
    {.path = "bodies.*.obstacle.mesh", .kind = K::one_of, .like = "bodies.*.mesh", .meaning = "A mesh. Method `implicit` takes open ones too."},
    {.path = "bodies.*.place", .kind = K::map, .fallback = "{}", .meaning = "Brings the mesh to its start: scaled, turned, then moved."},
    {.path = "bodies.*.place.scale", .kind = K::number, .range = above(0), .fallback = "1", .meaning = "Size of the body over the size of its mesh; the scaled mesh is the rest shape."},
    {.path = "bodies.*.place.turn", .kind = K::vector3, .unit = "deg", .fallback = "[0, 0, 0]", .meaning = "Rotation about the x, then the y, then the z axis."},
    {.path = "bodies.*.place.at", .kind = K::vector3, .unit = "m", .fallback = "[0, 0, 0]", .meaning = "Where the origin of the mesh goes."},
    {.path = "bodies.*.copies", .kind = K::one_of, .meaning = "Several bodies instead of one, named name#1, name#2, ..."},
    {.path = "bodies.*.copies.grid", .kind = K::map, .meaning = "A regular array that starts at the body's place."},
    {.path = "bodies.*.copies.grid.count", .kind = K::integer3, .range = at_least(1), .fallback = "[1, 1, 1]", .meaning = "Bodies along x, y and z."},
    {.path = "bodies.*.copies.grid.spacing", .kind = K::vector3, .unit = "m", .fallback = "[1, 1, 1]", .meaning = "Distance from one to the next along x, y and z."},
    {.path = "bodies.*.copies.helix", .kind = K::map, .meaning = "Bodies one after the other along a helix around the vertical through the body's place; each has its x axis along the helix. The links of a chain, with `twist: 90 deg`."},
    {.path = "bodies.*.copies.helix.count", .kind = K::integer, .range = at_least(1), .fallback = "required", .meaning = "Number of bodies."},
    {.path = "bodies.*.copies.helix.radius", .kind = K::number, .unit = "m", .range = above(0), .fallback = "required", .meaning = "Radius of the helix."},
    {.path = "bodies.*.copies.helix.rise", .kind = K::number, .unit = "m", .fallback = "0", .meaning = "How much higher it is after one turn."},
    {.path = "bodies.*.copies.helix.spacing", .kind = K::number, .unit = "m", .range = above(0), .fallback = "required", .meaning = "Distance from one body to the next along the helix."},
    {.path = "bodies.*.copies.helix.twist", .kind = K::number, .unit = "deg", .fallback = "0", .meaning = "How far each body is turned about the helix against the one before it."},
    {.path = "bodies.*.copies.random", .kind = K::map, .meaning = "Bodies thrown into a box."},
    {.path = "bodies.*.copies.random.count", .kind = K::integer, .range = at_least(1), .fallback = "required", .meaning = "Number of bodies."},
    {.path = "bodies.*.copies.random.box", .kind = K::map, .fallback = "required", .meaning = "Where their centres go, relative to the body's place."},
    {.path = "bodies.*.copies.random.box.min", .kind = K::vector3, .unit = "m", .fallback = "required", .meaning = "Smallest coordinates."},
    {.path = "bodies.*.copies.random.box.max", .kind = K::vector3, .unit = "m", .fallback = "required", .meaning = "Largest coordinates."},
    {.path = "bodies.*.copies.random.seed", .kind = K::integer, .range = at_least(0), .fallback = "1", .meaning = "Another number, another arrangement; the same number, the same arrangement everywhere."},
    {.path = "bodies.*.copies.random.distance", .kind = K::number, .unit = "m", .range = at_least(0), .words = "auto", .fallback = "auto", .meaning = "Least distance between their centres; `auto` is so much that bounding spheres do not overlap."},
    {.path = "bodies.*.copies.random.turn", .kind = K::boolean, .fallback = "true", .meaning = "Turns each body at random."},
    {.path = "bodies.*.scatter", .kind = K::map, .meaning = "Gives each body of the entry, also each letter of a text, a start of its own at random."},
    {.path = "bodies.*.scatter.turn", .kind = K::boolean, .fallback = "true", .meaning = "Turns it about the middle of its own box."},
    {.path = "bodies.*.scatter.spin", .kind = K::number, .unit = "rad/s", .range = at_least(0), .fallback = "0", .meaning = "Adds an angular velocity of at most this."},
    {.path = "bodies.*.scatter.speed", .kind = K::number, .unit = "m/s", .range = at_least(0), .fallback = "0", .meaning = "Adds a velocity of at most this."},
    {.path = "bodies.*.scatter.seed", .kind = K::integer, .range = at_least(0), .fallback = "1", .meaning = "Another number, another scatter; the same number, the same scatter everywhere."},
    {.path = "bodies.*.pin", .kind = K::list, .meaning = "Vertices of cloth, or nodes of a solid or a lattice, that are held still or moved by a script: one selection or a list of them."},
    {.path = "bodies.*.pin[]", .kind = K::map, .meaning = "A selection: a `box`, `vertices`, `sides` of a garment, or several of them."},
    {.path = "bodies.*.pin[].box", .kind = K::map, .meaning = "All vertices inside this box, in the coordinates of the mesh before `place`."},
    {.path = "bodies.*.pin[].box.min", .kind = K::vector3, .unit = "m", .fallback = "required", .meaning = "Smallest coordinates."},
    {.path = "bodies.*.pin[].box.max", .kind = K::vector3, .unit = "m", .fallback = "required", .meaning = "Largest coordinates."},
    {.path = "bodies.*.pin[].vertices", .kind = K::integers, .range = at_least(0), .meaning = "Vertex numbers, from 0."},
    {.path = "bodies.*.pin[].motion", .kind = K::map, .like = "bodies.*.motion", .meaning = "Script of this selection, instead of the body's `motion`."},
    {.path = "bodies.*.motion", .kind = K::map, .meaning = "Script of an obstacle or of a body's pins."},
    {.path = "bodies.*.motion.keyframes", .kind = K::list, .fallback = "required", .meaning = "Where the script has moved the body at given times, relative to its start. Constant before the first and after the last one."},
    {.path = "bodies.*.motion.keyframes[]", .kind = K::map, .meaning = "A keyframe."},
    {.path = "bodies.*.motion.keyframes[].time", .kind = K::number, .unit = "s", .range = at_least(0), .fallback = "required", .meaning = "Its time; times increase along the list."},
    {.path = "bodies.*.motion.keyframes[].move", .kind = K::vector3, .unit = "m", .fallback = "[0, 0, 0]", .meaning = "Displacement of the pivot."},
    {.path = "bodies.*.motion.keyframes[].turn", .kind = K::vector3, .unit = "deg", .fallback = "[0, 0, 0]", .meaning = "Rotation about the x, then y, then z axis through the pivot; full turns count."},
    {.path = "bodies.*.motion.pivot", .kind = K::vector3, .unit = "m", .words = "auto", .fallback = "auto", .meaning = "Centre of the rotation at the start; `auto` is the body's place."},
    {.path = "bodies.*.motion.ease", .kind = K::choice, .words = "linear smooth", .fallback = "linear", .meaning = "`linear`: constant velocity between keyframes; `smooth`: starts and stops gently at each."},
    {.path = "bodies.*.velocity", .kind = K::vector3, .unit = "m/s", .fallback = "[0, 0, 0]", .meaning = "Velocity at the start."},
    {.path = "bodies.*.spin", .kind = K::vector3, .unit = "rad/s", .fallback = "[0, 0, 0]", .meaning = "Angular velocity at the start, about the centre of mass."},
    {.path = "bodies.*.gap", .kind = K::number, .unit = "m", .range = above(0), .words = "auto", .fallback = "auto", .meaning = "Distance that contact keeps to this body; `auto` follows `contact.gap`."},

    {.path = "friction", .kind = K::list, .meaning = "Friction of particular pairs of bodies."},
    {.path = "friction[]", .kind = K::map, .meaning = "A pair."},
    {.path = "friction[].between", .kind = K::pair, .fallback = "required", .meaning = "Two body names (twice the same: with itself); the name of a body with `copies` means all of them."},
    {.path = "friction[].value", .kind = K::number, .range = at_least(0), .fallback = "required", .meaning = "Coulomb friction coefficient."},
    {.path = "no-contact", .kind = K::list, .meaning = "Pairs of bodies that do not feel each other."},
    {.path = "no-contact[]", .kind = K::pair, .meaning = "Two body names."},

    {.path = "expect", .kind = K::map, .fallback = "{}", .meaning = "What must come out; `pliant check` tests it on a run directory."},
    {.path = "expect.intersections", .kind = K::integer, .range = at_least(0), .meaning = "Largest number of intersecting triangle pairs in any frame."},
    {.path = "expect.penetration", .kind = K::number, .unit = "m", .range = at_least(0), .meaning = "Largest depth of a surface vertex inside another closed body, or behind a plane, in any frame: its distance to that surface."},
    {.path = "expect.at-rest-by", .kind = K::number, .unit = "s", .range = at_least(0), .meaning = "From this time on all bodies are at rest: the root mean square speed of a body's vertices is at most 1 % of sqrt(g L), L its diagonal, or `rest-speed`."},
    {.path = "expect.rest-speed", .kind = K::number, .unit = "m/s", .range = at_least(0), .meaning = "What `at-rest-by` calls rest, where its own bound does not fit the scene."},
    {.path = "expect.contacts", .kind = K::integer, .range = at_least(0), .meaning = "At least so many contacts in some step."},
    {.path = "expect.layers", .kind = K::integer, .range = at_least(1), .meaning = "In the last frame cloth lies at least so many layers deep somewhere: sheets that a line along gravity meets."},
    {.path = "expect.sewn", .kind = K::boolean, .meaning = "Whether in the last frame every seam is sewn: its sides are one."},
    {.path = "expect.strain-excess", .kind = K::number, .range = at_least(0), .meaning = "Largest elongation beyond `max-strain` in any step, as a part of the allowed length."},
    {.path = "expect.rounds", .kind = K::map, .meaning = "Method `implicit`: how many rounds of constraint manifold refinement most steps take at most."},
    {.path = "expect.rounds.most", .kind = K::integer, .range = at_least(1), .fallback = "required", .meaning = "Rounds of such a step, in none of its sub-steps more."},
    {.path = "expect.rounds.part", .kind = K::number, .range = between(0, 1), .fallback = "required", .meaning = "Part of the steps, at least."},
    {.path = "expect.overlap", .kind = K::number, .range = at_least(0), .meaning = "Method `boxes`: largest overlap of boxes in any frame, as a part of a cell's side."},
    {.path = "expect.final-overlap", .kind = K::number, .range = at_least(0), .meaning = "Method `boxes`: largest overlap of boxes in the last frame, as a part of a cell's side."},
    {.path = "expect.energy-gain", .kind = K::number, .range = at_least(0), .meaning = "Largest growth of the total energy in one step, as a part of the largest kinetic energy of the run. For scenes that no script drives."},
    {.path = "expect.bounds", .kind = K::map, .meaning = "Box that holds all moving bodies in the last frame."},
    {.path = "expect.bounds.min", .kind = K::vector3, .unit = "m", .fallback = "required", .meaning = "Smallest coordinates."},
    {.path = "expect.bounds.max", .kind = K::vector3, .unit = "m", .fallback = "required", .meaning = "Largest coordinates."},
    {.path = "expect.methods", .kind = K::named, .meaning = "What must come out with a method, by its name, instead of everything that stands directly under `expect`: so one scene can be compared."},
    {.path = "expect.methods.*", .kind = K::map, .meaning = "Expectations of runs with this method; an empty map expects nothing."},
};
// clang-format on

KeyKind key_kind(OptionKind kind)
{
    switch (kind) {
    case OptionKind::number:
        return K::number;
    case OptionKind::integer:
        return K::integer;
    case OptionKind::choice:
        return K::choice;
    case OptionKind::boolean:
        return K::boolean;
    }
    return K::text;
}

/// The rows above with what other tables add to them; `texts_` keeps what the rows point to.
class KeyList {
public:
    KeyList() : rows_(std::begin(own_keys), std::end(own_keys))
    {
        rows_.insert(rows_.end(), figure_keys().begin(), figure_keys().end());
        name_methods();
        name_models();
        for (const MethodInfo& m : methods())
            for (const MethodOption& o : m.options) add_option(o);
        add_expectations();
    }
    const std::vector<Key>& rows() const { return rows_; }

private:
    std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

    void name_methods()
    {
        std::string names, abouts;
        for (const MethodInfo& m : methods()) {
            names += fmt::format("{}{}", names.empty() ? "" : " ", m.name);
            abouts += fmt::format(" `{}`: {}.", m.name, m.about);
        }
        for (Key& key : rows_)
            if (key.path == "contact.method") {
                key.words = keep(names);
                key.meaning = keep(std::string(key.meaning) + abouts);
            }
    }

    void name_models()
    {
        std::string names, meanings;
        for (const SolidModel& m : solid_models()) {
            names += fmt::format("{}{}", names.empty() ? "" : " ", m.name);
            meanings += fmt::format(" `{}`: {}.", m.name, m.meaning);
        }
        for (Key& key : rows_)
            if (key.path == "materials.*.model" && key.only == "solid") {
                key.words = keep(names);
                key.meaning = keep(std::string(key.meaning) + meanings);
            }
    }

    /// An option stands after the other keys of its map. Methods may share one, if they mean the same by it.
    void add_option(const MethodOption& o)
    {
        const std::string_view map = o.path.substr(0, o.path.rfind('.') + 1);
        auto last = rows_.end();
        for (auto row = rows_.begin(); row != rows_.end(); ++row) {
            if (row->path == o.path) return;
            if (row->path.starts_with(map)) last = row;
        }
        std::string who;
        for (const MethodInfo& m : methods())
            for (const MethodOption& other : m.options)
                if (other.path == o.path) who += fmt::format("{}`{}`", who.empty() ? "" : ", ", m.name);
        rows_.insert(last == rows_.end() ? last : last + 1,
                     {.path = o.path,
                      .kind = key_kind(o.kind),
                      .unit = o.unit,
                      .range = o.range,
                      .words = o.words,
                      .fallback = o.fallback,
                      .meaning = keep(fmt::format("{} Only with method {}.", o.meaning, who))});
    }

    /// Expectations of one method have the keys of those of all methods.
    void add_expectations()
    {
        constexpr std::string_view all = "expect.", own = "expect.methods";
        std::vector<Key> added;
        for (const Key& key : rows_) {
            if (!key.path.starts_with(all) || key.path.starts_with(own)) continue;
            added.push_back(key);
            added.back().path = keep(fmt::format("{}.*.{}", own, key.path.substr(all.size())));
        }
        rows_.insert(rows_.end(), added.begin(), added.end());
    }

    std::vector<Key> rows_;
    std::deque<std::string> texts_;
};

} // namespace

std::span<const Key> scene_keys()
{
    static const KeyList list;
    return list.rows();
}

} // namespace pliant
