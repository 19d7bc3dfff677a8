// The syntax of perf's event strings: lists, names, modifiers.
#pragma once

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

/// Splits an argument of -e at its commas, but not at those between the slashes of
/// "cpu/event=0xd1,umask=0x20/". Throws UsageError when a slash is not closed.
std::vector<std::string> split_event_list(std::string_view list);

/// The precise level of modifiers: the number of p's, without limit.
int level_of_modifiers(std::string_view modifiers);

}  // namespace skid::perftool
