// The rows of animated obstacles, skeletons and garments.

#include "pliant/scene/keys.hpp"

namespace pliant {
namespace {

using K = KeyKind;

// clang-format off
constexpr Key keys[] = {
    {.path = "bodies.*.obstacle.sequence", .kind = K::map, .meaning = "A mesh, closed or open, whose vertices move one by one, along straight lines between the frames of `files`, or of a `mesh` and its `cache`."},
    {.path = "bodies.*.obstacle.sequence.files", .kind = K::texts, .meaning = "Mesh files (.obj, .ply) with the same triangles, one a frame: a list, or a name with one `*`, `%d` or `%04d` in it for the numbers (relative to the scene file)."},
    {.path = "bodies.*.obstacle.sequence.mesh", .kind = K::text, .meaning = "A mesh file that has the triangles of a `cache`."},
    {.path = "bodies.*.obstacle.sequence.cache", .kind = K::text, .meaning = "A point cache with the places of the mesh's vertices: .pc2 or .mdd."},
    {.path = "bodies.*.obstacle.sequence.fps", .kind = K::number, .unit = "Hz", .range = above(0), .words = "auto", .fallback = "auto", .meaning = "Frames per second; `auto` is 25, or what an .mdd file says."},
    {.path = "bodies.*.obstacle.sequence.start", .kind = K::number, .unit = "s", .range = at_least(0), .fallback = "0", .meaning = "Time of the first frame; before it nothing moves."},
    {.path = "bodies.*.obstacle.sequence.repeat", .kind = K::choice, .words = "hold loop", .fallback = "hold", .meaning = "After the last frame: it stays, or one frame later comes the first again."},

    {.path = "bodies.*.skeleton", .kind = K::map, .meaning = "Bones that move the mesh of an obstacle: each vertex follows the bones near it."},
    {.path = "bodies.*.skeleton.bones", .kind = K::named, .fallback = "required", .meaning = "The bones by name, in the coordinates of the mesh before `place`."},
    {.path = "bodies.*.skeleton.bones.*", .kind = K::map, .meaning = "A bone."},
    {.path = "bodies.*.skeleton.bones.*.parent", .kind = K::text, .meaning = "The bone that it hangs on, named before it."},
    {.path = "bodies.*.skeleton.bones.*.from", .kind = K::vector3, .unit = "m", .fallback = "required", .meaning = "Its joint, about which it turns."},
    {.path = "bodies.*.skeleton.bones.*.to", .kind = K::vector3, .unit = "m", .fallback = "required", .meaning = "Its other end."},
    {.path = "bodies.*.skeleton.bones.*.radius", .kind = K::number, .unit = "m", .range = at_least(0), .fallback = "0", .meaning = "Half the thickness of what is around it: of two bones a vertex follows the one whose surface is nearer."},
    {.path = "bodies.*.skeleton.smooth", .kind = K::number, .unit = "m", .range = at_least(0), .fallback = "5 cm", .meaning = "How far along the surface the influence of one bone fades into that of the next."},
    {.path = "bodies.*.skeleton.poses", .kind = K::list, .fallback = "[]", .meaning = "Keyframes. A bone that a pose does not name is on its way from the last pose that did to the next one that does."},
    {.path = "bodies.*.skeleton.poses[]", .kind = K::map, .meaning = "A pose."},
    {.path = "bodies.*.skeleton.poses[].time", .kind = K::number, .unit = "s", .range = at_least(0), .fallback = "required", .meaning = "Its time; times increase along the list."},
    {.path = "bodies.*.skeleton.poses[].move", .kind = K::vector3, .unit = "m", .meaning = "Displacement of the whole skeleton."},
    {.path = "bodies.*.skeleton.poses[].turn", .kind = K::named, .meaning = "Turns of bones against their parents, from the pose in which the mesh is given."},
    {.path = "bodies.*.skeleton.poses[].turn.*", .kind = K::vector3, .unit = "deg", .meaning = "Rotation about the x, then y, then z axis of the mesh. From one pose to the next a bone takes the shortest way (slerp)."},
    {.path = "bodies.*.skeleton.ease", .kind = K::choice, .words = "linear smooth", .fallback = "linear", .meaning = "`linear`: constant rates between poses; `smooth`: starts and stops gently at each."},
    {.path = "bodies.*.skeleton.repeat", .kind = K::choice, .words = "hold loop", .fallback = "hold", .meaning = "After the last pose: it stays, or goes on with the first, in the same instant."},

    {.path = "bodies.*.mesh.garment", .kind = K::map, .meaning = "Cloth cut from flat panels that are pulled together along seams and then sewn. It starts where its panels are."},
    {.path = "bodies.*.mesh.garment.edge", .kind = K::number, .unit = "m", .range = above(0), .fallback = "2 cm", .meaning = "Wanted length of the triangles' edges."},
    {.path = "bodies.*.mesh.garment.unit", .kind = K::choice, .words = "m cm mm in", .fallback = "cm", .meaning = "Of the numbers in outlines."},
    {.path = "bodies.*.mesh.garment.panels", .kind = K::named, .fallback = "required", .meaning = "The pattern pieces by name."},
    {.path = "bodies.*.mesh.garment.panels.*", .kind = K::map, .meaning = "A panel."},
    {.path = "bodies.*.mesh.garment.panels.*.outline", .kind = K::list, .fallback = "required", .meaning = "Its sides, one after the other around it; the last one ends where the first begins."},
    {.path = "bodies.*.mesh.garment.panels.*.outline[]", .kind = K::map, .meaning = "A side, from the end of the one before it."},
    {.path = "bodies.*.mesh.garment.panels.*.outline[].to", .kind = K::vector2, .fallback = "required", .meaning = "Its end: to the right and up."},
    {.path = "bodies.*.mesh.garment.panels.*.outline[].curve", .kind = K::list, .meaning = "The two inner control points of a Bezier curve; a straight line without."},
    {.path = "bodies.*.mesh.garment.panels.*.outline[].curve[]", .kind = K::vector2, .meaning = "A control point."},
    {.path = "bodies.*.mesh.garment.panels.*.outline[].through", .kind = K::list, .meaning = "Points of a smooth curve (a spline), from its start to its end, instead of `curve`."},
    {.path = "bodies.*.mesh.garment.panels.*.outline[].through[]", .kind = K::vector2, .meaning = "A point."},
    {.path = "bodies.*.mesh.garment.panels.*.outline[].name", .kind = K::text, .fallback = "''", .meaning = "What seams, hems and pins call it, as `panel.side`."},
    {.path = "bodies.*.mesh.garment.panels.*.at", .kind = K::vector3, .unit = "m", .fallback = "[0, 0, 0]", .meaning = "Where the origin of its outline starts."},
    {.path = "bodies.*.mesh.garment.panels.*.turn", .kind = K::vector3, .unit = "deg", .fallback = "[0, 0, 0]", .meaning = "Rotation about the x, then the y, then the z axis, from a panel that faces +z with y up."},
    {.path = "bodies.*.mesh.garment.panels.*.bend", .kind = K::number, .unit = "m", .words = "none", .fallback = "none", .meaning = "Radius of a bend about its vertical, whose axis is behind it; in front of it if negative."},
    {.path = "bodies.*.mesh.garment.panels.*.mirror", .kind = K::text, .meaning = "Adds a panel of this name, mirrored in the plane x = 0."},
    {.path = "bodies.*.mesh.garment.seams", .kind = K::list, .fallback = "[]", .meaning = "What is sewn together. Darts are seams between two sides of one panel."},
    {.path = "bodies.*.mesh.garment.seams[]", .kind = K::pair, .meaning = "Two sides, as `panel.side`; their lengths may differ by a fifth."},
    {.path = "bodies.*.mesh.garment.hems", .kind = K::texts, .meaning = "Sides that are hemmed: the springs at them are twice as stiff."},
    {.path = "bodies.*.mesh.garment.elastic", .kind = K::list, .meaning = "Sides with an elastic band in them."},
    {.path = "bodies.*.mesh.garment.elastic[]", .kind = K::map, .meaning = "A band."},
    {.path = "bodies.*.mesh.garment.elastic[].side", .kind = K::text, .fallback = "required", .meaning = "As `panel.side`."},
    {.path = "bodies.*.mesh.garment.elastic[].length", .kind = K::number, .range = {0, 1, true, false}, .fallback = "0.8", .meaning = "Of the band at rest, over the length of the side."},
    {.path = "bodies.*.mesh.garment.pull", .kind = K::number, .unit = "s", .range = above(0), .fallback = "0.1", .meaning = "The opening of a free seam shrinks to a third in this time. It is sewn when it is closer than the body's gap."},
    {.path = "bodies.*.mesh.garment.thread", .kind = K::number, .unit = "N", .range = above(0), .words = "auto", .fallback = "auto", .meaning = "Force with which two vertices of a seam are pulled together; `auto` is what stretches an edge of the cloth by a tenth."},

    {.path = "bodies.*.rest", .kind = K::choice, .words = "mesh texture", .fallback = "mesh", .meaning = "What cloth from a file is at rest: its mesh, or its texture coordinates (.obj)."},
    {.path = "bodies.*.texture-scale", .kind = K::number, .unit = "m", .range = above(0), .words = "auto", .fallback = "auto", .meaning = "Length of one unit of the texture, for `rest: texture`; `auto` gives the cloth the area of its mesh."},
    {.path = "bodies.*.pin[].sides", .kind = K::texts, .meaning = "All vertices of these sides of a garment, as `panel.side`."},
    {.path = "bodies.*.pin[].follow", .kind = K::text, .meaning = "An obstacle, named before this body, that the selection goes along with."},
};
// clang-format on

} // namespace

std::span<const Key> figure_keys()
{
    return keys;
}

} // namespace pliant
