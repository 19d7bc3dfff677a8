// Text on the blocks of an audit whose samples are not spread evenly.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace skid::output {

struct Page;
struct AuditedEvent;

/// Returns a line for each event with judged blocks, then the biased blocks with most samples
/// misplaced, at most `most` of all events together. Empty if no block was judged.
std::string bias_text(const std::vector<AuditedEvent>& events, std::size_t most, const Page& page);

}  // namespace skid::output
