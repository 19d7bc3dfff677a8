#include "src/output/diagnosis/diagnosis.h"

#include "runway/trigger.h"
#include "src/machine/answer_reason.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/diagnosis.h"
#include "src/machine/machine.h"
#include "src/machine/sampled_event.h"
#include "src/machine/sampling_support.h"
#include "src/output/cell.h"
#include "src/output/cpu_fields.h"
#include "src/output/json_document.h"
#include "src/output/json_values.h"
#include "src/output/name_list.h"
#include "src/output/padding.h"
#include "src/output/page.h"
#include "src/output/report/grouping.h"
#include "src/output/report/machine_text.h"
#include "src/output/report/report.h"
#include "src/output/table.h"
#include "src/support/error.h"
#include "src/support/escape.h"
#include "src/support/field_values.h"
#include "src/support/field_writer.h"
#include "src/support/fields.h"
#include "src/support/text.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid {

SKID_WRITTEN_FIELDS(events::DefaultEvent, stands_for, name, perf_event, trigger, levels)
SKID_WRITTEN_FIELDS(machine::Problem, id, what, remedy)

void fields(FieldWriter& io, const machine::ProcessRights& value) {
  io("user", value.user);
  io("effective_capabilities", Hex{value.effective_capabilities});
  io("cap_perfmon", value.has_perfmon());
  io("cap_sys_admin", value.has_sys_admin());
  SKID_MEMBERS(seccomp_filter, container);
}

void fields(FieldWriter& io, const machine::Pmu& value) {
  SKID_MEMBERS(name, type, core);
  io("max_precise", value.max_precise());
  SKID_MEMBERS(caps, cpus, cpumask, formats);
}

void fields(FieldWriter& io, const machine::LevelAnswer& value) {
  SKID_MEMBERS(level, acceptance);
  io("error", value.error == 0 ? Json() : Json(describe_errno(value.error)));
  io("reason", OrNull{value.reason.what});
  io("remedy", OrNull{value.reason.remedy});
}

void fields(FieldWriter& io, const machine::SampledEvent& value) {
  SKID_MEMBERS(name, pmu, built_in);
  io("usable", value.usable());
  io("levels", value.levels);
  io("user", value.modes != machine::SampledModes::none);
  io("kernel", value.modes == machine::SampledModes::user_and_kernel);
  io("refused", value.refusal ? Json(describe_errno(*value.refusal)) : Json());
  SKID_MEMBERS_OR_NULL(remark, answers);
}

}  // namespace skid

