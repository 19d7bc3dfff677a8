#include "src/record/requested_event.h"

#include "src/perftool/event_syntax.h"
#include "src/support/error.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace skid::record {

namespace {

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
  auto [name, modifiers] = perftool::split_event_name(text);
  if (modifiers.find('P') != std::string::npos) {
    throw UsageError(fmt::format(
        "-e {}: P leaves the precise level to perf; choose levels with -p instead", text));
  }
  const int level = perftool::level_of_modifiers(modifiers);
  if (level > kHighestLevel) {
    throw UsageError(
        fmt::format("-e {}: has {} p; expected at most {}", text, level, kHighestLevel));
  }
  std::erase(modifiers, 'p');
  refuse_period_terms(name);
  return {.kind = kind_of(name),
          .name = std::move(name),
          .modifiers = std::move(modifiers),
          .own_level = level == 0 ? std::nullopt : std::optional(level)};
}

}  // namespace

std::string RequestedEvent::text() const {
  return perftool::join_event_name({name, modifiers});
}

std::string RequestedEvent::at_level(int level) const {
  return perftool::join_event_name(
      {name, modifiers + std::string(static_cast<std::size_t>(level), 'p')});
}

std::string RequestedEvent::for_perf(int level, const runway::TargetDescription& target) const {
  std::string told = perf_name.empty() ? name : perf_name;
  if (kind == EventKind::access) {
    told = fmt::format("mem:{:#x}/{}:rw", target.layout.datum,
                       runway::watched_bytes(target.specification));
  } else if (kind == EventKind::execute) {
    told = fmt::format("mem:{:#x}:x", target.layout.trigger.begin);
  } else if (name == "faults") {
    told = "page-faults";
  }
  return perftool::join_event_name(
      {std::move(told), modifiers + std::string(static_cast<std::size_t>(level), 'p')});
}

std::vector<RequestedEvent> parse_events(const std::vector<std::string>& arguments) {
  std::vector<RequestedEvent> events;
  std::set<std::string> seen;
  for (const std::string& argument : arguments) {
    for (const std::string& text : perftool::split_event_list(argument)) {
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
  throw UsageError(
      fmt::format("-p {}: \"{}\" is not a precise level; expected none, p, pp, ppp", name, name));
}

std::string level_text(int level) {
  return level == 0 ? "none" : std::string(static_cast<std::size_t>(level), 'p');
}

}  // namespace skid::record
