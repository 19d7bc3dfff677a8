// The events that `record -e` takes: perf's, and the built-in ones whose skid is known.
#pragma once

#include "runway/target.h"
#include "src/machine/machine.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::record {

/// The kind of an event, which decides how it is recorded.
enum class EventKind {
  access,   ///< data breakpoint on the watched datum
  execute,  ///< execute breakpoint on the trigger
  faults,   ///< page faults
  clock,    ///< timers, whose period is in nanoseconds
  other,    ///< everything else that perf knows
};

/// A requested event, split so that a precise level can be inserted.
struct RequestedEvent {
  EventKind kind = EventKind::other;
  std::string name;              ///< "access", "cycles", "cpu/event=0xd1,umask=0x20/"
  std::string modifiers;         ///< perf's, without the precise level: "u"
  std::optional<int> own_level;  ///< of an event that came with p's
  std::string perf_name = {};    ///< its name for perf; empty: `name`

  /// Whether perf chooses the level, by the modifier P: the highest that the kernel takes.
  bool perf_picks_level() const { return modifiers.find('P') != std::string::npos; }
  /// As requested, without a level: "cycles:u".
  std::string text() const;
  /// As requested, at a level: "cycles:upp", "cpu/event=0xd1,umask=0x20/upp".
  std::string at_level(int level) const;
  /// As perf's -e takes it on this target: "mem:0x403000/8:rw:upp".
  std::string for_perf(int level, const runway::TargetDescription& target) const;
};

/// Takes the values of -e apart, each one event or a list with commas. Throws UsageError for a text
/// that is no single event, for `P` beside p, and for one event named twice.
std::vector<RequestedEvent> parse_events(const std::vector<std::string>& arguments);

/// "none", "p", "pp", "ppp" to 0 to 3. Throws UsageError.
int parse_level(std::string_view name);

}  // namespace skid::record