namespace skid::output {
namespace {

using machine::Diagnosis;
using machine::SamplingSupport;
using Kind = ListColumn::Kind;

constexpr std::size_t kWidestName = 32;
/// Names from files are cut to this length, so that the page remains one screen; no CPU has a
/// longer name.
constexpr std::size_t kLongestText = 160;

std::string shown(std::string_view text) {
  return shorten(escape_for_terminal(text), kLongestText);
}

std::string name_of_event(std::string_view name) {
  return shorten(shown(name), kWidestName);
}

std::string cpu_name_of(const SamplingSupport& support) {
  if (!support.machine.cpu.model_name.empty()) return shown(support.machine.cpu.model_name);
  const std::string core = support.midr ? support.midr->name() : "";
  return core.empty() ? "unnamed" : core;
}

std::string cpu_text(const SamplingSupport& support) {
  machine::CpuIdentity cpu = support.machine.cpu;
  if (support.midr) cpu.family = cpu.model = cpu.stepping = std::nullopt;
  for (std::string* text : {&cpu.vendor, &cpu.microcode, &cpu.arch}) *text = shown(*text);
  return cpu_details(cpu, cpu_name_of(support),
                     support.midr ? fmt::format("MIDR {:#x}", support.midr->value) : "");
}

std::string perf_text(const SamplingSupport& support) {
  if (!support.perf) return "not usable";
  const std::string path = support.perf->path.string();
  return shown(support.perf->version) + (path.empty() ? "" : " (" + shown(path) + ")");
}

std::string rights_text(const machine::ProcessRights& rights) {
  std::vector<std::string> parts;
  parts.push_back(!rights.user        ? "unknown user"
                  : *rights.user == 0 ? "root"
                                      : fmt::format("user {}", *rights.user));
  if (rights.has_sys_admin()) parts.emplace_back("CAP_SYS_ADMIN");
  if (rights.has_perfmon()) parts.emplace_back("CAP_PERFMON");
  if (!rights.may_sample_all()) {
    parts.emplace_back(rights.effective_capabilities ? "neither CAP_PERFMON nor CAP_SYS_ADMIN"
                                                     : "unknown capabilities");
  }
  if (rights.container) parts.emplace_back("in a container");
  if (rights.seccomp_filter) parts.emplace_back("system calls filtered");
  return joined(parts);
}

Json settings_json(const SamplingSupport& support) {
  return {{"perf_event_paranoid", support.machine.perf_event_paranoid},
          {"perf_event_max_sample_rate", support.machine.perf_event_max_sample_rate},
          {"perf_event_mlock_kb", support.perf_event_mlock_kb},
          {"nmi_watchdog", support.nmi_watchdog},
          {"kptr_restrict", support.kptr_restrict},
          {"smt_active", support.machine.smt_active}};
}

std::string settings_text(const SamplingSupport& support) {
  const Json settings = settings_json(support);
  std::vector<std::string> parts;
  for (const auto& [name, value] : settings.items()) {
    if (value.is_number()) parts.push_back(fmt::format("{} {}", name, value.dump()));
  }
  if (support.machine.smt_active)
    parts.emplace_back(*support.machine.smt_active ? "SMT on" : "SMT off");
  return parts.empty() ? "unknown" : joined(parts);
}

/// Formats ascending CPU numbers as ranges: "0-3,8".
std::string cpu_list(const std::vector<int>& cpus) {
  std::vector<std::string> ranges;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    ranges.push_back(first == last ? fmt::format("{}", cpus[first])
                                   : fmt::format("{}-{}", cpus[first], cpus[last]));
    first = last + 1;
  }
  return joined(ranges, ",");
}

std::string pmu_text(const machine::Pmu& pmu) {
  std::vector<std::string> parts{fmt::format("type {}", pmu.type)};
  if (machine::is_arm_spe(pmu)) {
    parts.emplace_back("statistical profiling; its samples are AUX data, which perf records");
  } else if (pmu.name == "ibs_op") {
    parts.emplace_back("executed operations; does p and pp of cycles, r076, r0c1");
  } else if (pmu.name == "ibs_fetch") {
    parts.emplace_back("instruction fetches");
  }
  if (!pmu.cpus.empty()) parts.push_back("CPUs " + cpu_list(pmu.cpus));
  for (const auto& [name, value] : pmu.caps) {
    parts.push_back(value.empty() ? shown(name) : shown(name) + ' ' + shown(value));
  }
  return joined(parts);
}

bool samples_instructions(const machine::Pmu& pmu) {
  return pmu.core || machine::is_amd_ibs(pmu) || machine::is_arm_spe(pmu);
}

std::string pmus_text(const Page& page, const SamplingSupport& support) {
  std::string text = page.title("PMUs of the CPU");
  std::vector<std::string> others;
  bool any = false;
  for (const machine::Pmu& pmu : support.pmus) {
    if (!samples_instructions(pmu)) {
      others.push_back(shown(pmu.name));
      continue;
    }
    any = true;
    const std::string lead =
        std::string(kIndent, ' ') + pad_right(name_of_event(pmu.name), 14) + ' ';
    text += page.hanging(lead, display_width(lead), pmu_text(pmu));
  }
  if (!any) text += page.note("none", Ink::plain);
  if (!others.empty()) text += page.note("others: " + list_of(others));
  return text;
}

std::string levels_text(const std::vector<int>& levels) {
  return levels.empty() ? "-" : joined(texts_of(levels, level_name), " ");
}

Cell answer_cell(const machine::LevelAnswer& answer) {
  using machine::Acceptance;
  if (answer.acceptance == Acceptance::accepted) return {"yes"};
  if (answer.acceptance == Acceptance::ignored) return {"ignored", Ink::dim};
  if (answer.acceptance == Acceptance::per_cpu) return {"-C"};
  return {answer.acceptance == Acceptance::refused ? "no" : std::string(name_of(answer.acceptance)),
          Ink::yellow};
}

/// Names the CPU modes in which all usable events can be sampled; empty if they differ.
std::string common_modes(const Diagnosis& diagnosis) {
  std::string common;
  for (const machine::SampledEvent& event : diagnosis.events) {
    if (!event.usable()) continue;
    if (!common.empty() && common != name_of(event.modes)) return {};
    common = name_of(event.modes);
  }
  return common;
}

/// Lists the events: a row per event, a column per precise level.
std::string events_text(const Page& page, const Diagnosis& diagnosis) {
  List list{{{"event", Kind::text}}};
  for (const int level : machine::levels_up_to(machine::kHighestLevel)) {
    list.columns.push_back({level_name(level), Kind::text});
  }
  list.columns.push_back({"", Kind::wrapped});
  const std::string modes = common_modes(diagnosis);
  for (const machine::SampledEvent& event : diagnosis.events) {
    std::vector<Cell> row{{name_of_event(event.name)}};
    for (const machine::LevelAnswer& answer : event.answers) row.push_back(answer_cell(answer));
    std::string remark = event.remark;
    if (modes.empty() && event.usable()) {
      remark = fmt::format("{} mode{}{}", name_of(event.modes), remark.empty() ? "" : "; ", remark);
    }
    row.push_back({shown(remark), Ink::dim});
    list.rows.push_back(std::move(row));
  }
  const std::string title =
      modes.empty() ? std::string("Events of record, by precise level")
                    : fmt::format("Events of record, by precise level ({} mode)", modes);
  return page.title(title) + page.list(list);
}

/// Lists the CPU's events that `record` records if no event is named.
std::string default_set_text(const Page& page, const CpuEvents& cpu_events) {
  std::string text = page.title("Default events of record");
  const std::string known =
      cpu_events.catalogue.empty() ? std::string("no catalogue covers this CPU: generic events")
      : cpu_events.precise == 0
          ? fmt::format("none of {} events is precise by itself ({}): skidscan events --list",
                        cpu_events.known, shown(cpu_events.catalogue))
          : fmt::format("{} of {} events are precise ({}): skidscan events --list --precise",
                        cpu_events.precise, cpu_events.known, shown(cpu_events.catalogue));
  text += page.note(known);
  List list{{{"event", Kind::text}, {"levels", Kind::text}, {"trigger", Kind::text, 1}}};
  for (const events::DefaultEvent& event : cpu_events.set.events) {
    list.add(name_of_event(event.name), levels_text(event.levels),
             Cell{std::string(runway::name_of(event.trigger)), Ink::dim});
  }
  return text + page.list(list);
}

/// "all filters of -j but stack": those that the kernel takes.
std::string filters_text(const std::map<std::string, bool>& filters) {
  std::vector<std::string> refused;
  for (const auto& [name, is_taken] : filters) {
    if (!is_taken) refused.push_back(name);
  }
  if (refused.size() == filters.size()) return "no filter of -j but any and modes";
  return refused.empty() ? "all filters of -j" : "all filters of -j but " + joined(refused);
}

/// "32 a sample, with any event, at levels none p pp ppp", or why there are none.
std::string branches_text(const SamplingSupport& support, const Diagnosis& diagnosis) {
  const machine::SampledEvent& event = diagnosis.branch_records.value();
  const machine::LevelAnswer& refused = event.answers.at(0);
  if (!event.usable()) return "none: " + text_of(refused.reason);
  const auto* pmu = machine::find_pmu(support.pmus, event.pmu);
  std::string depth;
  if (pmu != nullptr && pmu->caps.contains("branches")) {
    depth = shown(pmu->caps.at("branches")) + " a sample, ";
  }
  const std::string which =
      event.name == "cycles"
          ? std::string("with any event")
          : fmt::format("only with -e {0} at a fixed period (perf record -b -e {0} -c N)",
                        event.name);
  return fmt::format("{}{}, {}, {}", depth, which,
                     event.levels.size() == 1 ? std::string("at no precise level")
                                              : "at levels " + levels_text(event.levels),
                     filters_text(diagnosis.branch_filters));
}

bool any_of_cpu(const Diagnosis& diagnosis) {
  return std::ranges::any_of(diagnosis.events,
                             [](const auto& event) { return event.usable() && !event.built_in; });
}

std::string problems_text(const Page& page, const Diagnosis& diagnosis) {
  if (diagnosis.problems.empty()) return page.title("No problem found");
  std::string text = page.title("Problems");
  std::size_t number = 0;
  for (const machine::Problem& problem : diagnosis.problems) {
    const std::string lead = fmt::format("{:>3} ", ++number);
    text += page.hanging(lead, lead.size(), shown(problem.what));
    // Remedies are pasted, so they are never cut.
    text += page.hanging("    > ", 6, escape_for_terminal(problem.remedy), Ink::green);
  }
  return text;
}

std::string own_program_text(const Page& page, const CpuEvents& cpu_events) {
  if (cpu_events.proving_command.empty()) return {};
  return page.title("A program whose samples 'skidscan audit' proves or contradicts one by one") +
         page.hanging("  ", 2, escape_for_terminal(cpu_events.proving_command), Ink::green);
}

/// States what can be sampled, and up to which precise level.
std::string verdict(const SamplingSupport& support, const Diagnosis& diagnosis) {
  if (support.perf_missing) return "No perf can be run, so that nothing can be recorded.";
  if (diagnosis.status == ExitStatus::builtin_events_only) {
    std::vector<std::string> sampled;
    std::map<std::string_view, std::vector<std::string>> others;  // by the answer at level 0
    for (const machine::SampledEvent& event : diagnosis.events) {
      if (!event.built_in) continue;
      // ask() gives every level an answer.
      (event.usable() ? sampled : others[name_of(event.answers.at(0).acceptance)])
          .push_back(event.name);
    }
    std::string text =
        "This machine samples only built-in events, which use neither PEBS nor IBS: ";
    text += joined(sampled);
    for (const auto& [answer, names] : others) {
      text += fmt::format("; {}: {}", answer, joined(names));
    }
    return text + '.';
  }
  if (diagnosis.status != ExitStatus::done) return "This process cannot sample any event.";
  int highest = 0;
  for (const machine::SampledEvent& event : diagnosis.events) {
    if (!event.built_in && !event.levels.empty()) highest = std::max(highest, event.levels.back());
  }
  const auto* operations = find_by(diagnosis.events, &machine::SampledEvent::pmu, "ibs_op");
  if (highest == 0 && operations != nullptr && operations->usable()) {
    return "This machine samples events of its CPU's PMU at no precise level; IBS (ibs_op) samples "
           "operations precisely.";
  }
  return highest == 0
             ? "This machine samples events of its CPU's PMU, but at no precise level."
             : fmt::format("This machine samples events of its CPU's PMU, up to precise level {}.",
                           level_name(highest));
}

Ink ink_of(ExitStatus status) {
  if (status == ExitStatus::done) return Ink::green;
  return status == ExitStatus::builtin_events_only ? Ink::yellow : Ink::red;
}

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

}  // namespace

