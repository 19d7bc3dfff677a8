// What the command line of a recording requests.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace skid::perftool {

/// Returns the arguments of -e of a `perf record`, in their order; none: perf recorded its default.
/// Options are split as perf does it (record_options in tools/perf/builtin-record.c,
/// tools/lib/subcmd/parse-options.c): "-ge cpu-clock", "--ev=cycles", up to the program. nullopt
/// where the command line shows no events: not of `perf record`, without arguments (perf 7.2), or
/// with --pfm-events.
std::optional<std::vector<std::string>> event_arguments(
    const std::vector<std::string>& command_line);

}  // namespace skid::perftool
