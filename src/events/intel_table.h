// Intel's event files, as they are part of the program (intel/README.md), and as a directory
// (github.com/intel/perfmon): mapfile.csv, which lists which CPU has which files, and JSON files
// with the events. Nothing in a directory is trusted.
#pragma once

#include "src/events/event.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace skid::machine {
struct CpuIdentity;
}  // namespace skid::machine

namespace skid::events {

/// The events of one type of core.
struct IntelFile {
  std::string name;     ///< "skylakex", "alderlake_goldencove"
  std::string version;  ///< "V1.37"
  std::string pmu;      ///< "cpu"; on a hybrid CPU "cpu_core", "cpu_atom", "cpu_lowpower"
};

/// Finds the files of a CPU: several if it is hybrid, none if the table does not have it.
std::vector<IntelFile> intel_files_of(const machine::CpuIdentity& cpu);

/// Finds the files of a CPU by any of its names, of one core type ("adl_glc", "adl/cpu_core"), or
/// by family, model and stepping ("6-8F", "6-55-4", as Intel writes them, in hexadecimal; "6-143":
/// a model that no CPU has in hexadecimal is read as decimal). Empty: the table does not have it.
/// Throws ValueError if a model needs its stepping.
std::vector<IntelFile> intel_files_of(std::string_view cpu);

/// Lists all files, in the order of the table.
std::vector<IntelFile> intel_files();

/// Reads all events of a file, in the order of the table. Decompresses the table up to the file's
/// last event.
std::vector<Event> intel_events(const IntelFile& file);

// The tables of intel/ and amd/, as they are part of the program.

/// Returns the text of models.tsv.
std::string_view intel_models();

/// Returns the text of events.tsv of amd/.
std::string_view amd_events_table();

/// Returns events.tsv of intel/, compressed by zstd.
std::string_view compressed_intel_events();
/// Size of events.tsv of intel/ before compression.
extern const std::size_t kIntelEventsBytes;

/// The events of a CPU from a directory of Intel's event files.
struct PerfmonEvents {
  std::string name;     ///< directory of the files in lower case: "gnr"; not escaped
  std::string version;  ///< "V1.05"; not escaped
  std::vector<Event> events;
};

/// Reads the core events of a CPU. `cpu`: a directory of event files in any case ("gnr") or the CPU
/// as mapfile.csv writes it ("GenuineIntel-6-AD"); empty for the one of `identity`. The events of a
/// hybrid CPU are those of all its cores; `pmu` distinguishes them. Throws InputError for files
/// that are not as expected, Error when mapfile.csv does not have the CPU.
PerfmonEvents read_perfmon(const std::filesystem::path& directory, std::string_view cpu,
                           const machine::CpuIdentity& identity);

}  // namespace skid::events
