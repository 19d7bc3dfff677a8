// `skidscan inspect`: the contents of a recording as text and as JSON.
#pragma once

#include "src/perfdata/bytes.h"
#include "src/support/byte_order.h"
#include "src/support/names.h"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace skid::perfdata {
class Recording;
struct RecordCounts;
}  // namespace skid::perfdata

namespace skid::output {

/// A recording that was read to its end, so that its faults are complete, and its counts.
struct Inspection {
  const perfdata::Recording& recording;
  const perfdata::RecordCounts& record_counts;
  /// A text for each event that is less precise than requested; empty for the other events.
  std::vector<std::string> precision_lost = {};
  std::string no_samples = {};  ///< why the recording has no samples; empty: it has some
};

SKID_NAMES(perfdata::ByteOrder, "little", "big")

/// Returns events, what is missing, machine and command line; with `details` also all other
/// sections and the record counts. All names are escaped.
std::string inspection_text(const Inspection& inspection, bool details);

/// Returns an element of "recordings" in docs/formats.md, with `read_in_part` and `faults`.
nlohmann::ordered_json inspection_json(const Inspection& inspection);

}  // namespace skid::output
