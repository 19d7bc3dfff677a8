// What a recording says of the machine, the command and the files behind it.
#pragma once

#include "src/perfdata/attribute.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/format.h"

#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace skid::perfdata {

/// A file whose code was sampled, as perf noted it when the recording ended.
struct BuildId {
  std::int32_t pid = -1;  ///< -1 for the host, else a guest
  std::string path;
  std::string build_id;  ///< lower-case hexadecimal
};

/// An event as HEADER_EVENT_DESC repeats it: with its name.
struct EventDescription {
  Attribute attribute;
  std::string name;
  std::vector<std::uint64_t> ids;
};

/// Feature sections. Strings are empty and lists bare where the recording has no such section.
struct Features {
  std::bitset<HEADER_FEATURES> present;
  std::string hostname;
  std::string os_release;
  std::string perf_version;
  std::string arch;             ///< "x86_64"
  std::string cpu_description;  ///< "AMD EPYC"
  std::string cpuid;            ///< "GenuineIntel,6,94,3"
  std::vector<std::string> command_line;
  std::vector<EventDescription> events;
  std::vector<BuildId> build_ids;
  std::vector<std::pair<std::uint32_t, std::string>> pmu_mappings;     ///< number, name
  std::optional<std::pair<std::uint64_t, std::uint64_t>> sample_time;  ///< first, last sample in ns
};

/// Reads the content of one feature section into `features`. Returns what is wrong with it, or an
/// empty string; what was readable before the fault is kept. A section of a kind that is not
/// decoded here is only marked present.
std::string parse_feature(unsigned bit, std::span<const std::byte> content, ByteOrder order,
                          Features& features);

}  // namespace skid::perfdata
