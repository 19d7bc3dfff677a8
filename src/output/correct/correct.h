// The findings of `skidscan correct` as text for people, as JSON and as CSV for programs.
#pragma once
#include <string>
#include <vector>

namespace skid::correct {
struct Correction;
}  // namespace skid::correct

namespace skid::output {

struct Page;

/// The events with their verdicts, then of each corrected one the places with most samples, all of
/// them with `page.details`. All names are escaped.
std::string correct_text(const std::vector<correct::Correction>& corrections, const Page& page);

/// Schema skidscan.correct/1, documented in docs/formats.md. Ends with a newline.
std::string correct_json(const std::vector<correct::Correction>& corrections);

/// A row for each event as a whole and for each place; RFC 4180 quoting, header line first;
/// docs/formats.md lists the columns.
std::string correct_csv(const std::vector<correct::Correction>& corrections);

}  // namespace skid::output
