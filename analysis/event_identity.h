// An event as it was requested and recorded: its names and code, its level and its period.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skid::analysis {

/// An event: as requested, as recorded, and its name in the catalogue.
struct EventIdentity {
  /// "cycles:pp"; nullopt if the recording does not contain what was requested.
  std::optional<std::string> requested;
  std::string recorded;  ///< "cpu-clock:ppH"
  std::string label;     ///< the event without its level: "access", "cycles"
  /// "MEM_INST_RETIRED.ALL_LOADS", by the catalogue of its CPU; empty: the catalogue does not have
  /// it.
  std::string name;
  std::uint32_t type = 0;    ///< perf_event_attr.type
  std::uint64_t config = 0;  ///< perf_event_attr.config
  std::uint64_t config1 = 0, config2 = 0;
  std::uint32_t breakpoint_type = 0;  ///< perf_event_attr.bp_type: 1 read, 2 write, 4 execute
  /// Modes that were not counted: "user", "kernel", "hypervisor", "host", "guest".
  std::vector<std::string> excluded;
  bool substituted = false;  ///< another event was recorded than requested
  /// What the catalogue adds to the recording, or why a hardware trace has no samples; may be
  /// empty.
  std::string remark;
};

/// Lists the modes that were not counted: "kernel, hypervisor". Guests are left out: whether perf
/// excludes them by default depends on its version.
std::string excluded_modes(const EventIdentity& event);

/// Precise level (perf_event_attr.precise_ip), as requested and as recorded.
struct PreciseLevel {
  std::optional<int> requested;
  int recorded = 0;
  std::uint64_t exact_ip_samples = 0;  ///< samples with PERF_RECORD_MISC_EXACT_IP
};

/// Events per sample, as requested and as recorded.
struct Period {
  std::optional<std::uint64_t> requested;  ///< nullopt if a frequency was requested
  std::optional<double> effective;         ///< events per sample; nullopt if unknown
};

}  // namespace skid::analysis
