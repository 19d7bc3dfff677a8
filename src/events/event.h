// An event, with what is known of it, and what it counts.
#pragma once

#include "src/events/cpu.h"
#include "src/instructions/counted.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::events {

struct Event {
  std::string name = {};                  ///< "LONGEST_LAT_CACHE.MISS"; from a file: not escaped
  std::string description = {};           ///< may be empty; from a file: not escaped
  std::string pmu = "cpu";                ///< as perf and sysfs name it
  std::uint64_t config = 0, config1 = 0;  ///< of perf_event_attr
  std::string source = {};                ///< "Intel's event file skylake V59", "libpfm4, skl"
  std::optional<bool> precise = {};       ///< nullopt: unknown
  std::string precise_source = {};   ///< "intel", "libpfm4", "perfmon", "kernel"; empty: unknown
  std::optional<bool> data_la = {};  ///< a precise record has the data address; nullopt: unknown
  /// Counters with precise distribution, 32 for fixed counter 0; nullopt: not stated.
  std::optional<std::vector<int>> pdist = {};
  std::vector<std::string> aliases = {};  ///< other names of the same event
  std::vector<std::string> errata = {};   ///< ids that an event file has; not escaped
  bool deprecated = false;
};

using instructions::Counted;

/// By the event's name or one of its aliases; a code with modifiers (cmask, inv) that no name has
/// is `other`.
Counted counted_by(const Cpu& cpu, const Event& event);

/// The instructions of which each causes one such event whenever it retires: `instructions`,
/// `loads`, `stores`, `branches`, `conditional_branches` (taken or not), or `taken_branches`, of
/// which only jumps that are always taken are certain. Calls and returns alone are not among them:
/// no two are in one block of code without another call.
///
/// By the name of an event of Intel's, or one of its aliases: those that the vendor defines as
/// counts of retired instructions, and not of uops, hits, misses, mispredictions, latencies or
/// outcomes. nullopt for all others, for other vendors, and for a code with modifiers (cmask, inv,
/// edge), which no name has.
std::optional<Counted> caused_once_by(const Cpu& cpu, const Event& event);

/// What a generic event of perf counts on any CPU, by the name that perf gives it.
Counted counted_by_generic(std::string_view name);

/// How directly an event represents what it counts, best first: of two events that count the same,
/// the one with the lower number is the one to take.
int preference(const Cpu& cpu, const Event& event);

}  // namespace skid::events
