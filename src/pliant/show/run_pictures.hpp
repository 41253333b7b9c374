#pragma once
// Pictures of a run: a stored frame as a scene for the renderer, framed for the whole motion.

#include "pliant/mesh/subdivision.hpp"
#include "pliant/run/reader.hpp"
#include "pliant/show/fields.hpp"
#include "pliant/show/render.hpp"

#include <map>

namespace pliant {

/// What the colour of cloth and solids says.
enum class PictureColour { body, elongation, stress };

struct PictureOptions {
    Index width = 1280, height = 720;
    Index samples = 32;
    View view;
    std::optional<Camera> camera; ///< instead of automatic framing
    PictureColour colour = PictureColour::body;
    bool subdivide = false;    ///< one step of Loop subdivision [Otaduy09, section 6]
    bool contacts = false;     ///< arrows of contact forces
    bool penetrations = false; ///< intersecting triangles in magenta
    Index surveyed = 60;       ///< frames that the framing looks at; the motion between them is bridged by a margin
    bool label = false;        ///< the time, and what the colours stand for, in a corner
};

/// Draws any frame of a run. The camera, the ground and the scale of arrows are the same for all of them.
class RunPictures {
public:
    RunPictures(const RunReader& reader, const PictureOptions& options);

    RenderScene scene(const Frame& frame) const;
    Image picture(Index frame) const;
    Image picture(Index frame, Index width, Index height) const;

    /// `columns` x `rows` small pictures of frames spread evenly over the run, each with its time.
    Image sheet(Index columns, Index rows) const;
    /// Frames that sheet() shows.
    static std::vector<Index> spread(Index frames, Index pictures);

    /// Sees all the motion, or the one that was asked for.
    Camera camera(Real aspect) const;
    void set_camera(const Camera& camera) { options_.camera = camera; }
    /// Diagonal of the space that the motion fills [m].
    Real extent() const { return box_.diagonal(); }
    const Box3& box() const { return box_; }
    Real strongest_force() const { return strongest_; } ///< of the surveyed frames [N]
    const StressScale& stress_scale() const { return stress_; }

private:
    void survey();
    Vec3s field_colours(const Frame& frame) const; ///< per vertex, by PictureOptions::colour

    const RunReader& reader_;
    PictureOptions options_;
    Vec3 up_ = Vec3::UnitY();
    Box3 box_;                              ///< of all frames
    Vec3s outline_;                         ///< outermost points of all frames, for the framing
    std::optional<Real> ground_;            ///< along up_
    StressScale stress_;                    ///< when it is shown
    Real strongest_ = 0;                    ///< contact force [N]
    Real arrow_scale_ = 0;                  ///< length of an arrow over its force [m/N]
    std::map<Index, LoopSubdivision> fine_; ///< per body, when subdividing
};

/// The axis that points up in a scene.
Vec3 up_axis(const Scene& scene);

/// The colour of each body: by its kind, and its number among those of its kind.
std::vector<Vec3> body_colours(const std::vector<RunBody>& bodies);

} // namespace pliant
