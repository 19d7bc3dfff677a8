// Measurements as text for people, as JSON and as CSV for programs, and back from JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::output {

struct Page;

/// Advice for machines that sample no event of a PMU.
inline constexpr const char* kSeeExample =
    "skidscan report --example shows all precise levels, on an emulated Skylake with PEBS";

/// Returns one screen: the verdicts, a row per event and level, reasons and warnings. With
/// `page.details` tables per event with the precise levels side by side, a histogram of the
/// offsets, the breakdown, the contract verdict with its evidence, and warnings. Control characters
/// in names are escaped.
std::string report_text(const std::vector<analysis::Measurement>& measurements, const Page& page);

/// Returns the first sentence of report_text(), without a line's end.
std::string report_answer(const std::vector<analysis::Measurement>& measurements);

/// Returns JSON of schema skidscan.report/1, documented in docs/formats.md. Ends with a newline.
std::string report_json(const std::vector<analysis::Measurement>& measurements);

/// Returns CSV with a row per histogram bin; a measurement without bins has one row with empty
/// fields. Quoting is that of RFC 4180, lines end as in Unix, the header line is first.
/// docs/formats.md lists the columns.
std::string report_csv(const std::vector<analysis::Measurement>& measurements);

/// The largest file that is read as a report, in bytes.
inline constexpr std::uint64_t kMostReportBytes = std::uint64_t{256} << 20;

/// Whether a file with this beginning is JSON. A recording never is.
bool looks_like_report(std::string_view beginning);

/// Reads the measurements of a report of schema skidscan.report/1. report_json() of them returns
/// the same text. Only counts, names and other values that cannot be computed come from the report;
/// all figures are recomputed. `file`: its name, for errors. `bin_width`: width of the histograms'
/// bins in instructions; nullopt: that of the report. Throws InputError if the text is not such a
/// report or has contradictory counts.
std::vector<analysis::Measurement> read_report(std::string_view text, const std::string& file,
                                               std::optional<std::int64_t> bin_width = {});

}  // namespace skid::output
