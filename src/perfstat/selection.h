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
  std::string core_type;     ///< "cpu_core", "cpu_atom": the PMU of a hybrid CPU; or empty
  bool user_only = false;    ///< counted in user mode only: `:u`
  bool kernel_only = false;  ///< counted in the kernel only: `:k`
  std::string remark;        ///< what the name leaves open; may be empty
  /// What the catalogue of the newest Zen that has an event which no rate uses states about it:
  /// "Retired instructions (zen5)"; empty: none has it. Not escaped.
  std::string description;

  bool known() const noexcept { return quantity || l2_umask; }
};

/// Identifies a generic event of perf, or an event by any spelling that the catalogues of Skylake,
/// Haswell and Ivy Bridge take, followed by modifiers. Generic events have some names of AMD's and
/// Intel's event files, too, and alone are known of cpu_atom. Events of other PMUs than cpu,
/// cpu_core and cpu_atom, and codes with other modifiers (cmask, inv, edge), are not known.
KnownEvent identify_event(std::string_view name);

/// An event that was counted, and its meaning.
struct SelectedEvent {
  EventCount count;
  KnownEvent event;
};

/// The counts on the cores of one type, of which a hybrid CPU has several.
struct CoreCounts {
  std::string core_type;       ///< "cpu_core", "cpu_atom"; empty: not named
  double running_percent = 0;  ///< share of the time counted, the largest of its events
  analysis::Counts counts = {};
};

/// The counts that rates are computed from.
struct Selection {
  std::vector<CoreCounts> cores = {};  ///< at least one; the longest running first
  std::vector<SelectedEvent> events;   ///< all events of the reading, in its order
  std::vector<std::string> warnings;   ///< what can make rates wrong; names are not escaped
  std::vector<std::string> remarks;    ///< further information; names are not escaped
};

/// Finds the counts of the rates. Of several events that count the same on a core type, the first
/// that was counted is used; of the others it makes remarks. Events that name no core type are of
/// cpu_core if others name that. Throws InputError for a second count of the same event and scope.
Selection select_counts(const Reading& reading);

}  // namespace skid::perfstat
