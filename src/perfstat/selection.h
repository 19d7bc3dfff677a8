// Selects the counts that rates use from those of perf stat, with warnings and remarks.
#pragma once

#include "analysis/rates.h"
#include "src/perfstat/event_names.h"
#include "src/perfstat/reading.h"

#include <string>
#include <vector>

namespace skid::perfstat {

struct SelectedEvent {
  EventCount count;
  KnownEvent event;
};

struct Selection {
  analysis::Counts counts;
  std::vector<SelectedEvent> events;  ///< all of the reading, in its order
  std::vector<std::string> warnings;  ///< what can make rates wrong; names are not escaped
  std::vector<std::string> remarks;   ///< what is worth knowing
};

/// Finds the counts of the rates. Throws InputError when two counts are of the same quantity, which
/// can neither be summed nor chosen between.
Selection select_counts(const Reading& reading);

}  // namespace skid::perfstat
