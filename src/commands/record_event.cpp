#include "src/commands/record_event.h"

#include "src/support/error.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace skid::commands {

namespace {

/// The letters of an event's modifiers in tools/perf/util/parse-events.l, later additions included.
constexpr std::string_view kModifiers = "ukhpPGHSDIWebRX";

std::pair<std::string_view, EventKind> kind_entry(std::string_view name, EventKind kind) {
  return {name, kind};
}

EventKind kind_of(std::string_view name) {
  static const std::array kinds{
      kind_entry("access", EventKind::access),       kind_entry("execute", EventKind::execute),
      kind_entry("faults", EventKind::faults),       kind_entry("page-faults", EventKind::faults),
      kind_entry("minor-faults", EventKind::faults), kind_entry("cpu-clock", EventKind::clock),
      kind_entry("task-clock", EventKind::clock),
  };
  const auto* found = std::find_if(kinds.begin(), kinds.end(),
                                   [&](const auto& entry) { return entry.first == name; });
  return found == kinds.end() ? EventKind::other : found->second;
}

/// Splits at commas, but not at those between the slashes of "cpu/event=0xd1,umask=0x20/". The one
/// slash of "mem:ADDRESS/LENGTH:rw" opens nothing.
std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> events;
  std::string event;
  bool between_slashes = false;
  for (const char character : list) {
    if (character == '/' && !event.starts_with("mem:")) between_slashes = !between_slashes;
    if (character == ',' && !between_slashes) {
      events.push_back(std::exchange(event, {}));
    } else {
      event += character;
    }
  }
  if (between_slashes) {
    throw UsageError(fmt::format("-e {}: a '/' is not closed", list));
  }
  events.push_back(std::move(event));
  return events;
}

/// Where the modifiers begin: behind the last slash of "pmu/terms/u", else behind a last colon that
/// only modifiers follow. "sched:sched_switch" and "mem:0x10:rw" have none.
std::size_t modifiers_begin(std::string_view event) {
  const std::size_t slash = event.rfind('/');
  if (slash != std::string_view::npos && !event.starts_with("mem:")) return slash + 1;
  const std::size_t colon = event.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == event.size() ||
      event.find_first_not_of(kModifiers, colon + 1) != std::string_view::npos) {
    return event.size();
  }
  return colon + 1;
}

/// A period among the terms would be taken instead of the one that is written down.
void refuse_period_terms(std::string_view name) {
  for (const std::string_view term : {"period=", "freq="}) {
    const std::size_t found = name.find(term);
    if (found == std::string_view::npos || found == 0) continue;
    if (name[found - 1] == '/' || name[found - 1] == ',') {
      throw UsageError(fmt::format("-e {}: has {} among its terms; name the period with -c", name,
                                   term.substr(0, term.size() - 1)));
    }
  }
}

RequestedEvent parse_event(std::string_view text) {
  if (text.empty()) throw UsageError("-e: an event has no name");
  if (text.find_first_of("{}") != std::string_view::npos) {
    throw UsageError(fmt::format(
        "-e {}: is a group; events are recorded one at a time, name them without braces", text));
  }
  const std::size_t begin = modifiers_begin(text);
  std::string_view name = text.substr(0, begin);
  if (name.ends_with(':')) name.remove_suffix(1);
  std::string modifiers(text.substr(begin));
  if (modifiers.find('P') != std::string::npos) {
    throw UsageError(fmt::format(
        "-e {}: P leaves the precise level to perf; choose levels with -p instead", text));
  }
  const auto level = std::count(modifiers.begin(), modifiers.end(), 'p');
  if (level > kHighestLevel) {
    throw UsageError(
        fmt::format("-e {}: found {} p, allowed at most {}", text, level, kHighestLevel));
  }
  std::erase(modifiers, 'p');
  refuse_period_terms(name);
  return {.kind = kind_of(name),
          .name = std::string(name),
          .modifiers = std::move(modifiers),
          .own_level = level == 0 ? std::nullopt : std::optional(static_cast<int>(level))};
}

/// Names of PMU events end with a slash, behind which modifiers stand without a colon.
std::string with_modifiers(std::string name, const std::string& modifiers) {
  if (modifiers.empty()) return name;
  const bool pmu = name.find('/') != std::string::npos && !name.starts_with("mem:");
  return name + (pmu ? "" : ":") + modifiers;
}

}  // namespace

std::string RequestedEvent::text() const {
  return with_modifiers(name, modifiers);
}

std::string RequestedEvent::at_level(int level) const {
  return with_modifiers(name, modifiers + std::string(static_cast<std::size_t>(level), 'p'));
}

std::string RequestedEvent::for_perf(int level, const runway::TargetDescription& target) const {
  std::string perf_name = name;
  if (kind == EventKind::access) {
    perf_name =
        fmt::format("mem:{:#x}/{}:rw", target.layout.datum, target.specification.access_bytes);
  } else if (kind == EventKind::execute) {
    perf_name = fmt::format("mem:{:#x}:x", target.layout.trigger.begin);
  } else if (name == "faults") {
    perf_name = "page-faults";
  }
  return with_modifiers(std::move(perf_name),
                        modifiers + std::string(static_cast<std::size_t>(level), 'p'));
}

std::vector<RequestedEvent> parse_events(const std::vector<std::string>& arguments) {
  std::vector<RequestedEvent> events;
  std::set<std::string> seen;
  for (const std::string& argument : arguments) {
    for (const std::string& text : split_list(argument)) {
      RequestedEvent event = parse_event(text);
      if (!seen.insert(event.at_level(event.own_level.value_or(0))).second) {
        throw UsageError(
            fmt::format("-e {}: is named twice; --repeat N records events repeatedly", text));
      }
      events.push_back(std::move(event));
    }
  }
  return events;
}

int parse_level(std::string_view name) {
  for (int level = 0; level <= kHighestLevel; ++level) {
    if (name == level_text(level)) return level;
  }
  throw UsageError(fmt::format("-p {}: found \"{}\", allowed none, p, pp, ppp", name, name));
}

std::string level_text(int level) {
  return level == 0 ? "none" : std::string(static_cast<std::size_t>(level), 'p');
}

}  // namespace skid::commands
