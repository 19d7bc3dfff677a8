// Reports in JSON back into the measurements that they were written of.
#pragma once

#include "analysis/measurement.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::output {

/// More bytes than this are not read as a report.
inline constexpr std::uint64_t kMostReportBytes = std::uint64_t{256} << 20;

/// Whether a file that begins so is meant as JSON: a recording never is.
bool looks_like_report(std::string_view beginning);

/// The measurements of a report of schema skidscan.report/1. `report_json` of them is the same
/// text. Only counts, names and other values that cannot be computed come from the report; all
/// figures are recomputed. `file`: its name, for errors. `bin_width`: of the histograms, in
/// instructions; nullopt: that of the report. Throws InputError if the text is not such a report or
/// has contradictory counts.
std::vector<analysis::Measurement> read_report(std::string_view text, const std::string& file,
                                               std::optional<std::int64_t> bin_width = {});

}  // namespace skid::output
