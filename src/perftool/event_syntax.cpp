#include "src/perftool/event_syntax.h"

#include "src/support/error.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace skid::perftool {
namespace {

/// The letters of an event's modifiers in tools/perf/util/parse-events.l, later additions included.
constexpr std::string_view kModifiers = "ukhpPGHSDIWebRX";

/// The one slash of "mem:ADDRESS/LENGTH:rw" opens no terms.
bool is_breakpoint(std::string_view event) {
  return event.starts_with("mem:");
}

bool all_modifiers(std::string_view text) {
  return text.find_first_not_of(kModifiers) == std::string_view::npos;
}

}  // namespace

EventName split_event_name(std::string_view event) {
  const auto slash = event.rfind('/');
  if (slash != std::string_view::npos && !is_breakpoint(event)) {
    auto modifiers = event.substr(slash + 1);
    if (modifiers.starts_with(':')) modifiers.remove_prefix(1);
    if (all_modifiers(modifiers)) {
      return {std::string(event.substr(0, slash + 1)), std::string(modifiers)};
    }
    return {std::string(event), {}};
  }
  const auto colon = event.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == event.size() ||
      !all_modifiers(event.substr(colon + 1))) {
    return {std::string(event), {}};
  }
  return {std::string(event.substr(0, colon)), std::string(event.substr(colon + 1))};
}

std::string join_event_name(const EventName& event) {
  if (event.modifiers.empty()) return event.name;
  return event.name + (event.name.ends_with('/') ? "" : ":") + event.modifiers;
}

std::vector<std::string> split_event_list(std::string_view list) {
  std::vector<std::string> events;
  std::string event;
  bool between_slashes = false;
  for (const char character : list) {
    if (character == '/' && !is_breakpoint(event)) between_slashes = !between_slashes;
    if (character == ',' && !between_slashes) {
      events.push_back(std::exchange(event, {}));
    } else {
      event += character;
    }
  }
  if (between_slashes) throw UsageError(fmt::format("-e {}: a '/' is not closed", list));
  events.push_back(std::move(event));
  return events;
}

int level_of_modifiers(std::string_view modifiers) {
  return static_cast<int>(std::count(modifiers.begin(), modifiers.end(), 'p'));
}

}  // namespace skid::perftool
