#include "src/run/perftool/record_arguments.h"

#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace skid::perftool {
namespace {

/// Short options with an argument, attached or in the next word, and those whose argument can only
/// be attached.
constexpr std::string_view kShort = "eptrCcoFmGDujkISz";
constexpr std::string_view kShortWithAttached = "ISz";

/// Long options whose argument may be the next word.
constexpr auto kLongWithArgument = std::to_array<std::string_view>({"event",
                                                                    "filter",
                                                                    "pid",
                                                                    "tid",
                                                                    "realtime",
                                                                    "cpu",
                                                                    "count",
                                                                    "output",
                                                                    "freq",
                                                                    "mmap-pages",
                                                                    "mmap-flush",
                                                                    "call-graph",
                                                                    "cgroup",
                                                                    "delay",
                                                                    "uid",
                                                                    "branch-filter",
                                                                    "clockid",
                                                                    "proc-map-timeout",
                                                                    "vmlinux",
                                                                    "switch-max-files",
                                                                    "switch-output-event",
                                                                    "affinity",
                                                                    "max-size",
                                                                    "num-thread-synthesize",
                                                                    "pfm-events",
                                                                    "control",
                                                                    "synth",
                                                                    "setup-filter",
                                                                    "off-cpu-thresh",
                                                                    "clang-path",
                                                                    "clang-opt"});
/// Options without one that are the beginning of one of these.
constexpr auto kLongWithout = std::to_array<std::string_view>({"switch-output", "off-cpu"});

/// The long option that a word names, perhaps by its beginning; empty: none with an argument.
std::string_view long_option(std::string_view name) {
  if (contains(kLongWithout, name)) return {};
  const auto is_meant = [name](std::string_view option) { return option.starts_with(name); };
  const auto found = std::ranges::find_if(kLongWithArgument, is_meant);
  return found == kLongWithArgument.end() ? std::string_view() : *found;
}

bool is_perf_record(const std::vector<std::string>& command_line) {
  if (command_line.size() < 2 || command_line[1] != "record") return false;
  const std::string_view path = command_line.front();
  const std::size_t slash = path.rfind('/');
  return path.substr(slash == path.npos ? 0 : slash + 1).starts_with("perf");
}

}  // namespace

std::optional<std::vector<std::string>> event_arguments(
    const std::vector<std::string>& command_line) {
  // "skidscan synth MODEL -e EVENT", of a synthetic recording (src/synth/recording.cpp).
  const bool is_synth =
      command_line.size() > 3 && command_line[0] == "skidscan" && command_line[1] == "synth";
  if (!is_synth && !is_perf_record(command_line)) return std::nullopt;
  std::vector<std::string> events;
  for (std::size_t index = is_synth ? 3 : 2; index < command_line.size(); ++index) {
    const std::string_view word = command_line[index];
    if (!word.starts_with('-') || word == "-" || word == "--") break;
    std::string_view option, argument;
    bool in_next_word = false;
    if (word.starts_with("--")) {
      const std::size_t equals = word.find('=');
      option = long_option(word.substr(2, equals == word.npos ? word.npos : equals - 2));
      in_next_word = equals == word.npos && !option.empty();
      if (equals != word.npos) argument = word.substr(equals + 1);
    } else if (const std::size_t found = word.find_first_of(kShort, 1); found != word.npos) {
      option = word[found] == 'e' ? std::string_view("event") : word.substr(found, 1);
      argument = word.substr(found + 1);
      in_next_word = argument.empty() && !contains(kShortWithAttached, word[found]);
    }
    if (in_next_word) {
      if (++index == command_line.size()) return std::nullopt;
      argument = command_line[index];
    }
    if (option == "pfm-events") return std::nullopt;
    if (option == "event") events.emplace_back(argument);
    // Up to perf 3.12 the next word could be the mode of -g.
    const bool may_have_mode = !word.starts_with("--") && word.ends_with('g') && option.empty();
    if (may_have_mode && index + 1 < command_line.size() &&
        (command_line[index + 1] == "fp" || command_line[index + 1].starts_with("dwarf"))) {
      ++index;
    }
  }
  return events;
}

}  // namespace skid::perftool
