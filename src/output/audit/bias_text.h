// The part of an audit's text on bias within blocks.
#pragma once

#include "src/audit/audit.h"
#include "src/output/page.h"

#include <string>
#include <vector>

namespace skid::output {

struct RecordedEvent {
  const audit::Audit* audit = nullptr;
  const audit::EventAudit* event = nullptr;
};

/// A line for each event with judged blocks, and the biased blocks with most samples misplaced, at
/// most `most` of all events together. Empty where no block was judged.
std::string bias_text(const std::vector<RecordedEvent>& events, std::size_t most, const Page& page);

}  // namespace skid::output
