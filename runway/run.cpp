// Running a target: its command line, and its report at its end.

#include "runway/run_fields.h"
#include "runway/target.h"
#include "runway/target_report.h"
#include "runway/target_run.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/field_reader.h"
#include "src/support/json_value.h"
#include "src/support/text.h"

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

std::optional<TargetReport> report_in(std::string_view line) {
  if (line.size() > kLongestLine || !contains(line, kReportMarker)) {
    return std::nullopt;
  }
  try {
    const nlohmann::json parsed = parse_json(line, "report", "JSON");
    const JsonValue object(parsed, "report");
    (void)object[kReportMarker].integer(kReportVersion, kReportVersion);
    TargetReport report;
    FieldReader io(object);
    fields(io, report);
    if (report.chase && report.chase->begin > report.chase->end) return std::nullopt;
    return report;
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
