// Features of recordings as perf prints them.
#pragma once

#include "runway/kinds/kind.h"
#include "src/perfdata/features.h"
#include "tests/support/prelude.h"
#include "tests/support/text.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::perfdata {

using Lines = std::vector<std::string>;

inline std::string list(const std::vector<std::uint64_t>& ids) {
  return fmt::format("{{ {} }}", fmt::join(ids, ", "));
}

inline std::string capabilities(std::string_view pmu, const PmuCapabilities& all) {
  const Lines parts =
      test::mapped(all, [](const auto& one) { return one.first + "=" + one.second; });
  return fmt::format("# {} pmu capabilities: {}", pmu,
                     parts.empty() ? "not available" : fmt::format("{}", fmt::join(parts, ", ")));
}

inline std::string microseconds(std::uint64_t ns) {
  return fmt::format("{}.{:06}", ns / 1'000'000'000, ns % 1'000'000'000 / 1000);
}

inline void add_cpus(const Features& features, Lines& lines) {
  if (features.cpu_counts) {
    lines.push_back(fmt::format("# nrcpus online : {}", features.cpu_counts->online));
    lines.push_back(fmt::format("# nrcpus avail : {}", features.cpu_counts->available));
  }
  for (const auto& cpus : features.cores) lines.push_back("# sibling threads : " + cpus);
}

inline void add_memory(const Features& features, Lines& lines) {
  if (features.total_memory_kib) {
    lines.push_back(fmt::format("# total memory : {} kB", *features.total_memory_kib));
  }
}

inline void add_events(const Features& features, Lines& lines) {
  for (const EventDescription& event : features.events) {
    lines.push_back(fmt::format("# event : name = {}", event.name) +
                    (event.ids.empty() ? "" : ", , id = " + list(event.ids)));
  }
  for (const GroupDescription& group : features.groups) {
    Lines members;
    for (std::uint32_t i = 0; i < group.members; ++i) {
      members.push_back(features.events.at(group.leader + i).name);
    }
    lines.push_back(fmt::format("# group: {}{{{}}}", group.name == "{anon_group}" ? "" : group.name,
                                fmt::join(members, ",")));
  }
}

inline void add_pmus(const Features& features, Lines& lines) {
  const Lines mappings = test::mapped(features.pmu_mappings, [](const auto& one) {
    return fmt::format("{} = {}", one.second, one.first);
  });
  if (!mappings.empty()) {
    lines.push_back(fmt::format("# pmu mappings: {}", fmt::join(mappings, ", ")));
  }
  if (features.cpu_pmu_capabilities) {
    lines.push_back(capabilities("cpu", *features.cpu_pmu_capabilities));
  }
  for (const auto& pmu : features.pmu_capabilities) {
    lines.push_back(capabilities(pmu.pmu, pmu.capabilities));
  }
}

inline void add_clocks(const Features& features, Lines& lines) {
  if (features.sample_time) {
    lines.push_back("# time of first sample : " + microseconds(features.sample_time->first));
    lines.push_back("# time of last sample : " + microseconds(features.sample_time->second));
  }
  if (features.clock_resolution_ns) {
    lines.push_back(
        fmt::format("# clockid frequency: {} MHz", *features.clock_resolution_ns * 1000));
  }
  if (const auto& clock = features.clock_reference) {
    lines.push_back(fmt::format("# clockid: {}", clock->clockid));
    lines.push_back(fmt::format("# reference time: {} (TOD) = {}.{:09}",
                                microseconds(clock->time_of_day_ns),
                                clock->clock_ns / 1'000'000'000, clock->clock_ns % 1'000'000'000));
  }
  if (const auto& compression = features.compression) {
    lines.push_back(fmt::format("# compressed : {}, level = {}, ratio = {}",
                                compression->type == PERF_COMP_ZSTD ? "Zstd" : "Unknown",
                                compression->level, compression->ratio));
  }
}

/// The lines that `perf report --header-only -I` prints of these features, sorted.
inline Lines header_lines(const Features& features) {
  Lines lines;
  const auto add = [&](unsigned bit, std::string_view name, const std::string& value) {
    if (features.present.test(bit)) lines.push_back(fmt::format("# {} : {}", name, value));
  };
  add(HEADER_HOSTNAME, "hostname", features.hostname);
  add(HEADER_OSRELEASE, "os release", features.os_release);
  add(HEADER_VERSION, "perf version", features.perf_version);
  add(HEADER_ARCH, "arch", features.arch);
  add(HEADER_CPUDESC, "cpudesc", features.cpu_description);
  add(HEADER_CPUID, "cpuid", features.cpuid);
  add(HEADER_CMDLINE, "cmdline", fmt::format("{}", fmt::join(features.command_line, " ")));
  add_cpus(features, lines);
  add_memory(features, lines);
  add_events(features, lines);
  add_pmus(features, lines);
  add_clocks(features, lines);
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace skid::perfdata
