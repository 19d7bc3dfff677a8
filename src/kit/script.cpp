#include "src/kit/script.h"

#include "src/machine/machine.h"
#include "src/perftool/messages.h"
#include "src/perftool/record_command.h"
#include "src/perftool/retry.h"
#include "src/support/error.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::kit {

namespace {

using When = CommandWord::When;

constexpr std::string_view kMarker = "@THE KIT@\n";

void check_word(std::string_view word) {
  const auto is_control = [](char c) {
    constexpr unsigned char kFirstPrintable = 0x20, kDelete = 0x7f;
    const auto byte = static_cast<unsigned char>(c);
    return byte < kFirstPrintable || byte == kDelete;
  };
  if (std::any_of(word.begin(), word.end(), is_control)) {
    throw UsageError("-e: an event of a kit has a control character in its name");
  }
}

std::string condition_of(const CommandWord& word) {
  if (word.when == When::with_cross_check) return "w";
  if (word.when == When::without_cross_check) return "n";
  if (word.since == Since{}) return {};
  return fmt::format("{}.{}", word.since.major, word.since.minor);
}

std::string assignment(std::string_view name, std::string_view value) {
  return fmt::format("{}={}\n", name, shell_word(value));
}

/// Of texts that grep -F looks for: one a line.
std::string lines(std::span<const std::string_view> texts) {
  return fmt::format("{}", fmt::join(texts, "\n"));
}

std::string cross_check_of(const run::Run& plan) {
  for (const run::PlannedMeasurement& measurement : plan.measurements) {
    if (!measurement.cross_check.empty()) return measurement.cross_check;
  }
  return {};
}

/// A shell variable is set from these with $(( )) and compared with -lt: digits only.
std::string number(std::uint64_t value) {
  return std::to_string(value);
}

std::string values_of(const Kit& kit) {
  std::vector<std::string> targets;
  for (const run::RunTarget& target : kit.plan.targets) targets.push_back(target.file);
  std::string text = "# What this kit is for; written by skidscan.\n";
  text += assignment("arch", runway::name_of(kit.arch));
  text += assignment("targets", fmt::format("{}", fmt::join(targets, " ")));
  text += assignment("cpu", kit.cpu ? std::to_string(*kit.cpu) : std::string());
  text += assignment("pmus", fmt::format("{}", fmt::join(kit.pmus, " ")));
  text += assignment("witness", cross_check_of(kit.plan));
  text += assignment("samples_asked", number(kit.plan.samples));
  text += assignment("duration_given", kit.plan.duration_seconds ? "yes" : "");
  text +=
      assignment("longest_try", number(static_cast<std::uint64_t>(perftool::kLongestTry.count())));
  text += assignment("longest_empty_try",
                     number(static_cast<std::uint64_t>(perftool::kLongestEmptyTry.count())));
  text += assignment("least_growth", number(perftool::kLeastGrowth));
  text += assignment("margin", number(perftool::kMargin));
  text += assignment("how_to_install", machine::how_to_install_perf());
  text += assignment("permission_texts", lines(perftool::permission_texts()));
  text += assignment("chatter_texts", lines(perftool::chatter_texts()));
  text += assignment("disk_full_text", perftool::kDiskFull);
  text += assignment("wrote_file_text", perftool::kWroteFile);
  text += assignment("samples_end_text", perftool::kSamplesEnd);
  text += assignment("report_text", runway::kReportMarker);
  return text;
}

std::string measurement_line(const run::PlannedMeasurement& measurement, std::size_t event,
                             const std::string& target) {
  const auto* duration = std::get_if<std::chrono::nanoseconds>(&measurement.length);
  for (const std::string& word :
       {measurement.requested, measurement.perf_event, measurement.cross_check, measurement.file}) {
    check_word(word);
  }
  return fmt::format("  measure {} {} {} {} {} {} {}\n", event, shell_word(measurement.requested),
                     shell_word(measurement.file), shell_word(target),
                     duration == nullptr ? 0 : duration->count(),
                     shell_word(measurement.cross_check.empty() ? "" : "yes"),
                     listed(perftool::record_words({.event = measurement.perf_event,
                                                    .period = measurement.period,
                                                    .cross_check = measurement.cross_check,
                                                    .length = measurement.length})));
}

std::string measurements_of(const run::Run& plan) {
  std::map<std::string, std::size_t> events;
  std::map<std::string, std::string> targets;
  for (const run::RunTarget& target : plan.targets) targets.emplace(target.trigger, target.file);
  std::string text = "\nmeasurements() {\n";
  for (const run::PlannedMeasurement& measurement : plan.measurements) {
    const std::size_t event = events.emplace(measurement.event, events.size()).first->second;
    text += measurement_line(measurement, event, targets.at(measurement.trigger));
  }
  return text + "}\n\n";
}

}  // namespace

std::string shell_word(std::string_view word) {
  std::string text = "'";
  for (const char character : word) {
    if (character == '\'') {
      text += "'\\''";
    } else {
      text += character;
    }
  }
  return text + "'";
}

std::string listed(const std::vector<CommandWord>& words) {
  std::string text;
  for (const CommandWord& word : words) {
    if (!text.empty()) text += ' ';
    text += shell_word(condition_of(word) + (word.is_value ? '@' : '=') + word.text);
  }
  return text;
}

std::string script_of(const Kit& kit) {
  std::string script(run_script());
  script.replace(script.find(kMarker), kMarker.size(), values_of(kit) + measurements_of(kit.plan));
  return script;
}

}  // namespace skid::kit
