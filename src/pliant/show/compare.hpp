#pragma once
// One self-contained HTML page about several runs of one scene: a table, pictures at the same instants, plots overlaid.

#include "pliant/run/reader.hpp"

namespace pliant {

struct CompareVariant {
    std::string name;                ///< "implicit, tolerance 1e-2"
    std::filesystem::path directory; ///< of its run; it has at least its first frame
    std::string failure;             ///< why it stopped before its end; empty when it did not
};

/// A number of the statistics over all steps.
struct Spread {
    Real mean = 0, max = 0;
};

/// What the table says of a run.
struct CompareSummary {
    std::int64_t steps = 0, asked_steps = 0;
    Real time = 0;                                          ///< reached [s]
    Real mean_ms = 0, max_ms = 0;                           ///< of computing a step
    Real mean_contacts = 0, max_contacts = 0;               ///< at the end of a step
    std::optional<Spread> rounds;                           ///< of refinement; none: the method has no such thing
    std::optional<Spread> iterations;                       ///< of the contact solver; likewise
    std::int64_t failsafes = 0;                             ///< steps that needed one
    std::optional<std::int64_t> intersections, enclosures;  ///< over all frames; none: not checked
    bool promised = true;                                   ///< that there are none
    Real deepest = 0;                                       ///< penetration [m]
    Real start_energy = 0, end_energy = 0, energy_rise = 0; ///< total; greatest rise between any two steps [J]
    Real max_kinetic = 0;                                   ///< [J]
    Real momentum_error = 0, momentum_scale = 0;            ///< largest of a step, sqrt(2 m T) at most [N s]
    std::int64_t momentum_steps = 0;                        ///< steps whose balance is known
    Real max_elongation = 0;
};
CompareSummary summarise(const RunReader& reader);

struct CompareOptions {
    Index instants = 5;                        ///< pictures of each variant
    Index tile_width = 320, tile_height = 240; ///< [pixels]
    Index samples = 8;                         ///< rays a pixel
};

/// `command` is shown, so that the page can be made again. Throws Error when a run cannot be read.
std::string compare_html(const std::string& title, const std::vector<CompareVariant>& variants,
                         const std::string& command, const CompareOptions& options = {});

} // namespace pliant
