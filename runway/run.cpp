// Running a target: its command line, and its report at its end.

#include "runway/target.h"
#include "runway/target_report.h"
#include "runway/target_run.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/json_value.h"
#include "src/support/text.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::runway {

namespace {

constexpr int kReportVersion = 1;
constexpr std::size_t kLongestLine = 8192;  // a target writes at most half of it
constexpr std::size_t kMostWarnings = 32;

AddressRange range_from(const JsonValue& range) {
  const std::uint64_t end = range["end"].unsigned_integer();
  return {range["begin"].unsigned_integer(end), end};
}

/// Bounds that no machine comes near, to keep nonsense out of later arithmetic.
TargetReport report_from(const JsonValue& report) {
  constexpr double kMostSeconds = 1e10, kMostTicksPerNop = 1e9, kMostTicksPerSecond = 1e12;
  constexpr int kMostCpus = 8192;  // the most that Linux can be built for
  (void)report[kReportMarker].integer(kReportVersion, kReportVersion);
  const auto chase = report.find("chase");  // only of a pointer chase
  return {.iterations = report["iterations"].unsigned_integer(),
          .elapsed_seconds = report["elapsed_seconds"].number(0, kMostSeconds),
          .ticks_per_nop = report["ticks_per_nop"].number(0, kMostTicksPerNop),
          .ticks_per_second = report["ticks_per_second"].number(0, kMostTicksPerSecond),
          .cpu = report["cpu"].integer(-1, kMostCpus - 1),  // -1: not pinned
          .chase = chase ? std::optional(range_from(*chase)) : std::nullopt,
          .warnings = report["warnings"].strings(kMostWarnings)};
}

std::optional<TargetReport> report_in(std::string_view line) {
  if (line.size() > kLongestLine || line.find(kReportMarker) == std::string_view::npos) {
    return std::nullopt;
  }
  try {
    const nlohmann::json report = parse_json(line, "report", "JSON");
    return report_from(JsonValue(report, "report"));
  } catch (const InputError&) {  // a line of something else
    return std::nullopt;
  }
}

}  // namespace

std::optional<TargetReport> parse_target_report(std::string_view standard_output) {
  std::optional<TargetReport> last;
  while (!standard_output.empty()) {
    if (auto report = report_in(take_until('\n', standard_output))) last = std::move(report);
  }
  return last;
}

std::vector<std::string> command_line(const Target& target, const TargetRun& run) {
  // A bare name would be looked up in PATH.
  const bool bare = !target.path.has_parent_path();
  std::vector<std::string> words{bare ? "./" + target.path.string() : target.path.string()};
  const auto add = [&words](std::string option, std::string value) {
    words.push_back(std::move(option));
    words.push_back(std::move(value));
  };
  if (run.length) {
    if (const auto* iterations = std::get_if<std::uint64_t>(&*run.length)) {
      add("--iterations", std::to_string(*iterations));
    } else {
      constexpr std::int64_t kSecond = 1'000'000'000;
      const std::int64_t duration = std::get<std::chrono::nanoseconds>(*run.length).count();
      add("--seconds", fmt::format("{}.{:09}", duration / kSecond, duration % kSecond));
    }
  }
  if (run.cpu) add("--cpu", std::to_string(*run.cpu));
  if (!run.control.empty()) {
    add("--control", run.control.string());
    add("--ack", run.acknowledge.string());
  }
  return words;
}

}  // namespace skid::runway
