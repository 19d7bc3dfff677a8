#include "src/output/diagnosis/diagnosis.h"
#include "src/output/json_fields.h"
#include "src/support/file.h"

namespace skid {

SKID_WRITTEN_FIELDS(events::DefaultEvent, stands_for, name, perf_event, trigger, levels)
SKID_WRITTEN_FIELDS(machine::Problem, id, what, remedy)

}  // namespace skid

namespace skid::output {
namespace {

using machine::Diagnosis;
using machine::SamplingSupport;

Json cpu_json_of(const SamplingSupport& support) {
  Json json = FieldWriter::json_of(support.machine.cpu);
  json["midr"] = support.midr ? Json(hexadecimal(support.midr->value)) : Json();
  json["core_name"] = text_or_null(support.midr ? support.midr->name() : "");
  return json;
}

Json perf_json(const SamplingSupport& support) {
  if (!support.perf) return nullptr;
  return {{"path", text_or_null(support.perf->path.string())}, {"version", support.perf->version}};
}

Json rights_json(const machine::ProcessRights& rights) {
  const auto& capabilities = rights.effective_capabilities;
  return {{"user", rights.user},
          {"effective_capabilities", capabilities ? Json(hexadecimal(*capabilities)) : Json()},
          {"cap_perfmon", rights.has_perfmon()},
          {"cap_sys_admin", rights.has_sys_admin()},
          {"seccomp_filter", rights.seccomp_filter},
          {"container", rights.container}};
}

Json settings_json(const SamplingSupport& support) {
  return {{"perf_event_paranoid", support.machine.perf_event_paranoid},
          {"perf_event_max_sample_rate", support.machine.perf_event_max_sample_rate},
          {"perf_event_mlock_kb", support.perf_event_mlock_kb},
          {"nmi_watchdog", support.nmi_watchdog},
          {"kptr_restrict", support.kptr_restrict},
          {"smt_active", support.machine.smt_active}};
}

Json pmu_json(const machine::Pmu& pmu) {
  return {{"name", pmu.name},       {"type", pmu.type},
          {"core", pmu.core},       {"max_precise", pmu.max_precise()},
          {"caps", Json(pmu.caps)}, {"cpus", pmu.cpus},
          {"cpumask", pmu.cpumask}, {"formats", pmu.formats}};
}

Json answer_json(const machine::LevelAnswer& answer) {
  return {{"level", answer.level},
          {"acceptance", machine::name_of(answer.acceptance)},
          {"error", answer.error == 0 ? Json() : Json(describe_errno(answer.error))},
          {"reason", text_or_null(answer.reason.what)},
          {"remedy", text_or_null(answer.reason.remedy)}};
}

Json event_json(const machine::SampledEvent& event) {
  return {{"name", event.name},
          {"pmu", event.pmu},
          {"built_in", event.built_in},
          {"usable", event.usable()},
          {"levels", event.levels},
          {"user", event.modes != machine::SampledModes::none},
          {"kernel", event.modes == machine::SampledModes::user_and_kernel},
          {"refused", event.refusal ? Json(describe_errno(*event.refusal)) : Json()},
          {"remark", text_or_null(event.remark)},
          {"answers", array_of(event.answers, answer_json)}};
}

}  // namespace

std::string diagnosis_json(const SamplingSupport& support, const Diagnosis& diagnosis,
                           const CpuEvents& cpu_events) {
  return document_text("skidscan.doctor/1",
                       {{"tried", diagnosis.tried},
                        {"exit_status", static_cast<int>(diagnosis.status)},
                        {"cpu", cpu_json_of(support)},
                        {"kernel", text_or_null(support.machine.kernel)},
                        {"perf", perf_json(support)},
                        {"rights", rights_json(support.rights)},
                        {"settings", settings_json(support)},
                        {"allowed_cpus", support.machine.allowed_cpus},
                        {"pmus", array_of(support.pmus, pmu_json)},
                        {"events", array_of(diagnosis.events, event_json)},
                        {"cpu_events",
                         {{"catalogue", text_or_null(cpu_events.catalogue)},
                          {"known", cpu_events.known},
                          {"precise", cpu_events.precise},
                          {"default_set", FieldWriter::json_of(cpu_events.set.events)},
                          {"notes", cpu_events.set.notes}}},
                        {"problems", FieldWriter::json_of(diagnosis.problems)}});
}

}  // namespace skid::output