std::string diagnosis_text(const SamplingSupport& support, const Diagnosis& diagnosis,
                           const CpuEvents& cpu_events, const Page& page) {
  std::string text = page.paragraph(verdict(support, diagnosis), ink_of(diagnosis.status)) + '\n';
  text += page.field("CPU", cpu_text(support));
  const std::optional<std::string>& hypervisor = support.machine.cpu.hypervisor;
  const std::string kernel =
      support.machine.kernel.empty() ? "unknown" : shown(support.machine.kernel);
  if (page.details) {
    text += page.field("hypervisor", hypervisor ? shown(*hypervisor) : "none seen");
    text += page.field("kernel", kernel) + page.field("perf", perf_text(support));
    text += page.field("rights", rights_text(support.rights));
    text += page.field("settings", settings_text(support));
  } else {
    text += page.field("kernel", fmt::format("{}{}, perf {}", kernel,
                                             hypervisor ? ", under " + shown(*hypervisor) : "",
                                             perf_text(support)));
  }
  if (diagnosis.branch_records) {
    text += page.field("branches", branches_text(support, diagnosis));
  }
  if (page.details) text += pmus_text(page, support);
  text += events_text(page, diagnosis);
  if (page.details && any_of_cpu(diagnosis)) {
    text += default_set_text(page, cpu_events) + own_program_text(page, cpu_events);
  }
  text += problems_text(page, diagnosis);
  if (page.details) return text;
  std::string more = "--details prints rights, settings, PMUs and the default triggers";
  if (any_of_cpu(diagnosis) && !cpu_events.proving_command.empty()) {
    more += ", and how to record a program so that each sample is judged";
  }
  return text + '\n' +
         page.paragraph(
             diagnosis.status == ExitStatus::done ? more : fmt::format("{}; {}", more, kSeeExample),
             Ink::dim);
}

