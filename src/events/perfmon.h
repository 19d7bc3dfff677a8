// Intel's event files (github.com/intel/perfmon): a directory with mapfile.csv, which lists which
// CPU has which files, and JSON files with the events. Nothing in them is trusted.
#pragma once

#include "src/events/event.h"
#include "src/machine/machine.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::events {

struct PerfmonEvents {
  std::string name;     ///< directory of the files in lower case: "gnr"; not escaped
  std::string version;  ///< "V1.05"; not escaped
  std::vector<Event> events;
};

/// The core events of a CPU. `cpu`: a directory of event files in any case ("gnr") or the CPU as
/// mapfile.csv writes it ("GenuineIntel-6-AD"); empty for the one of `identity`. The events of a
/// hybrid CPU are those of all its cores; `pmu` distinguishes them. Throws InputError for files
/// that are not as expected, Error when mapfile.csv does not have the CPU.
PerfmonEvents read_perfmon(const std::filesystem::path& directory, std::string_view cpu,
                           const machine::CpuIdentity& identity);

/// The counters of a PDISTCounter: "0,1"; 32 is fixed counter 0. None for "NA"; nullopt for an
/// empty text and for what is no list of counters.
std::optional<std::vector<int>> pdist_counters(std::string_view text);

/// The ids of "SKL091, SKL044"; none for "null" and "0".
std::vector<std::string> errata_ids(std::string_view text);

}  // namespace skid::events
