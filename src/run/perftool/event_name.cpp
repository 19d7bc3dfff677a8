#include "src/run/perftool/event_name.h"

#include "runway/specification.h"
#include "runway/target.h"
#include "src/support/address.h"

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

std::string with_counter_values(std::string_view event) {
  EventName name = split_event_name(event);
  if (!has_counter_values(event)) name.modifiers += 'S';
  return join_event_name(name);
}

std::string perf_name_of(const std::string& event, const runway::TargetDescription& target) {
  if (event == "access") {
    return fmt::format("mem:{:#x}/{}:rw", target.layout.datum,
                       runway::watched_bytes(target.specification));
  }
  if (event == "execute") return fmt::format("mem:{:#x}:x", target.layout.trigger.begin);
  return event == "faults" ? "page-faults" : event;
}

std::vector<Term> terms_of(std::string_view event) {
  std::vector<Term> terms;
  take_until('/', event);
  for (std::string_view rest = take_until('/', event); !rest.empty();) {
    const std::string_view text = take_until(',', rest);
    const std::size_t equals = text.find('=');
    Term& term = terms.emplace_back(Term{.text = text, .key = text.substr(0, equals), .value = {}});
    if (equals != std::string_view::npos) term.value = text.substr(equals + 1);
  }
  return terms;
}

std::optional<std::uint64_t> number_of_term(std::string_view event, std::string_view key) {
  const std::vector<Term> terms = terms_of(event);
  const Term* const found = find_by(terms, &Term::key, key);
  return found == nullptr ? std::nullopt : found->number();
}

std::optional<std::vector<std::string>> split_event_list(std::string_view list) {
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
  if (between_slashes) return std::nullopt;
  events.push_back(std::move(event));
  return events;
}

int level_of_modifiers(std::string_view modifiers) {
  return static_cast<int>(std::ranges::count(modifiers, 'p'));
}

}  // namespace skid::perftool
