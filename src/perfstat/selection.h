// The counts of perf stat that rates are computed from: which quantity each event counts, by its
// name or code.
#pragma once

#include "analysis/rates.h"
#include "src/perfstat/reading.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::perfstat {

/// The meaning of an event's name. Without quantity and umask no rate uses it.
struct KnownEvent {
  std::optional<analysis::Quantity> quantity;
  std::optional<std::uint8_t> l2_umask;  ///< umask of L2_RQSTS, event 0x24
  bool user_only = false;                ///< counted in user mode only: `:u`
  bool kernel_only = false;              ///< counted in the kernel only: `:k`
  std::string remark;                    ///< what the name leaves open; may be empty

  bool known() const noexcept { return quantity || l2_umask; }
};

/// Identifies an event by any spelling that the catalogues of Skylake, Haswell and Ivy Bridge take,
/// followed by modifiers. Events of other PMUs than cpu and cpu_core, and codes with other
/// modifiers (cmask, inv, edge), are not known.
KnownEvent identify_event(std::string_view name);

/// An event that was counted, and its meaning.
struct SelectedEvent {
  EventCount count;
  KnownEvent event;
};

/// The counts that rates are computed from.
struct Selection {
  analysis::Counts counts;
  std::vector<SelectedEvent> events;  ///< all events of the reading, in its order
  std::vector<std::string> warnings;  ///< what can make rates wrong; names are not escaped
  std::vector<std::string> remarks;   ///< further information; names are not escaped
};

/// Finds the counts of the rates. Throws InputError when two counts are of the same quantity, which
/// can neither be summed nor chosen between.
Selection select_counts(const Reading& reading);

}  // namespace skid::perfstat
