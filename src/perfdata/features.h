// Feature sections of a recording: the machine, the command, the files that were sampled.
#pragma once

#include "src/perfdata/attribute.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/format.h"

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::perfdata {

/// HEADER_NRCPUS.
struct CpuCounts {
  std::uint32_t available = 0;  ///< highest CPU number that is present, plus one
  std::uint32_t online = 0;
};

/// Name and value of the files in /sys/bus/event_source/devices/PMU/caps: "max_precise" and "3".
using PmuCapabilities = std::vector<std::pair<std::string, std::string>>;

/// HEADER_PMU_CAPS: the capabilities of a PMU other than "cpu".
struct NamedPmuCapabilities {
  std::string pmu;
  PmuCapabilities capabilities;
};

/// A file whose code was sampled, as perf noted it when the recording ended.
struct BuildId {
  std::int32_t pid = -1;  ///< -1 for the host, else a guest
  std::string path;
  std::string build_id;  ///< lower-case hexadecimal
  bool guest = false;    ///< of a guest's kernel or program
};

/// An event as HEADER_EVENT_DESC repeats it: with its name.
struct EventDescription {
  Attribute attribute;
  std::string name;
  std::vector<std::uint64_t> ids;
};

/// HEADER_GROUP_DESC: events that were counted together, {a,b} in perf's syntax.
struct GroupDescription {
  std::string name;          ///< as perf was given it
  std::uint32_t leader = 0;  ///< index of the first event of the group
  std::uint32_t members = 0;
};

/// HEADER_COMPRESSED: how perf record -z compressed the records.
struct Compression {
  std::uint32_t version = 0;
  std::uint32_t type = 0;  ///< PERF_COMP_ZSTD
  std::uint32_t level = 0;
  std::uint32_t ratio = 0;       ///< bytes before, divided by bytes after
  std::uint32_t mmap_bytes = 0;  ///< of a kernel buffer, and so the most that one record holds
};

/// HEADER_CLOCK_DATA: what the recording's clock showed at a known time of day.
struct ClockReference {
  std::uint32_t clockid = 0;         ///< CLOCK_*
  std::uint64_t time_of_day_ns = 0;  ///< since 1970-01-01
  std::uint64_t clock_ns = 0;
};

/// Feature sections. Strings and lists are empty where the recording has no such section.
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
  std::vector<std::string> cores;  ///< the CPUs of each core, "0,4" (HEADER_CPU_TOPOLOGY)
  std::vector<std::pair<std::uint32_t, std::string>> pmu_mappings;  ///< number, name
  std::optional<PmuCapabilities> cpu_pmu_capabilities;              ///< of the PMU "cpu"
  std::vector<NamedPmuCapabilities> pmu_capabilities;               ///< of all others

  std::vector<std::string> command_line;
  std::vector<EventDescription> events;
  std::vector<GroupDescription> groups;
  std::vector<BuildId> build_ids;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> sample_time;  ///< first, last sample in ns
  std::optional<std::uint64_t> clock_resolution_ns;  ///< where perf record was given a --clockid
  std::optional<ClockReference> clock_reference;
  std::optional<Compression> compression;
  std::optional<std::uint64_t> directory_version;  ///< of a recording that is a directory
  /// Names and values in the META_INFO of Android's simpleperf: "simpleperf_version" and
  /// "1.build.7".
  std::vector<std::pair<std::string, std::string>> meta_info;
  std::vector<std::byte> tracing_data;  ///< formats of tracepoints, for Tracepoints::parse
};

/// The beginning of HEADER_VERSION in a recording that was made from a model, by no CPU. Other
/// recordings have perf's own version.
inline constexpr std::string_view kSyntheticVersion = "skidscan synth";

/// Whether a recording is marked as made from a model.
inline bool is_synthetic(const Features& features) {
  return features.perf_version.starts_with(kSyntheticVersion);
}

/// The end of HEADER_VERSION, before skidscan's version, in a recording whose samples were moved by
/// `skidscan correct -o`.
inline constexpr std::string_view kCorrectedMark = ", corrected by skidscan";

inline bool is_corrected(const Features& features) {
  return features.perf_version.find(kCorrectedMark) != std::string::npos;
}

/// Far above any list that perf writes. An element may use many times more bytes in memory than in
/// the file, where an empty string has four.
inline constexpr std::uint64_t kMostElements = std::uint64_t{1} << 20;

/// Reads the content of one feature section into `features`. Returns what is wrong with it, or an
/// empty string; the content before the fault is kept. A section of a kind or a version that is not
/// decoded here is only marked present. A second section of one kind replaces the first, but
/// build-ids add up.
std::string parse_feature(unsigned bit, std::span<const std::byte> content, ByteOrder order,
                          Features& features);

/// Reads one PERF_RECORD_HEADER_BUILD_ID: `body` follows its header, `misc` is the
/// header's. Returns what is wrong with it, or an empty string.
std::string parse_build_id(std::span<const std::byte> body, std::uint16_t misc, ByteOrder order,
                           Features& features);

/// The content of a section that is to be written.
struct FeatureSection {
  unsigned bit = 0;
  std::string content;
};

/// The sections of `features`, ascending, that have a bit in `present` and that perf record writes
/// for a program without groups: strings, CPU counts, the command line, event descriptions, PMU
/// mappings, times of samples and compression. Optional values must be there.
std::vector<FeatureSection> encode_features(const Features& features);

/// "HOSTNAME", or "feature 99".
std::string name_of_feature(unsigned bit);

}  // namespace skid::perfdata
