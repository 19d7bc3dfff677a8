// An event: its names, its code and what its source states about it.
#pragma once

#include "src/events/cpu.h"
#include "src/support/names.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skid::events {

/// Who states whether an event has precise records: Intel's event files that are built in, libpfm4,
/// event files of perfmon that were given, or the kernel by what it hands to IBS.
enum class PreciseSource { intel, libpfm4, perfmon, kernel };
SKID_NAMES(PreciseSource, "intel", "libpfm4", "perfmon", "kernel")

/// What a source states about one event.
struct Event {
  std::string name = {};         ///< "LONGEST_LAT_CACHE.MISS"; from a file: not escaped
  std::string description = {};  ///< may be empty; from a file: not escaped
  Core core = Core::other;       ///< the core type that has it
  ConfigLayout layout = ConfigLayout::intel;  ///< layout of `config`
  std::string pmu = "cpu";                    ///< name of the PMU in perf and sysfs
  std::uint64_t config = 0, config1 = 0;      ///< fields of perf_event_attr
  std::string source = {};                    ///< "Intel's event file skylake V59", "libpfm4, skl"
  std::optional<bool> precise = {};           ///< nullopt: unknown
  std::optional<PreciseSource> precise_source = {};  ///< nullopt: unknown
  std::optional<bool> data_la =
      {};  ///< true if a precise record has the data address; nullopt: unknown
  /// Numbers of the counters with precise distribution, 32 for fixed counter 0; nullopt: not
  /// stated.
  std::optional<std::vector<int>> pdist = {};
  std::vector<std::string> aliases = {};  ///< other names of the same event
  std::vector<std::string> errata = {};   ///< ids that an event file has; not escaped
  bool deprecated = false;
};

}  // namespace skid::events
