// HEADER_TRACING_DATA: the formats of the tracepoints of a recording, as the kernel described them.
#pragma once

#include "src/perfdata/bytes.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace skid::perfdata {

/// One file events/SYSTEM/NAME/format of tracefs, unchecked.
struct TracepointDescription {
  std::string system;  ///< "sched"
  std::string text;    ///< "name: sched_switch\nID: 314\nformat:…"
};

struct TracingData {
  std::string version;  ///< of the layout: "0.6"
  ByteOrder byte_order = ByteOrder::little;
  unsigned long_size = 8;  ///< bytes of the recorded kernel's long: 4 or 8
  std::vector<TracepointDescription> tracepoints;
};

/// A format text longer than this is left out; Linux 6.18's longest has 5.5 KiB.
inline constexpr std::size_t kLongestTracepointFormat = std::size_t{64} << 10;
/// A recording holds the formats of what it recorded; Linux 6.18 has 2,300 tracepoints.
inline constexpr std::size_t kMostTracepoints = 4096;

/// Reads the bytes of a HEADER_TRACING_DATA section, or those after a
/// PERF_RECORD_HEADER_TRACING_DATA (tools/perf/util/trace-event-info.c writes them). nullopt with
/// the reason in `problem` when they cannot be read. Kernel symbols, printk formats and command
/// lines, which no payload needs, are skipped.
std::optional<TracingData> parse_tracing_data(std::span<const std::byte> bytes,
                                              std::string& problem);

}  // namespace skid::perfdata
