// Running a target: its command line, and what it reports at its end.

#include "runway/target.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::runway {

namespace {

using nlohmann::json;

constexpr std::uint64_t kReportVersion = 1;
constexpr std::size_t kLongestLine = 8192;  // a target writes at most half of it
constexpr std::size_t kMostWarnings = 32;

std::optional<double> number_within(const json& report, const char* key, double most) {
  const auto found = report.find(key);
  if (found == report.end() || !found->is_number()) return std::nullopt;
  const auto number = found->get<double>();
  if (!(number >= 0 && number <= most)) return std::nullopt;
  return number;
}

/// -1 for a target that was not pinned.
std::optional<int> cpu_of(const json& report) {
  constexpr int kMostCpus = 8192;  // the most that Linux can be built for
  const auto found = report.find("cpu");
  if (found == report.end() || !found->is_number_integer()) return std::nullopt;
  const auto number = found->get<double>();  // which cannot wrap
  if (number < -1 || number >= kMostCpus) return std::nullopt;
  return static_cast<int>(number);
}

std::optional<std::vector<std::string>> warnings_of(const json& report) {
  const auto found = report.find("warnings");
  if (found == report.end() || !found->is_array() || found->size() > kMostWarnings) {
    return std::nullopt;
  }
  std::vector<std::string> warnings;
  for (const json& warning : *found) {
    if (!warning.is_string()) return std::nullopt;
    warnings.push_back(warning.get<std::string>());
  }
  return warnings;
}

std::optional<TargetReport> report_from(std::string_view line) {
  if (line.size() > kLongestLine || line.find(kReportMarker) == std::string_view::npos) {
    return std::nullopt;
  }
  const json report = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object()) return std::nullopt;
  const auto version = report.find(kReportMarker);
  if (version == report.end() || *version != kReportVersion) return std::nullopt;
  const auto iterations = report.find("iterations");
  if (iterations == report.end() || !iterations->is_number_unsigned()) return std::nullopt;

  // Bounds that no machine comes near, to keep nonsense out of the arithmetic of others.
  constexpr double kMostSeconds = 1e10, kMostTicksPerNop = 1e9, kMostTicksPerSecond = 1e12;
  const auto elapsed = number_within(report, "elapsed_seconds", kMostSeconds);
  const auto per_nop = number_within(report, "ticks_per_nop", kMostTicksPerNop);
  const auto per_second = number_within(report, "ticks_per_second", kMostTicksPerSecond);
  const auto cpu = cpu_of(report);
  auto warnings = warnings_of(report);
  if (!elapsed || !per_nop || !per_second || !cpu || !warnings) return std::nullopt;
  return TargetReport{.iterations = iterations->get<std::uint64_t>(),
                      .elapsed_seconds = *elapsed,
                      .ticks_per_nop = *per_nop,
                      .ticks_per_second = *per_second,
                      .cpu = *cpu,
                      .warnings = std::move(*warnings)};
}

}  // namespace

std::optional<TargetReport> parse_target_report(std::string_view standard_output) {
  std::optional<TargetReport> last;
  while (!standard_output.empty()) {
    const std::size_t end = standard_output.find('\n');
    if (auto report = report_from(standard_output.substr(0, end))) last = std::move(report);
    standard_output.remove_prefix(end == std::string_view::npos ? standard_output.size() : end + 1);
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
