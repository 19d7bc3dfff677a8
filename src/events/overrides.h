// What libpfm4 4.13 has wrong, corrected in one place.
#pragma once

#include "src/events/cpu.h"
#include "src/events/event.h"

#include <vector>

namespace skid::events {

/// Corrects events from libpfm4's tables and adds missing ones. The corrected ones have the
/// precise_source "correction", or a sentence in manual_errors.
void apply_overrides(Core core, std::vector<Event>& events);

}  // namespace skid::events
