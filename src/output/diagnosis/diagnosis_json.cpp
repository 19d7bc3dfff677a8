#include "src/output/diagnosis/diagnosis.h"
#include "src/support/file.h"

#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

using machine::Diagnosis;
using machine::SamplingSupport;
using nlohmann::ordered_json;

template <typename T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

ordered_json midr_json(const std::optional<machine::Midr>& midr) {
  if (!midr) return nullptr;
  return fmt::format("{:#x}", midr->value);
}

ordered_json cpu_json(const SamplingSupport& support) {
  const machine::CpuIdentity& cpu = support.machine.cpu;
  return {{"vendor", text_or_null(cpu.vendor)},
          {"model_name", text_or_null(cpu.model_name)},
          {"family", or_null(cpu.family)},
          {"model", or_null(cpu.model)},
          {"stepping", or_null(cpu.stepping)},
          {"microcode", text_or_null(cpu.microcode)},
          {"arch", text_or_null(cpu.arch)},
          {"hypervisor", or_null(cpu.hypervisor)},
          {"midr", midr_json(support.midr)},
          {"core_name", text_or_null(support.midr ? support.midr->name() : "")}};
}

ordered_json perf_json(const SamplingSupport& support) {
  if (!support.perf) return nullptr;
  return {{"path", text_or_null(support.perf->path.string())}, {"version", support.perf->version}};
}

ordered_json rights_json(const machine::ProcessRights& rights) {
  const std::optional<std::uint64_t>& capabilities = rights.effective_capabilities;
  return {{"user", or_null(rights.user)},
          {"effective_capabilities",
           capabilities ? ordered_json(fmt::format("{:#x}", *capabilities)) : ordered_json()},
          {"cap_perfmon", rights.has_perfmon()},
          {"cap_sys_admin", rights.has_sys_admin()},
          {"seccomp_filter", rights.seccomp_filter},
          {"container", rights.container}};
}

ordered_json settings_json(const SamplingSupport& support) {
  return {{"perf_event_paranoid", or_null(support.machine.perf_event_paranoid)},
          {"perf_event_max_sample_rate", or_null(support.machine.perf_event_max_sample_rate)},
          {"perf_event_mlock_kb", or_null(support.perf_event_mlock_kb)},
          {"nmi_watchdog", or_null(support.nmi_watchdog)},
          {"kptr_restrict", or_null(support.kptr_restrict)},
          {"smt_active", or_null(support.machine.smt_active)}};
}

ordered_json pmus_json(const SamplingSupport& support) {
  ordered_json pmus = ordered_json::array();
  for (const machine::Pmu& pmu : support.pmus) {
    pmus.push_back({{"name", pmu.name},
                    {"type", pmu.type},
                    {"core", pmu.core},
                    {"max_precise", or_null(pmu.max_precise())},
                    {"caps", ordered_json(pmu.caps)},
                    {"cpus", pmu.cpus},
                    {"cpumask", pmu.cpumask},
                    {"formats", pmu.formats}});
  }
  return pmus;
}

ordered_json events_json(const Diagnosis& diagnosis) {
  ordered_json events = ordered_json::array();
  for (const machine::SampledEvent& event : diagnosis.events) {
    events.push_back(
        {{"name", event.name},
         {"pmu", event.pmu},
         {"built_in", event.built_in},
         {"usable", event.usable()},
         {"levels", event.levels},
         {"user", event.modes != machine::SampledModes::none},
         {"kernel", event.modes == machine::SampledModes::user_and_kernel},
         {"refused", event.refusal ? ordered_json(describe_errno(*event.refusal)) : ordered_json()},
         {"remark", text_or_null(event.remark)}});
  }
  return events;
}

ordered_json cpu_events_json(const CpuEvents& cpu_events) {
  ordered_json set = ordered_json::array();
  for (const events::DefaultEvent& event : cpu_events.set.events) {
    set.push_back({{"stands_for", event.stands_for},
                   {"name", event.name},
                   {"perf_event", event.perf_event},
                   {"trigger", runway::name_of(event.trigger)},
                   {"levels", event.levels}});
  }
  return {{"catalogue", text_or_null(cpu_events.catalogue)},
          {"known", cpu_events.known},
          {"precise", cpu_events.precise},
          {"default_set", std::move(set)},
          {"notes", cpu_events.set.notes}};
}

ordered_json problems_json(const Diagnosis& diagnosis) {
  ordered_json problems = ordered_json::array();
  for (const machine::Problem& problem : diagnosis.problems) {
    problems.push_back({{"id", problem.id}, {"what", problem.what}, {"remedy", problem.remedy}});
  }
  return problems;
}

}  // namespace

ordered_json diagnosis_json(const SamplingSupport& support, const Diagnosis& diagnosis,
                            const CpuEvents& cpu_events) {
  return {{"schema", "skidscan.doctor/1"},
          {"tool_version", SKIDSCAN_VERSION},
          {"tried", diagnosis.tried},
          {"exit_status", static_cast<int>(diagnosis.status)},
          {"cpu", cpu_json(support)},
          {"kernel", text_or_null(support.machine.kernel)},
          {"perf", perf_json(support)},
          {"rights", rights_json(support.rights)},
          {"settings", settings_json(support)},
          {"allowed_cpus", support.machine.allowed_cpus},
          {"pmus", pmus_json(support)},
          {"events", events_json(diagnosis)},
          {"cpu_events", cpu_events_json(cpu_events)},
          {"problems", problems_json(diagnosis)}};
}

}  // namespace skid::output
