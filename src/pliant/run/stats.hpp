#pragma once
// stats.csv: one line a step, first the columns of all runs, then those of the method, then one a stage of the step.

#include "pliant/methods/table.hpp"
#include "pliant/world/strain.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace pliant {

/// Sums over the state that a line holds beside the report.
struct StepSums {
    Energy energy;
    Real max_speed = 0;                 ///< of any free block that is a velocity [m/s]
    Real max_elongation = 0;            ///< see pliant::max_elongation()
    StrainExcess strain_excess;         ///< over the limits of the scene
    InvertedElements inverted;          ///< tetrahedra
    Vec3 momentum = Vec3::Zero();       ///< linear [kg m/s]
    std::optional<Real> momentum_error; ///< see pliant::momentum_error()
    bool finite = true;
};
/// All but `momentum_error`.
StepSums step_sums(const World& world);

/// Change of the linear momentum in a step of length dt that gravity, drag and the forces of obstacles and pins do not
/// explain [N s]. Where the method does not add these up itself (StepReport::outer_impulse), it is unknown with pins,
/// whose forces are not computed, and in steps that were cut or saved by a fail-safe, of which the report holds only a
/// part of the forces.
std::optional<Real> momentum_error(const World& world, const Vec3& momentum_before, Real dt, const StepReport& report);

/// Appends lines to stats.csv. Lines are buffered; flush() brings them to the disk. Throws StorageError.
class StatsWriter {
public:
    StatsWriter() = default;
    /// Keeps the lines of the first `keep_steps` steps of an existing file; 0 starts a new one.
    StatsWriter(const std::filesystem::path& path, const MethodInfo& method, std::int64_t keep_steps);

    void add(const State& state, const StepReport& report, const StepSums& sums, Real seconds);
    void flush();

private:
    void add_stage(const std::string& stage);
    std::string fixed_header() const; ///< without the stages
    std::string header() const;

    std::filesystem::path path_;
    std::vector<std::string> own_columns_; ///< of the method
    std::vector<std::string> stages_;
    std::string pending_; ///< whole lines
};

/// Appends to forces.csv what bodies do to each other: one line for each step and pair with a contact force. Lines are
/// buffered like those of stats.csv. Throws StorageError.
class ForcesWriter {
public:
    ForcesWriter() = default;
    /// Keeps the lines of the first `keep_steps` steps of an existing file; 0 starts a new one.
    ForcesWriter(const std::filesystem::path& path, std::int64_t keep_steps);

    void add(const World& world, const StepReport& report);
    void flush();

private:
    std::filesystem::path path_;
    std::string pending_; ///< whole lines
};

} // namespace pliant
