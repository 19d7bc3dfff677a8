// Text on the branch records of an audit.
#pragma once

#include <string>
#include <vector>

namespace skid::output {

struct Page;
struct RecordedEvent;

/// Summarizes the branch records of all events: how many are impossible, why, where, and which
/// records were not judged. Empty if no event has branch records.
std::string branch_records_text(const std::vector<RecordedEvent>& events, const Page& page);

}  // namespace skid::output
