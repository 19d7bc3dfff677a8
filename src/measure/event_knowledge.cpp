#include "src/measure/event_knowledge.h"

#include "analysis/classified.h"
#include "runway/kinds/kind.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/trigger.h"
#include "src/events/catalogue.h"
#include "src/events/causes.h"
#include "src/events/counted.h"
#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/events/kernel_rules.h"
#include "src/events/perf_names.h"
#include "src/instructions/counted.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/sampling_support.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/generic_event.h"
#include "src/run/run.h"
#include "src/support/address.h"
#include "src/support/precise_level.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

namespace skid::measure {

namespace {

using analysis::NotJudged;
using perfdata::Attribute;

/// perf's x86 cpuid string is "vendor,family,model,stepping", decimal; Arm's is MIDR_EL1 in
/// hexadecimal.
void read_cpuid(std::string_view cpuid, machine::CpuIdentity& cpu) {
  if (const auto midr = machine::parse_midr(cpuid)) {
    cpu.vendor = fmt::format("{:#04x}", midr->implementer);
    cpu.model = static_cast<int>(midr->part);
    cpu.stepping = static_cast<int>(midr->revision);
    return;
  }
  std::array<std::string_view, 4> parts;
  std::size_t count = 0;
  while (count < parts.size() && !cpuid.empty()) parts[count++] = take_until(',', cpuid);
  if (count != parts.size()) return;
  cpu.vendor = parts[0];
  cpu.family = whole_number<int>(parts[1]);
  cpu.model = whole_number<int>(parts[2]);
  cpu.stepping = whole_number<int>(parts[3]);
}

/// The PMUs of Arm's cores ("armv8_pmuv3_0", "armv9_cortex_a510") and of those that Apple makes.
bool is_arm_core(std::string_view pmu_name) {
  return pmu_name.starts_with("armv") ||
         (pmu_name.starts_with("apple_") && pmu_name.ends_with("_pmu"));
}

/// A fleet has a few kinds of CPUs; inputs that are made up could have any number.
constexpr std::size_t kMostKnown = 32;

/// Events that every instruction, or every cycle of every instruction, causes.
bool counts_every_instruction(const RecordedEvent& event) {
  if (events::samples_any_instruction(event.counted)) return true;
  const Attribute& attribute = event.attribute;
  const std::string_view pmu_name = event.pmu_name;
  if (attribute.type == PERF_TYPE_HARDWARE) {
    const auto config = generic_config(attribute);
    return config == 0 || config == 1 || config == 6 || config == 7 || config == 8 || config == 9;
  }
  if (pmu_name.starts_with("arm_spe")) return true;
  if (pmu_name.starts_with("ibs_")) return tags_any_operation(pmu_name, attribute);
  const bool is_arm = is_of_arm(event);
  const bool is_core = attribute.type == PERF_TYPE_RAW || pmu_name.starts_with("cpu") || is_arm;
  if (!is_core) return false;
  const std::uint64_t code = attribute.config & 0xffff;
  if (is_arm) {
    // Arm's common events (PMUv3): INST_RETIRED, CPU_CYCLES, INST_SPEC, BUS_CYCLES, STALL_FRONTEND
    // and STALL_BACKEND, OP_RETIRED, OP_SPEC, STALL and its slots, CNT_CYCLES.
    constexpr std::array<std::uint64_t, 13> kOfArm = {0x08, 0x11, 0x1b, 0x1d, 0x23, 0x24,  0x3a,
                                                      0x3b, 0x3c, 0x3d, 0x3e, 0x3f, 0x4004};
    return std::ranges::find(kOfArm, code) != kOfArm.end();
  }
  // Event codes (umask 0) of unhalted cycles and retired instructions or micro-ops: Intel 0x3c,
  // 0xc0; AMD 0x76, 0xc0, 0xc1. The code of one vendor counts nothing alike on the other, so that
  // only the vendor's own recordings hold it.
  constexpr std::array<std::uint64_t, 4> kOfX86 = {0x3c, 0xc0, 0xc1, 0x76};
  return std::ranges::find(kOfX86, code) != kOfX86.end();
}

/// Whether it is known what an event counts, and that the trigger does not cause it: then its
/// samples are of the rest of the loop.
bool is_of_other_instructions(const RecordedEvent& event, runway::TriggerKind trigger) {
  if (event.counted == events::Counted::other) return false;
  if (!event.entry) return !runway::kind_of(trigger).causes(event.counted);
  return verdict_on(*event.entry, trigger) == events::Verdict::never;
}

/// For breakpoints and page faults: the target's own are judged if it is known where they are
/// sampled.
NotJudged of_built_in(const Attribute& attribute, const runway::TargetDescription* target) {
  if (target == nullptr) return NotJudged::none;
  const auto builtin = builtin_event_of(attribute, *target);
  if (!builtin) return NotJudged::not_caused;
  const auto* expected = target->expectation_of(*builtin);
  return expected != nullptr && !expected->offset ? NotJudged::not_caused : NotJudged::none;
}

/// Whether the trigger causes the event, and no other instruction of the loop can.
NotJudged of_loop(const RecordedEvent& event, const LoopCategories& loop) {
  using events::Verdict;
  // Interrupts can cause it as well, at any instruction (src/events/causes.cpp).
  const bool counts_trigger = event.counted != events::Counted::other;
  const Verdict trigger = verdict_on(event.causes, loop.trigger),
                others = verdict_on(event.causes, loop.others);
  if (trigger == Verdict::never) return NotJudged::not_caused;
  if (others < Verdict::unknown) return NotJudged::other_causes;
  const bool is_known = counts_trigger || (trigger < Verdict::unknown && others == Verdict::never);
  return is_known ? NotJudged::none : NotJudged::unknown_cause;
}

/// Fills in the causes of an event, or why they are not known.
void find_causes(RecordedEvent& event) {
  const auto reason = [&] {
    if (!is_core_event(event)) return NotJudged::no_core_event;
    if (is_of_arm(event)) return NotJudged::no_precise_levels;
    if (event.machine.cpu.vendor.empty()) return NotJudged::unrecorded_cpu;
    if (event.catalogue.empty()) return NotJudged::unknown_cpu;
    if (!event.entry) return NotJudged::unknown_event;
    if (!event.entry->precise) return NotJudged::unknown_precision;
    if (event.imprecise()) return NotJudged::imprecise;
    event.causes = events::causes_of(*event.entry);
    const bool is_known = std::ranges::any_of(event.causes, [](const events::Cause& cause) {
      return cause.verdict != events::Verdict::unknown;
    });
    if (is_known) return NotJudged::none;
    event.causes.clear();
    return NotJudged::unknown_cause;
  };
  event.unknown_causes = reason();
}

/// Returns where the samples of an event are, seen from the instruction that caused it. Events that
/// any instruction causes, timers, and events of other PMUs have no interrupt after a trigger.
analysis::Landing landing_of(const RecordedEvent& event) {
  using analysis::Landing;
  const unsigned level = event.attribute.precise_ip;
  const bool is_interrupted = is_core_event(event) && (level == 0 || is_of_arm(event));
  if (!is_interrupted) return level == kConstantSkid ? Landing::next_executed : Landing::at_cause;
  return counts_every_instruction(event) ? Landing::at_cause : Landing::interrupted;
}

/// Finds the entry of a core event in a catalogue. A hybrid CPU has one for each core type: an
/// event without a PMU is of the performance cores, which are first.
std::optional<events::Event> find_entry(const events::Catalogue& catalogue,
                                        const RecordedEvent& event) {
  std::vector<events::Event> found;
  if (event.attribute.type == PERF_TYPE_HW_CACHE) {
    found = catalogue.find_cache_event(event.attribute.config);
  } else if (event.code) {
    const bool is_generic = event.attribute.type == PERF_TYPE_HARDWARE;
    found = catalogue.find_code(*event.code, is_generic ? 0 : event.attribute.config1);
  }
  if (const auto* of_pmu = find_by(found, &events::Event::pmu, event.pmu_name)) return *of_pmu;
  if (found.empty() || event.pmu_name.starts_with("cpu_")) return std::nullopt;
  return found.front();
}

}  // namespace

machine::Machine recorded_machine(const perfdata::Features& features, const run::Run* run) {
  if (run != nullptr) return run->machine;
  machine::Machine machine;
  machine.cpu.arch = features.arch;
  machine.cpu.model_name = features.cpu_description;
  read_cpuid(features.cpuid, machine.cpu);
  machine.kernel = features.os_release;
  if (const auto& cores = features.cores; !cores.empty()) {
    machine.smt_active = std::ranges::any_of(cores, [](const std::string& cpus) {
      return cpus.find_first_of(",-") != std::string::npos;
    });
  }
  return machine;
}

bool is_core_event(const Attribute& attribute, std::string_view pmu_name) {
  const bool is_named = attribute.type > PERF_TYPE_BREAKPOINT;  // by the numbers of sysfs
  return attribute.type == PERF_TYPE_HARDWARE || attribute.type == PERF_TYPE_HW_CACHE ||
         attribute.type == PERF_TYPE_RAW ||
         (is_named && (pmu_name == "cpu" || pmu_name.starts_with("cpu_") || is_arm_core(pmu_name)));
}

bool is_core_event(const RecordedEvent& event) {
  return is_core_event(event.attribute, event.pmu_name);
}

bool is_of_arm(const RecordedEvent& event) {
  return is_core_event(event) && (events::is_arm(event.machine.cpu) || is_arm_core(event.pmu_name));
}

bool counts_cycles(const RecordedEvent& event) {
  const auto cycles = events::generic_event(events::layout_of(event.machine.cpu), "cycles");
  return event.code && event.code == cycles;
}

std::string RecordedCpu::catalogue_name() const {
  if (!looked_up_) return "no catalogue of events was needed";
  if (!catalogue_) return "no catalogue of events covers the CPU";
  return fmt::format("events of {}", catalogue_->cpu().catalogue());
}

void RecordedCpu::look_up(RecordedEvent& event) {
  const Attribute& attribute = event.attribute;
  if (is_core_event(event)) {
    if (!std::exchange(looked_up_, true)) {
      catalogue_ = catalogues_ ? catalogues_->of(machine_) : Catalogues().of(machine_);
    }
    event.code = events::code_of(events::layout_of(machine_.cpu), attribute.type, attribute.config);
    event.counted =
        events::counted_by_generic(perfdata::generic_name(attribute.type, attribute.config));
    if (catalogue_) {
      event.catalogue = catalogue_->cpu().catalogue();
      event.entry = find_entry(*catalogue_, event);
    }
    if (event.entry) {
      event.code = event.entry->config;
      if (!event.entry->source.empty()) event.catalogue = event.entry->source;
      event.counted = events::counted_by(*event.entry);
    }
  }
  find_causes(event);
  event.landing = landing_of(event);
}

std::shared_ptr<const events::Catalogue> Catalogues::of(const machine::Machine& machine) {
  // A catalogue depends on nothing else of the machine.
  std::pair key(machine.cpu, machine.core_pmus.empty() ? "" : machine.core_pmus.front().name);
  key.first.microcode.clear();
  key.first.hypervisor.reset();
  const std::scoped_lock lock(mutex_);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  std::shared_ptr<const events::Catalogue> made;
  if (perfmon_.empty()) {
    if (auto catalogue = events::find_catalogue(machine)) {
      made = std::make_shared<const events::Catalogue>(std::move(*catalogue));
    }
  } else {
    made = std::make_shared<const events::Catalogue>(
        events::open_catalogue({.cpu = {}, .perfmon = perfmon_}, machine));
  }
  if (known_.size() >= kMostKnown) known_.clear();
  known_.emplace(std::move(key), made);
  return made;
}

bool tags_any_operation(std::string_view pmu_name, const Attribute& attribute) {
  if (pmu_name.starts_with("arm_spe")) {
    // branch_filter, load_filter and store_filter; event_filter; min_latency
    constexpr std::uint64_t kTypes = std::uint64_t{7} << 32U;
    return ((attribute.config & kTypes) | attribute.config1 | attribute.config2) == 0;
  }
  constexpr std::uint64_t kFetchL3MissOnly = std::uint64_t{1} << 59U;
  const bool of_misses =
      (pmu_name == "ibs_op" && (attribute.config & events::kIbsOpL3MissOnly) != 0) ||
      (pmu_name == "ibs_fetch" && (attribute.config & kFetchL3MissOnly) != 0);
  return !of_misses && (!pmu_name.starts_with("ibs_") || attribute.config1 == 0);
}

bool is_clock(const Attribute& attribute) {
  return attribute.type == PERF_TYPE_SOFTWARE && (attribute.config == PERF_COUNT_SW_CPU_CLOCK ||
                                                  attribute.config == PERF_COUNT_SW_TASK_CLOCK);
}

bool is_page_fault(const Attribute& attribute) {
  return attribute.type == PERF_TYPE_SOFTWARE &&
         (attribute.config == PERF_COUNT_SW_PAGE_FAULTS ||
          attribute.config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
          attribute.config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

std::uint64_t generic_config(const Attribute& attribute) {
  return attribute.config & 0xffff'ffffu;
}

bool is_generic_cycles(const Attribute& attribute) {
  return attribute.type == PERF_TYPE_HARDWARE && generic_config(attribute) == 0;
}

std::optional<std::string> builtin_event_of(const Attribute& attribute,
                                            const runway::TargetDescription& target) {
  if (is_page_fault(attribute) && attribute.config != PERF_COUNT_SW_PAGE_FAULTS_MAJ)
    return "faults";
  if (attribute.type != PERF_TYPE_BREAKPOINT) return std::nullopt;
  if ((attribute.bp_type & HW_BREAKPOINT_X) != 0) {
    if (attribute.config1 == target.layout.trigger.begin) return "execute";
  } else if (attribute.config1 == target.layout.datum) {
    return "access";
  }
  return std::nullopt;
}

bool triggers_are_equal(const RecordedEvent& event, const runway::TargetDescription& target) {
  if (event.entry) {
    // The trigger must be known to cause each event once if level 3 distributes samples as the
    // events are.
    if (event.attribute.precise_ip == 3 && events::has_precise_distribution(*event.entry)) {
      return events::caused_once_by(*event.entry).has_value();
    }
    const auto* effect = runway::kind_of(target.specification.trigger).effect_on(event.counted);
    return effect == nullptr ? event.counted != events::Counted::other
                             : effect->each == 1 && effect->by_trigger == events::Verdict::can;
  }
  const auto builtin = builtin_event_of(event.attribute, target);
  return builtin != "execute" &&
         (builtin != "access" || runway::elements_of(target.specification) == 0);
}

NotJudged reason_not_judged(const RecordedEvent& event, const runway::TargetDescription* target,
                            const LoopCategories& loop) {
  const Attribute& attribute = event.attribute;
  if (is_clock(attribute)) return NotJudged::timer;
  if (counts_every_instruction(event)) return NotJudged::every_instruction;
  if (attribute.type == PERF_TYPE_BREAKPOINT || is_page_fault(attribute)) {
    return of_built_in(attribute, target);
  }
  const NotJudged reason = event.unknown_causes;
  if (reason == NotJudged::no_precise_levels || reason == NotJudged::imprecise) return reason;
  // Level 0 allows arbitrary skid: whether the CPU is more precise does not matter.
  const bool is_known = reason == NotJudged::none;
  if (!is_known && (attribute.precise_ip > 0 || reason == NotJudged::no_core_event)) return reason;
  if (target == nullptr) return NotJudged::none;
  if (is_of_other_instructions(event, target->specification.trigger)) return NotJudged::not_caused;
  return is_known ? of_loop(event, loop) : NotJudged::none;
}

std::string remark_on(const RecordedEvent& event, NotJudged not_judged) {
  if (is_of_arm(event) && event.attribute.precise_ip > 0 &&
      not_judged == NotJudged::every_instruction) {
    return std::string(describe(NotJudged::no_precise_levels));
  }
  const bool is_catalogue =
      not_judged == NotJudged::unknown_precision || not_judged == NotJudged::unknown_event;
  return is_catalogue ? event.catalogue : std::string();
}

bool ignores_level(const Attribute& attribute) {
  return attribute.type == PERF_TYPE_SOFTWARE || attribute.type == PERF_TYPE_TRACEPOINT ||
         attribute.type == PERF_TYPE_BREAKPOINT;
}

std::optional<std::int64_t> known_offset(const RecordedEvent& event,
                                         const runway::TargetDescription* target) {
  const Attribute& attribute = event.attribute;
  if (target != nullptr) {
    const auto builtin = builtin_event_of(attribute, *target);
    const auto* expected = builtin ? target->expectation_of(*builtin) : nullptr;
    return expected != nullptr ? expected->offset : std::nullopt;
  }
  if (is_page_fault(attribute)) return 0;
  const auto arch = arch_of_kernel(event.machine.cpu.arch);
  if (attribute.type != PERF_TYPE_BREAKPOINT || !arch) return std::nullopt;
  const bool traps_after = *arch == Arch::x86_64 && (attribute.bp_type & HW_BREAKPOINT_X) == 0;
  return traps_after ? 1 : 0;
}

}  // namespace skid::measure
