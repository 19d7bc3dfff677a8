#include "src/audit/rule.h"

#include "src/locate/located_counts.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/format.h"
#include "src/perfdata/sample_kind.h"

#include <string>

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
namespace skid::audit {
namespace {

EventRule rule_of_core_event(const perfdata::Attribute& attribute, NotJudged reason) {
  // The interrupt took samples of level 0, whatever else is not known. Arm has no other level.
  const bool has_levels =
      reason != NotJudged::no_core_event && reason != NotJudged::no_precise_levels;
  if (has_levels && attribute.precise_ip == 0) return {Rule::none, NotJudged::level_0};
  // The kernel samples cycles at a precise level by an event that the CPU is precise for
  // (x86_pmu.pebs_aliases).
  if (reason == NotJudged::imprecise && measure::is_generic_cycles(attribute)) {
    return {Rule::none, NotJudged::every_instruction};
  }
  if (reason != NotJudged::none) return {Rule::none, reason};
  return {attribute.precise_ip == 1 ? Rule::predecessor : Rule::sampled, {}};
}

}  // namespace

Rule rule_on(Rule rule, Arch arch) {
  if (arch != Arch::aarch64) return rule;
  if (rule == Rule::data_breakpoint) return Rule::data_watchpoint;
  return rule == Rule::write_breakpoint ? Rule::write_watchpoint : rule;
}

EventRule rule_of(const measure::RecordedEvent& event) {
  const perfdata::Attribute& attribute = event.attribute;
  if (attribute.type == PERF_TYPE_BREAKPOINT) {
    if ((attribute.bp_type & HW_BREAKPOINT_X) != 0) return {Rule::execute_breakpoint, {}};
    const bool writes_only = attribute.bp_type == HW_BREAKPOINT_W;
    return {rule_on(writes_only ? Rule::write_breakpoint : Rule::data_breakpoint,
                    arch_of_kernel(event.machine.cpu.arch).value_or(Arch::x86_64)),
            {}};
  }
  if (measure::is_page_fault(attribute)) return {Rule::page_fault, {}};
  if (measure::is_clock(attribute)) return {Rule::none, NotJudged::timer};
  if (measure::is_spe(event) || measure::is_ibs(event)) {
    return {Rule::none, measure::tags_any_operation(event.pmu_name, attribute)
                            ? NotJudged::every_instruction
                            : NotJudged::unknown_cause};
  }
  return rule_of_core_event(attribute, event.unknown_causes);
}

NotJudged reason_of_mode(const locate::LocatedSamples& located, std::optional<Arch> arch) {
  const perfdata::CpuMode mode = located.kind.mode();
  const bool is_kernel = mode == perfdata::CpuMode::kernel;
  if (!is_kernel && mode != perfdata::CpuMode::user) return NotJudged::guest;
  if (!located.location && locate::is_near_zero(located.ip)) return NotJudged::no_address;
  // Bit 63 is set in the kernel's addresses alone, of x86-64 and aarch64. User addresses that are
  // mapped are 0 here.
  const bool is_upper = located.ip >> 63 != 0;
  const bool is_known =
      arch && !locate::is_of_vsyscall(located.ip) && (is_kernel || !located.location);
  if (is_known && is_kernel != is_upper) return NotJudged::mode_contradicts_address;
  return is_kernel ? NotJudged::kernel : NotJudged::none;
}

}  // namespace skid::audit
