#include "src/audit/event_rule.h"

#include "src/perfdata/format.h"

#include <array>

namespace skid::audit {
namespace {

using Words = std::pair<std::string_view, std::string_view>;

constexpr std::array<Words, kReasons> kReasonWords{{
    {"no_core_event", "of no core PMU: no instruction causes it, or none is known to"},
    {"unknown_cpu", "no catalogue covers the CPU (see --perfmon)"},
    {"unknown_event", "the catalogue of the CPU does not have the event"},
    {"imprecise", "the CPU cannot record the event precisely, as the catalogue says"},
    {"unknown_precision", "whether the CPU can record the event precisely is not known"},
    {"no_precise_levels", "the core PMUs of Arm have no precise levels, and ignore one"},
    {"unknown_cause", "whether such an instruction can cause the event is not known"},
    {"level_0", "precise level 0 promises nothing"},
    {"not_exact", "no EXACT_IP, though the precise level is 2 or 3"},
    {"kernel", "in kernel mode: kernel code patches itself, so its file does not tell"},
    {"guest", "in a guest, a hypervisor or an unknown mode"},
    {"unmapped", "nothing is known to be mapped there"},
    {"anonymous", "memory without a file"},
    {"no_file", "the file was not found, or is no ELF file"},
    {"refused", "the file has another build-id or architecture than the recorded one"},
    {"no_code", "the file holds no code there"},
    {"architecture", "not code of the recorded architecture, or of one that is not classified"},
    {"not_decoded", "the code does not decode"},
    {"inside_instruction", "not where an instruction of its function begins"},
    {"no_function", "no symbol tells where its function begins"},
    {"no_only_predecessor", "which instruction came before is not certain"},
}};

constexpr std::array<Words, 9> kRuleWords{{
    {"none", "not judged"},
    {"sampled", "the sampled instruction"},
    {"predecessor", "the instruction before the sampled one"},
    {"data_breakpoint", "the instruction before the sampled one has to access memory"},
    {"write_breakpoint", "the instruction before the sampled one has to write to memory"},
    {"data_watchpoint", "the sampled instruction has to access memory"},
    {"write_watchpoint", "the sampled instruction has to write to memory"},
    {"execute_breakpoint", "the sampled address has to be that of the breakpoint"},
    {"page_fault", "the sampled instruction accesses memory, or could not be fetched"},
}};

constexpr std::uint64_t kPageFaults = 2, kMinorFaults = 5, kMajorFaults = 6;
constexpr std::uint32_t kWrite = 2, kExecute = 4;  // HW_BREAKPOINT_W, HW_BREAKPOINT_X

Reason reason_of(measure::CauseGap gap) {
  switch (gap) {
    case measure::CauseGap::unknown_cpu:
      return Reason::unknown_cpu;
    case measure::CauseGap::unknown_event:
      return Reason::unknown_event;
    case measure::CauseGap::unknown_precision:
      return Reason::unknown_precision;
    case measure::CauseGap::imprecise:
      return Reason::imprecise;
    case measure::CauseGap::no_precise_levels:
      return Reason::no_precise_levels;
    case measure::CauseGap::unknown_cause:
    case measure::CauseGap::none:
      return Reason::unknown_cause;
    case measure::CauseGap::no_core_event:
      break;
  }
  return Reason::no_core_event;
}

EventRule rule_of_core_event(const perfdata::Attribute& attribute, measure::CauseGap gap) {
  const bool is_precise = gap == measure::CauseGap::none || gap == measure::CauseGap::unknown_cause;
  if (is_precise && attribute.precise_ip == 0) return {Rule::none, Reason::level_0};
  if (gap != measure::CauseGap::none) return {Rule::none, reason_of(gap)};
  return {attribute.precise_ip == 1 ? Rule::predecessor : Rule::sampled, {}};
}

}  // namespace

std::string_view name_of(Reason reason) {
  return kReasonWords.at(static_cast<std::size_t>(reason)).first;
}

std::string_view describe(Reason reason) {
  return kReasonWords.at(static_cast<std::size_t>(reason)).second;
}

std::string_view name_of(Rule rule) {
  return kRuleWords.at(static_cast<std::size_t>(rule)).first;
}

std::string_view describe(Rule rule) {
  return kRuleWords.at(static_cast<std::size_t>(rule)).second;
}

Rule rule_on(Rule rule, Arch arch) {
  if (arch != Arch::aarch64) return rule;
  if (rule == Rule::data_breakpoint) return Rule::data_watchpoint;
  return rule == Rule::write_breakpoint ? Rule::write_watchpoint : rule;
}

EventRule rule_of(const perfdata::Attribute& attribute, const measure::EventKnowledge& knowledge,
                  std::optional<Arch> arch) {
  if (attribute.type == perfdata::PERF_TYPE_BREAKPOINT) {
    if ((attribute.bp_type & kExecute) != 0) return {Rule::execute_breakpoint, {}};
    const bool writes_only = attribute.bp_type == kWrite;
    return {rule_on(writes_only ? Rule::write_breakpoint : Rule::data_breakpoint,
                    arch.value_or(Arch::x86_64)),
            {}};
  }
  if (attribute.type == perfdata::PERF_TYPE_SOFTWARE &&
      (attribute.config == kPageFaults || attribute.config == kMinorFaults ||
       attribute.config == kMajorFaults)) {
    return {Rule::page_fault, {}};
  }
  return rule_of_core_event(attribute, measure::causes_of(knowledge).gap);
}

}  // namespace skid::audit
