// The syntax of perf's event strings.
#pragma once

#include "src/support/text.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::runway {
struct TargetDescription;
}  // namespace skid::runway

namespace skid::perftool {

/// The parts of an event string: "cycles:upp" is {"cycles", "upp"}, "cpu/event=0xd1/pp" is
/// {"cpu/event=0xd1/", "pp"}, "mem:0x10/8:rw:p" is {"mem:0x10/8:rw", "p"}.
struct EventName {
  std::string name;
  std::string modifiers;
};

/// Splits an event string. A last colon that more than modifiers follow belongs to the name:
/// "sched:sched_switch".
EventName split_event_name(std::string_view event);

/// Joins the parts of an event string: "cycles" and "u" to "cycles:u"; without a colon after a
/// slash.
inline std::string join_event_name(const EventName& event) {
  if (event.modifiers.empty()) return event.name;
  return event.name + (event.name.ends_with('/') ? "" : ":") + event.modifiers;
}

/// Joins "r20d1:upp" from a name, its modifiers without p, and a precise level.
inline std::string event_at_level(const std::string& name, const std::string& modifiers,
                                  int level) {
  return join_event_name({name, modifiers + std::string(static_cast<std::size_t>(level), 'p')});
}

/// Adds the modifier S to an event: its samples contain the value of its counter
/// (PERF_SAMPLE_READ).
std::string with_counter_values(std::string_view event);

/// Whether an event has the modifier S.
inline bool has_counter_values(std::string_view event) {
  return contains(split_event_name(event).modifiers, 'S');
}

/// Returns perf's name of a built-in event on this target: "mem:0x403000/8:rw" for "access",
/// "mem:0x401010:x" for "execute", "page-faults" for "faults". Other names are returned unchanged.
std::string perf_name_of(const std::string& event, const runway::TargetDescription& target);

/// A term of a PMU's event.
struct Term {
  std::string_view text, key;
  std::optional<std::string_view> value;
  /// Returns the value as a number, without one 1; nullopt: it is no number.
  std::optional<std::uint64_t> number() const {
    return value ? decimal_or_hexadecimal<std::uint64_t>(*value) : 1;
  }
};

/// Splits the terms of "pmu/term=value,term/u"; none for events of another form. They refer to
/// `event`.
std::vector<Term> terms_of(std::string_view event);

/// Returns the number of a term of "pmu/term=value/u"; nullopt: the event does not have it.
std::optional<std::uint64_t> number_of_term(std::string_view event, std::string_view key);

/// Splits an argument of -e at its commas, but not at those between the slashes of
/// "cpu/event=0xd1,umask=0x20/". nullopt: a slash is not closed.
std::optional<std::vector<std::string>> split_event_list(std::string_view list);

/// Returns the precise level of modifiers: the number of p's, without limit.
int level_of_modifiers(std::string_view modifiers);

/// Whether perf chooses the level of an event string (modifier P): the highest that works.
inline bool leaves_level_to_perf(std::string_view event) {
  return contains(split_event_name(event).modifiers, 'P');
}

}  // namespace skid::perftool
