// Text on the branch records of an audit.
#pragma once

#include <string>
#include <vector>

namespace skid::output {

struct Page;
struct AuditedEvent;

/// Explains why none of the branch records of all events was judged: "all 5 branch stacks are
/// empty: …". Empty if some were, or if none was recorded.
std::string why_no_branch_is_judged(const std::vector<AuditedEvent>& events);

/// Summarizes the branch records of all events: how many are impossible, why, where, and which
/// records were not judged. Empty if no event has branch records.
std::string branch_records_text(const std::vector<AuditedEvent>& events, const Page& page);

}  // namespace skid::output
