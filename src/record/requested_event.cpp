#include "src/machine/machine.h"
#include "src/record/choice.h"
#include "src/run/perftool/event_name.h"
#include "src/support/error.h"
#include "src/support/text.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::record {
namespace {

EventKind kind_of(std::string_view name) {
  if (name == "access") return EventKind::access;
  if (name == "execute") return EventKind::execute;
  if (name == "cpu-clock" || name == "task-clock") return EventKind::clock;
  for (const std::string_view faults : {"faults", "page-faults", "minor-faults"}) {
    if (name == faults) return EventKind::faults;
  }
  return EventKind::other;
}

/// A period among the terms would be taken instead of the one that is written down.
void refuse_period_terms(std::string_view name) {
  for (const perftool::Term& term : perftool::terms_of(name)) {
    if (term.key == "period" || term.key == "freq") {
      throw ValueError("{}: has {} among its terms; name the period with -c", name, term.key);
    }
  }
}

RequestedEvent parse_event(std::string_view text) {
  if (text.empty()) throw ValueError("an event has no name");
  if (text.find_first_of("{}") != std::string_view::npos) {
    throw ValueError("{}: is a group; events are recorded one at a time, name them without braces",
                     text);
  }
  auto [name, modifiers] = perftool::split_event_name(text);
  const int level = perftool::level_of_modifiers(modifiers);
  if (level > machine::kHighestLevel) {
    throw ValueError("{}: has {} p; expected at most {}", text, level, machine::kHighestLevel);
  }
  if (level > 0 && contains(modifiers, 'P')) {
    throw ValueError("{}: has p and P; P leaves the precise level to perf, leave one out", text);
  }
  std::erase(modifiers, 'p');
  refuse_period_terms(name);
  return {.kind = kind_of(name),
          .name = std::move(name),
          .modifiers = std::move(modifiers),
          .own_level = level == 0 ? std::nullopt : std::optional(level)};
}

}  // namespace

std::vector<RequestedEvent> parse_events(const std::vector<std::string>& arguments) {
  std::vector<RequestedEvent> events;
  std::set<std::string> seen;
  for (const std::string& argument : arguments) {
    const auto list = perftool::split_event_list(argument);
    if (!list) throw ValueError("{}: a '/' is not closed", argument);
    for (const std::string& text : *list) {
      RequestedEvent event = parse_event(text);
      if (!seen.insert(event.at_level(event.own_level.value_or(0))).second) {
        throw ValueError(
            "{}: is named twice; expected each event once; repetitions record all events again",
            text);
      }
      events.push_back(std::move(event));
    }
  }
  return events;
}

}  // namespace skid::record
