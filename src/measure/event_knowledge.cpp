#include "src/measure/event_knowledge.h"

#include "src/events/spelling.h"
#include "src/machine/sampling_support.h"
#include "src/perfdata/format.h"
#include "src/run/perftool/event_syntax.h"
#include "src/support/address.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

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

/// Of PERF_TYPE_HARDWARE; empty for others.
std::string_view generic_name(const Attribute& attribute) {
  if (attribute.type != PERF_TYPE_HARDWARE) return {};
  return perftool::generic_hardware_name(attribute.config);
}

std::optional<CoreEvent> core_event(const Attribute& attribute, events::ConfigLayout layout) {
  if (attribute.type != PERF_TYPE_HARDWARE) {
    if (attribute.type == PERF_TYPE_HW_CACHE) return std::nullopt;
    const auto cycles = events::generic_event(layout, "cycles");
    return CoreEvent{.config = attribute.config,
                     .config1 = attribute.config1,
                     .cycles = cycles == attribute.config};
  }
  const std::string_view name = generic_name(attribute);
  const auto code = events::generic_event(layout, name);
  if (!code) return std::nullopt;
  return CoreEvent{.config = *code, .config1 = 0, .cycles = name == "cycles"};
}

/// The PMUs of Arm's cores ("armv8_pmuv3_0", "armv9_cortex_a510") and of those that Apple makes.
bool is_arm_core(std::string_view pmu_name) {
  return pmu_name.starts_with("armv") ||
         (pmu_name.starts_with("apple_") && pmu_name.ends_with("_pmu"));
}

/// A fleet has a few kinds of CPUs; inputs that are made up could have any number.
constexpr std::size_t kMostKnown = 32;

/// Everything about a machine that a catalogue depends on.
std::string key_of(const machine::Machine& machine) {
  const auto number = [](const std::optional<int>& value) {
    return value ? fmt::format("{}", *value) : std::string("?");
  };
  const machine::CpuIdentity& cpu = machine.cpu;
  std::string key;
  // No name contains a NUL.
  for (const std::string& part :
       {cpu.arch, cpu.vendor, cpu.model_name, number(cpu.family), number(cpu.model),
        number(cpu.stepping),
        machine.core_pmus.empty() ? std::string() : machine.core_pmus.front().name}) {
    key += part;
    key += '\0';
  }
  return key;
}

}  // namespace

std::optional<Arch> arch_of(const machine::CpuIdentity& cpu) {
  return arch_of_kernel(cpu.arch);
}

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

std::string RecordedCpu::catalogue_name() const {
  if (!looked_up_) return "no catalogue of events was needed";
  if (!catalogue_) return "no catalogue of events covers the CPU";
  return fmt::format("events of {}", catalogue_->cpu().catalogue());
}

EventKnowledge RecordedCpu::know(const Attribute& attribute, std::string_view pmu_name) {
  EventKnowledge knowledge;
  knowledge.core_pmu = is_core_event(attribute, pmu_name);
  if (!knowledge.core_pmu) return knowledge;
  knowledge.of_arm = events::is_arm(machine_.cpu) || is_arm_core(pmu_name);
  knowledge.cpu_recorded = !machine_.cpu.vendor.empty();
  if (!std::exchange(looked_up_, true)) {
    catalogue_ = catalogues_ ? catalogues_->of(machine_) : Catalogues().of(machine_);
  }
  knowledge.core = core_event(attribute, events::layout_of(machine_.cpu));
  knowledge.counted = events::counted_by_generic(generic_name(attribute));
  if (!catalogue_) return knowledge;
  knowledge.cpu = catalogue_->cpu();
  knowledge.catalogue = knowledge.cpu.catalogue();
  if (!knowledge.core) return knowledge;
  const auto found = catalogue_->find_code(knowledge.core->config, knowledge.core->config1);
  if (found.empty()) return knowledge;
  // A hybrid CPU has an event for each core type. One without a PMU is of the performance cores,
  // which are first.
  const events::Event* of_pmu = find_by(found, &events::Event::pmu, pmu_name);
  if (of_pmu == nullptr && pmu_name.starts_with("cpu_")) return knowledge;
  knowledge.event = of_pmu != nullptr ? *of_pmu : found.front();
  if (!knowledge.event->source.empty()) knowledge.catalogue = knowledge.event->source;
  knowledge.counted = events::counted_by(knowledge.cpu, *knowledge.event);
  return knowledge;
}

KnownCauses causes_of(const EventKnowledge& knowledge) {
  if (!knowledge.core_pmu) return {NotJudged::no_core_event, {}};
  if (knowledge.of_arm) return {NotJudged::no_precise_levels, {}};
  if (!knowledge.cpu_recorded) return {NotJudged::unrecorded_cpu, {}};
  if (knowledge.catalogue.empty()) return {NotJudged::unknown_cpu, {}};
  if (!knowledge.core || !knowledge.event) return {NotJudged::unknown_event, {}};
  if (!knowledge.event->precise) return {NotJudged::unknown_precision, {}};
  if (knowledge.imprecise()) return {NotJudged::imprecise, {}};
  auto causes = events::causes_of(knowledge.cpu, *knowledge.event);
  const bool is_known = std::ranges::any_of(
      causes, [](const events::Cause& cause) { return cause.verdict != events::Verdict::unknown; });
  if (!is_known) return {NotJudged::unknown_cause, {}};
  return {NotJudged::none, std::move(causes)};
}

std::shared_ptr<const events::Catalogue> Catalogues::of(const machine::Machine& machine) {
  std::string key = key_of(machine);
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

}  // namespace skid::measure
