#pragma once
// The certificate of a run: every stored frame, exactly, and with `run --every-step` every step's path.

#include "pliant/methods/table.hpp"
#include "pliant/run/certificate_frame.hpp"
#include "pliant/run/certificate_path.hpp"
#include "pliant/run/expectations.hpp"

#include <functional>

namespace pliant {

struct CertificateCrossing {
    Index frame = 0;
    Real time = 0; ///< [s]
    TriangleCrossing crossing;
};

/// Vertices of one body that are inside another one, or behind a plane, and were not at the start.
struct CertificateEnclosure {
    Index frame = 0;
    Real time = 0; ///< [s]
    Index body = none, container = none;
    Index vertices = 0, first_vertex = none;
    Real depth = 0;               ///< of the deepest one [m]
    Vec3 position = Vec3::Zero(); ///< of the first one [m]
};

/// The vertex that is deepest inside another body, or behind a plane, in any frame.
struct CertificatePenetration {
    Real depth = 0; ///< distance to the surface that it is behind [m]
    Real edges = 0; ///< the same over the shorter of the two bodies' median edges
    Index frame = 0;
    Real time = 0;               ///< [s]
    std::string body, container; ///< names
};

struct CertificateImpact {
    Index frame = 0;     ///< at the end of the step
    Real time = 0;       ///< of the impact [s]
    bool certain = true; ///< false: the step was cut into sub-steps whose states the method did not report
    PathImpact impact;
};

/// What the method measures of states itself, where it promises no more than to keep that small.
struct CertificateMeasure {
    std::string what; ///< with its unit; empty: nothing was measured
    Real worst = 0;
    Index frame = 0; ///< where it is worst
    Real time = 0;   ///< of that frame [s]
    Real last = 0;   ///< in the last frame
};

/// When triangles are tested in a run whose method has a measure of its own.
enum class ExactTest { on_request, always };

struct Certificate {
    static constexpr std::size_t max_listed = 1000; ///< of each kind

    std::string method;
    Promise promise;      ///< what the run is held to
    bool finished = true; ///< it has reached its end
    Index frames = 0;
    Index triangles = 0;
    CertificateMeasure measure;
    bool exact = true;              ///< triangles were tested, and the numbers below mean something
    std::int64_t pairs_tested = 0;  ///< triangle pairs with meeting boxes, over all frames
    std::int64_t intersections = 0; ///< pairs, over all frames
    Index frames_intersecting = 0;  ///< frames with any
    std::int64_t most_in_a_frame = 0;
    std::int64_t enclosures = 0; ///< vertices newly inside or behind, over all frames
    CertificatePenetration penetration;
    Real deepest = 0;        ///< of all crossings and enclosures; 0 when there is none [m]
    Index steps_checked = 0; ///< paths, when every step is stored
    std::int64_t path_pairs = 0, path_impacts = 0, uncertain_impacts = 0;
    std::vector<CertificateCrossing> crossings;
    std::vector<CertificateEnclosure> enclosed;
    std::vector<CertificateImpact> impacts;
    std::vector<ExpectationResult> expectations; ///< of the scene, intersections included
    /// What steps did not reach although the scene asks for it: sentences about the worst ones. Breaks no promise.
    std::vector<std::string> not_reached;
    /// Pairs that `pinch: release` let through, as run.json lists them: time, bodies, vertices.
    nlohmann::ordered_json released = nlohmann::ordered_json::array();
    Real seconds = 0; ///< of checking

    /// No intersection, no tunnelling, no crossing on the way.
    bool clean() const { return intersections == 0 && enclosures == 0 && path_impacts == 0; }
    /// What was promised or expected has come out.
    bool kept() const;
};

/// Checks all frames, in parallel: exactly, or where the method has a measure of its own by that, so that a check takes
/// no longer than the run. `on_frame(done, of)` may be called from any thread. Throws Error when a frame is
/// missing or damaged.
Certificate certify_run(const RunReader& reader, const std::function<void(Index, Index)>& on_frame = {},
                        ExactTest exact = ExactTest::on_request);

/// The outcome in one or two sentences.
std::string certificate_words(const Certificate& certificate);

nlohmann::ordered_json certificate_json(const Certificate& certificate, const RunMesh& mesh);

/// Replaces certificate.json in the run directory, all or nothing. Throws StorageError.
void save_certificate(const Certificate& certificate, const RunReader& reader);

} // namespace pliant
