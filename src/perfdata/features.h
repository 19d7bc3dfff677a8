// The features of a recording: the machine, the command, the files that were sampled.
#pragma once

#include "src/perfdata/attribute.h"
#include "src/perfdata/format.h"

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::perfdata {

/// The content of HEADER_NRCPUS.
struct CpuCounts {
  std::uint32_t available = 0;  ///< highest CPU number that is present, plus one
  std::uint32_t online = 0;
};

/// Names and values of the files in /sys/bus/event_source/devices/PMU/caps: "max_precise" and "3".
using PmuCapabilities = std::vector<std::pair<std::string, std::string>>;

/// The capabilities of a PMU other than "cpu" (HEADER_PMU_CAPS).
struct NamedPmuCapabilities {
  std::string pmu;
  PmuCapabilities capabilities;
};

/// A file whose code was sampled, as perf noted it when the recording ended.
struct BuildId {
  std::int32_t pid = -1;  ///< -1 for the host, else a guest
  std::string path;
  std::string build_id;  ///< lower-case hexadecimal
  bool guest = false;    ///< the file is the kernel or a program of a guest
};

/// An event as HEADER_EVENT_DESC repeats it, with its name.
struct EventDescription {
  Attribute attribute;
  std::string name;
  std::vector<std::uint64_t> ids;
};

/// Events that were counted together, {a,b} in perf's syntax (HEADER_GROUP_DESC).
struct GroupDescription {
  std::string name;          ///< as it was given to perf
  std::uint32_t leader = 0;  ///< index of the first event of the group
  std::uint32_t members = 0;
};

/// How perf record -z compressed the records (HEADER_COMPRESSED).
struct Compression {
  std::uint32_t version = 0;
  std::uint32_t type = 0;  ///< PERF_COMP_ZSTD
  std::uint32_t level = 0;
  std::uint32_t ratio = 0;       ///< bytes before, divided by bytes after
  std::uint32_t mmap_bytes = 0;  ///< size of a kernel buffer, which limits that of one record
};

/// The value of the recording's clock at a known time of day (HEADER_CLOCK_DATA).
struct ClockReference {
  std::uint32_t clockid = 0;         ///< CLOCK_*
  std::uint64_t time_of_day_ns = 0;  ///< since 1970-01-01
  std::uint64_t clock_ns = 0;
};

/// The features. Strings and lists are empty if the recording does not have their section.
struct Features {
  std::bitset<HEADER_FEATURES> present;
  std::map<unsigned, std::uint64_t> section_bytes;  ///< size of each section that is present

  std::string hostname;
  std::string os_release;
  std::string perf_version;
  std::string arch;             ///< "x86_64"
  std::string cpu_description;  ///< "AMD EPYC"
  std::string cpuid;            ///< "GenuineIntel,6,94,3"
  std::optional<CpuCounts> cpu_counts;
  std::optional<std::uint64_t> total_memory_kib;
  std::vector<std::string> cores;  ///< CPUs of each core, "0,4" (HEADER_CPU_TOPOLOGY)
  std::vector<std::pair<std::uint32_t, std::string>> pmu_mappings;  ///< number, name
  std::optional<PmuCapabilities> cpu_pmu_capabilities;              ///< PMU "cpu"
  std::vector<NamedPmuCapabilities> pmu_capabilities;               ///< all other PMUs

  std::vector<std::string> command_line;
  std::vector<EventDescription> events;
  std::vector<GroupDescription> groups;
  std::vector<BuildId> build_ids;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> sample_time;  ///< first, last sample in ns
  std::optional<std::uint64_t> clock_resolution_ns;  ///< if perf record was given a --clockid
  std::optional<ClockReference> clock_reference;
  std::optional<Compression> compression;
  std::optional<std::uint64_t> directory_version;  ///< if the recording is a directory
  /// Names and values in the META_INFO of Android's simpleperf: "simpleperf_version" and
  /// "1.build.7".
  std::vector<std::pair<std::string, std::string>> meta_info;
  std::vector<std::byte> tracing_data;  ///< formats of tracepoints, for Tracepoints::parse
};

/// The beginning of HEADER_VERSION in a recording that was made from a model, not on a CPU. Other
/// recordings have the version of perf there.
inline constexpr std::string_view kSyntheticVersion = "skidscan synth";

/// Whether a recording is marked as made from a model.
inline bool is_synthetic(const Features& features) {
  return features.perf_version.starts_with(kSyntheticVersion);
}

/// The mark in HEADER_VERSION, followed by skidscan's version, of a recording whose samples were
/// moved by `skidscan correct -o`.
inline constexpr std::string_view kCorrectedMark = ", corrected by skidscan";

/// Throws InputError, naming `file`, if a recording is marked as corrected: its samples are not
/// where perf recorded them. `remedy`: what to do instead.
void refuse_corrected(const Features& features, const std::string& file, const std::string& remedy);

}  // namespace skid::perfdata