std::string diagnosis_json(const SamplingSupport& support, const Diagnosis& diagnosis,
                           const CpuEvents& cpu_events) {
  return document_text(
      "skidscan.doctor/1",
      {{"exit_status", static_cast<int>(diagnosis.status)},
       {"cpu", cpu_json_of(support)},
       {"kernel", text_or_null(support.machine.kernel)},
       {"perf", perf_json(support)},
       {"rights", FieldWriter::json_of(support.rights)},
       {"settings", settings_json(support)},
       {"allowed_cpus", support.machine.allowed_cpus},
       {"pmus", FieldWriter::json_of(support.pmus)},
       {"events", FieldWriter::json_of(diagnosis.events)},
       {"branch_records",
        diagnosis.branch_records ? FieldWriter::json_of(*diagnosis.branch_records) : Json()},
       {"branch_filters", diagnosis.branch_filters},
       {"cpu_events",
        {{"catalogue", text_or_null(cpu_events.catalogue)},
         {"known", cpu_events.known},
         {"precise", cpu_events.precise},
         {"default_set", FieldWriter::json_of(cpu_events.set.events)},
         {"notes", cpu_events.set.notes},
         {"proving_command", text_or_null(cpu_events.proving_command)}}},
       {"problems", FieldWriter::json_of(diagnosis.problems)}});
}

}  // namespace skid::output
