// The syntax of perf's event strings: lists, names, modifiers.
#pragma once

#include "runway/target.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skid::perftool {

/// The parts of an event string: "cycles:upp" is {"cycles", "upp"}, "cpu/event=0xd1/pp" is
/// {"cpu/event=0xd1/", "pp"}, "mem:0x10/8:rw:p" is {"mem:0x10/8:rw", "p"}.
struct EventName {
  std::string name;
  std::string modifiers;
};

/// A last colon that more than modifiers follow belongs to the name: "sched:sched_switch".
EventName split_event_name(std::string_view event);

/// The reverse: "cycles" and "u" to "cycles:u"; without a colon after a slash.
std::string join_event_name(const EventName& event);

/// "r20d1:upp" of a name, its modifiers without p, and a precise level.
std::string event_at_level(const std::string& name, const std::string& modifiers, int level);

/// The event with the modifier S: its samples contain the value of its counter (PERF_SAMPLE_READ).
std::string with_counter_values(std::string_view event);

/// Whether it has that modifier.
bool has_counter_values(std::string_view event);

/// A built-in event as perf has it on this target: "mem:0x403000/8:rw" for "access",
/// "mem:0x401010:x" for "execute", "page-faults" for "faults". Other names as they are.
std::string perf_name_of(const std::string& event, const runway::TargetDescription& target);

/// Splits an argument of -e at its commas, but not at those between the slashes of
/// "cpu/event=0xd1,umask=0x20/". Throws UsageError when a slash is not closed.
std::vector<std::string> split_event_list(std::string_view list);

/// The precise level of modifiers: the number of p's, without limit.
int level_of_modifiers(std::string_view modifiers);

/// Whether the level of an event string is left to perf (modifier P), which takes the highest that
/// works.
bool leaves_level_to_perf(std::string_view event);

/// An event that perf itself has a name for (perf list hw sw), as perf_event_attr encodes it.
struct GenericEvent {
  std::string_view name;
  std::uint32_t type;
  std::uint64_t config;
};

/// By its name or an alias of it; null for other events.
const GenericEvent* find_generic_event(std::string_view name);

/// perf's first name for an event of PERF_TYPE_HARDWARE; empty for an unknown one. The upper half
/// of `config`, which is the PMU's number on hybrid machines, is ignored.
std::string_view generic_hardware_name(std::uint64_t config);

}  // namespace skid::perftool
