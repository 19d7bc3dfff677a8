// The findings of `skidscan correct` as text for people, as JSON and as CSV for programs.
#pragma once

#include "src/support/error.h"

#include <string>
#include <vector>

namespace skid::correct {
struct Correction;
}  // namespace skid::correct

namespace skid::output {

struct Page;

/// Returns the events with their verdicts, then for each corrected event the places with the most
/// samples, all places with `page.details`. All names are escaped.
std::string correct_text(const std::vector<correct::Correction>& corrections, const Page& page);

/// Returns JSON of schema skidscan.correct/1, documented in docs/formats.md. Ends with a newline.
/// `unread`: inputs that are not among the corrections.
std::string correct_json(const std::vector<correct::Correction>& corrections,
                         const std::vector<UnreadInput>& unread = {});

/// Returns CSV: a row for each event as a whole and for each place. Quoting is that of RFC 4180,
/// the header line is first; docs/formats.md lists the columns.
std::string correct_csv(const std::vector<correct::Correction>& corrections);

}  // namespace skid::output
