// By which rule the samples of an event are held against the instructions that they are at.
#pragma once

#include "analysis/not_judged.h"
#include "src/measure/event_knowledge.h"
#include "src/perfdata/attribute.h"
#include "src/support/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace skid::audit {

using analysis::NotJudged;

enum class Rule : std::uint8_t {
  none,
  sampled,           ///< the sampled instruction caused the event: levels 2 and 3
  predecessor,       ///< the one in front of it did: level 1
  data_breakpoint,   ///< x86 traps behind the instruction that touched the datum
  write_breakpoint,  ///< the same of one that only writes trigger
  data_watchpoint,   ///< aarch64 stops in front of the instruction that is to touch the datum
  write_watchpoint,  ///< the same of one that only writes trigger
  execute_breakpoint,
  page_fault,
};

std::string_view name_of(Rule rule);
std::string_view describe(Rule rule);

struct EventRule {
  Rule rule = Rule::none;
  NotJudged reason = NotJudged::no_core_event;  ///< of all samples, where `rule` is none
};

/// What holds for all samples of an event. `arch`: that was recorded; nullopt where the recording
/// does not tell, and breakpoints are taken for those of x86 until `rule_on` knows better.
EventRule rule_of(const perfdata::Attribute& attribute, const measure::EventKnowledge& knowledge,
                  std::optional<Arch> arch);

/// A rule on code of an architecture: what a breakpoint on data is called there.
Rule rule_on(Rule rule, Arch arch);

}  // namespace skid::audit
