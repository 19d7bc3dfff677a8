// The rule by which the samples of an event are judged.
#pragma once

#include "analysis/not_judged.h"
#include "src/support/address.h"
#include "src/support/names.h"

#include <cstdint>
#include <optional>

namespace skid::locate {
struct LocatedSamples;
}  // namespace skid::locate

namespace skid::measure {
struct RecordedEvent;
}  // namespace skid::measure

namespace skid::audit {

using analysis::NotJudged;

enum class Rule : std::uint8_t {
  none,
  sampled,           ///< the sampled instruction caused the event: levels 2 and 3
  predecessor,       ///< the preceding instruction caused the event: level 1
  data_breakpoint,   ///< x86 traps after the instruction that accessed the datum
  write_breakpoint,  ///< x86 traps after the instruction that wrote the datum
  data_watchpoint,   ///< aarch64 stops before the instruction that accesses the datum
  write_watchpoint,  ///< aarch64 stops before the instruction that writes the datum
  execute_breakpoint,
  page_fault,
};

SKID_WORDS(Rule, {"none", "not judged"}, {"sampled", "the sampled instruction"},
           {"predecessor", "the instruction before the sampled one"},
           {"data_breakpoint", "the instruction before the sampled one has to access memory"},
           {"write_breakpoint", "the instruction before the sampled one has to write to memory"},
           {"data_watchpoint", "the sampled instruction has to access memory"},
           {"write_watchpoint", "the sampled instruction has to write to memory"},
           {"execute_breakpoint", "the sampled address has to be that of the breakpoint"},
           {"page_fault", "the sampled instruction accesses memory, or could not be fetched"})

/// Whether samples are at the instruction after the one that caused them.
constexpr bool expects_next(Rule rule) {
  return rule == Rule::predecessor || rule == Rule::data_breakpoint ||
         rule == Rule::write_breakpoint;
}

struct EventRule {
  Rule rule = Rule::none;
  NotJudged reason = NotJudged::no_core_event;  ///< reason for all samples, if `rule` is none
};

/// Returns the rule for all samples of an event. If the architecture was not recorded, breakpoints
/// are taken for those of x86 until rule_on() is called with the architecture of the file.
EventRule rule_of(const measure::RecordedEvent& event);

/// Returns the rule for code of an architecture: data breakpoints of aarch64 are watchpoints.
Rule rule_on(Rule rule, Arch arch);

/// Why samples are not judged by their CPU mode; NotJudged::none: they are judged. `arch`: the
/// recorded architecture.
NotJudged reason_of_mode(const locate::LocatedSamples& located, std::optional<Arch> arch);

}  // namespace skid::audit
