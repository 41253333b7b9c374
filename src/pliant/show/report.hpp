#pragma once
// One self-contained HTML page about a run: it needs no network, and no other file.

#include "pliant/run/certificate.hpp"

namespace pliant {

struct ReportOptions {
    Index sheet_columns = 4, sheet_rows = 2;   ///< pictures in the contact sheet
    Index tile_width = 320, tile_height = 180; ///< of each [pixels]
    Index samples = 8;                         ///< rays a pixel
    std::size_t playback_bytes = 12'000'000;   ///< of positions; frames are left out evenly to stay below
};

/// The page. `certificate` is the content of certificate.json; null when the run has not been checked.
std::string report_html(const RunReader& reader, const nlohmann::json& certificate, const ReportOptions& options = {});

/// Writes report.html into the run directory, all or nothing. Throws StorageError or Error.
void write_report(const RunReader& reader, const nlohmann::json& certificate, const ReportOptions& options = {});

/// certificate.json of a run; null when there is none or it is damaged.
nlohmann::json read_certificate(const std::filesystem::path& directory);

} // namespace pliant
