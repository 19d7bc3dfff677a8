// An event, with what is known of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skid::events {

struct Event {
  std::string name;                       ///< "LONGEST_LAT_CACHE.MISS"; from a file: not escaped
  std::string description;                ///< may be empty; from a file: not escaped
  std::string pmu = "cpu";                ///< as perf and sysfs name it
  std::uint64_t config = 0, config1 = 0;  ///< of perf_event_attr
  std::optional<bool> precise;            ///< nullopt: unknown
  std::string precise_source;             ///< "libpfm4", "correction", "perfmon"; empty: unknown
  std::vector<std::string> aliases;       ///< other names of the same event
  std::vector<std::string> errata;        ///< named by an event file; not escaped
  std::vector<std::string> manual_errors;
  bool deprecated = false;
};

}  // namespace skid::events
