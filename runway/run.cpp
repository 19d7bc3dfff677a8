// Running a target: its command line, and its report at its end.

#include "runway/specification.h"
#include "runway/target.h"
#include "runway/target_report.h"
#include "runway/target_run.h"
#include "src/support/address.h"
#include "src/support/command_words.h"
#include "src/support/error.h"
#include "src/support/json_value.h"
#include "src/support/text.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
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

std::string seconds_text(std::chrono::nanoseconds duration) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return fmt::format("{}.{:09}", duration.count() / kSecond, duration.count() % kSecond);
}

std::vector<CommandWord> command_words(const std::optional<RunLength>& length, bool with_cpu) {
  std::vector<CommandWord> words{value_word("target")};
  if (length) {
    if (const auto* iterations = std::get_if<std::uint64_t>(&*length)) {
      words.push_back({.text = "--iterations"});
      words.push_back({.text = std::to_string(*iterations)});
    } else {
      words.push_back({.text = "--seconds"});
      words.push_back(value_word("seconds"));
    }
  }
  if (with_cpu) {
    words.push_back({.text = "--cpu"});
    words.push_back(value_word("cpu"));
  }
  return words;
}

std::vector<CommandWord> control_words() {
  return {
      {.text = "--control"}, value_word("control"), {.text = "--ack"}, value_word("acknowledge")};
}

std::vector<std::string> command_line(const Target& target, const TargetRun& run) {
  // A bare name would be looked up in PATH.
  const bool bare = !target.path.has_parent_path();
  std::map<std::string, std::string> values{
      {"target", bare ? "./" + target.path.string() : target.path.string()}};
  std::vector<CommandWord> words = command_words(run.length, run.cpu.has_value());
  if (run.length) {
    const auto* duration = std::get_if<std::chrono::nanoseconds>(&*run.length);
    if (duration != nullptr) values.emplace("seconds", seconds_text(*duration));
  }
  if (run.cpu) values.emplace("cpu", std::to_string(*run.cpu));
  if (!run.control.empty()) {
    for (CommandWord& word : control_words()) words.push_back(std::move(word));
    values.emplace("control", run.control.string());
    values.emplace("acknowledge", run.acknowledge.string());
  }
  return filled(words, values);
}

}  // namespace skid::runway
