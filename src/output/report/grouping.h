// Measurements grouped by machine, event and precise level.
#pragma once

#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::output {

/// One measurement as a column of a table or a panel of a figure. The measurement is not owned.
struct Column {
  const analysis::Measurement* measurement = nullptr;
  int level = 0;      ///< as requested; as recorded if no level was requested
  std::string label;  ///< "pp", "pp b" with several sources, "pp #2" with repeats
};

/// The measurements of an event on a machine.
struct EventGroup {
  std::string event;            ///< label of the event, not escaped
  std::vector<Column> columns;  ///< sorted by level, source and repeat
};

/// A run directory or a single recording.
struct Source {
  std::string letter;  ///< "a", "b", …
  std::string name;    ///< as given, not escaped
  bool is_run = false;
};

/// The measurements of a machine with one kernel.
struct MachineGroup {
  machine::CpuIdentity cpu;
  std::string kernel;
  bool synthetic = false;          ///< true if any of its measurements is
  std::vector<Source> sources;     ///< in order of first appearance
  std::vector<EventGroup> events;  ///< in order of first appearance
  /// Measurements without a sample, filled by group_sampled(). They have no row and no panel; notes
  /// on them name them.
  std::vector<EventGroup> unsampled = {};
};

/// Groups measurements. The result points into `measurements`, which must outlive it.
std::vector<MachineGroup> group(const std::vector<analysis::Measurement>& measurements);

/// Like group(), but measurements without a sample are in MachineGroup::unsampled.
std::vector<MachineGroup> group_sampled(const std::vector<analysis::Measurement>& measurements);

/// Returns the element with the key of `made`; adds `made` if there is none.
template <typename T, typename Key>
T& find_or_add(std::vector<T>& values, Key key, T made) {
  const auto found = std::ranges::find(values, std::invoke(key, made), key);
  return found != values.end() ? *found : values.emplace_back(std::move(made));
}

/// Names a source, or a side of a comparison, by its number: a … z, then aa, ab, …
std::string letter_of(std::size_t index);

using machine::level_name;

}  // namespace skid::output
