#include "src/machine/machine.h"
#include "src/record/kit/kit.h"
#include "src/run/perftool/outcome.h"
#include "src/run/perftool/record_command.h"
#include "src/support/error.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::kit {

namespace {

using When = CommandWord::When;

void check_word(std::string_view word) {
  constexpr unsigned char kFirstPrintable = 0x20, kDelete = 0x7f;
  if (std::ranges::any_of(word, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < kFirstPrintable || byte == kDelete;
      })) {
    throw UsageError("-e: the name of an event in a kit contains a control character");
  }
}

std::string version_variable(const Since& since) {
  return fmt::format("perf_{}_{}", since.major, since.minor);
}

/// Words with the same condition. They expand to nothing where it does not hold.
std::string conditional(const CommandWord& condition, std::string words) {
  if (condition.since != Since{}) {
    words = fmt::format("${{{}:+{}}}", version_variable(condition.since), words);
  }
  if (condition.when == When::with_cross_check) return fmt::format("${{cross_check:+{}}}", words);
  if (condition.when == When::without_cross_check)
    return fmt::format("${{no_cross_check:+{}}}", words);
  return words;
}

double seconds_of(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string values_of(const Kit& kit) {
  std::vector<std::string> targets;
  for (const run::RunTarget& target : kit.plan.targets) targets.push_back(target.file);
  std::string tracepoint;
  for (const run::PlannedMeasurement& measurement : kit.plan.measurements) {
    if (!measurement.cross_check.empty()) tracepoint = measurement.cross_check;
  }
  std::string text;
  const auto assign = [&text](std::string_view name, std::string_view value) {
    text += fmt::format("{}={}\n", name, shell_word(value));
  };
  assign("arch", runway::name_of(kit.arch));
  assign("targets", fmt::format("{}", fmt::join(targets, " ")));
  assign("cpu", kit.cpu ? std::to_string(*kit.cpu) : std::string());
  assign("pmus", fmt::format("{}", fmt::join(kit.pmus, " ")));
  assign("tracepoint", tracepoint);
  assign("longest_try", fmt::format("{}", seconds_of(perftool::kLongestTry)));
  assign("longest_empty_try", fmt::format("{}", seconds_of(perftool::kLongestEmptyTry)));
  constexpr double kPercent = 100;
  assign("least_growth", fmt::format("{}", perftool::kLeastGrowth / kPercent));
  assign("margin", fmt::format("{}", perftool::kMargin / kPercent));
  assign("report_marker", runway::kReportMarker);
  assign("addresses_refused", perftool::kAddressesRefused);
  assign("how_to_install_perf", machine::how_to_install_perf());
  return text;
}

/// A variable for each version of perf that an option depends on.
std::string versions_of(const run::Run& plan) {
  std::set<Since> versions;
  for (const run::PlannedMeasurement& measurement : plan.measurements) {
    for (const CommandWord& word : perftool::record_words(measurement)) versions.insert(word.since);
  }
  versions.erase(Since{});
  std::string text;
  for (const Since& since : versions) {
    text += fmt::format("{}=$(since {} {})\n", version_variable(since), since.major, since.minor);
  }
  return text;
}

std::string measurements_of(const run::Run& plan) {
  std::map<std::string, std::string> targets;
  for (const run::RunTarget& target : plan.targets) targets.emplace(target.trigger, target.file);
  std::string text;
  for (std::size_t i = 0; i < plan.measurements.size(); ++i) {
    const run::PlannedMeasurement& measurement = plan.measurements[i];
    const std::string name =
        fmt::format("{}/{} {}", i + 1, plan.measurements.size(), measurement.requested);
    text += measurement_line(measurement, name, targets.at(measurement.trigger));
  }
  return text;
}

void replace(std::string& text, std::string_view marker, const std::string& value) {
  text.replace(text.find(marker), marker.size(), value);
}

}  // namespace

std::string shell_word(std::string_view word) {
  constexpr std::string_view kUnquoted =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:@%+=";
  if (!word.empty() && word.find_first_not_of(kUnquoted) == std::string_view::npos) {
    return std::string(word);
  }
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

std::string measurement_line(const run::PlannedMeasurement& measurement, std::string_view name,
                             const std::string& target) {
  for (const std::string& word :
       {measurement.requested, measurement.perf_event, measurement.cross_check, measurement.file,
        measurement.extras.call_graph, measurement.extras.branch_filter}) {
    check_word(word);
  }
  const std::string& file = measurement.file;
  const std::map<std::string, std::string> values{
      {"perf", "\"$perf\""},
      {"output", shell_word(file + ".partial")},
      {"fifos", fmt::format("\"fifo:$work/{0}.control,$work/{0}.acknowledge\"", file)},
      {"target", shell_word("./" + target)},
      {"seconds", "@seconds"},
      {"cpu", "\"$cpu\""},
      {"control", fmt::format("\"$work/{}.control\"", file)},
      {"acknowledge", fmt::format("\"$work/{}.acknowledge\"", file)}};
  const auto* duration = std::get_if<std::chrono::nanoseconds>(&measurement.length);
  std::string line =
      fmt::format("measure {} {} {} {}", shell_word(name), shell_word(file), measurement.samples,
                  duration == nullptr ? std::string("0") : runway::seconds_text(*duration));
  const std::vector<CommandWord> words = perftool::record_words(measurement);
  for (auto word = words.begin(); word != words.end();) {
    const CommandWord& condition = *word;
    std::vector<std::string> texts;
    for (; word != words.end() && word->since == condition.since && word->when == condition.when;
         ++word) {
      texts.push_back(word->is_value ? values.at(word->text) : shell_word(word->text));
    }
    line += " " + conditional(condition, fmt::format("{}", fmt::join(texts, " ")));
  }
  return line + "\n";
}

std::string script_of(const Kit& kit) {
  std::string script(run_template());
  replace(script, "@VALUES@\n", values_of(kit));
  replace(script, "@VERSIONS@\n", versions_of(kit.plan));
  replace(script, "@MEASUREMENTS@\n", measurements_of(kit.plan));
  return script;
}

}  // namespace skid::kit
