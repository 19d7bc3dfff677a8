#include "src/output/catalogue/catalogue.h"

#include "runway/trigger.h"
#include "src/events/causes.h"
#include "src/events/counted.h"
#include "src/events/cpu.h"
#include "src/events/errata.h"
#include "src/events/event.h"
#include "src/events/kernel_rules.h"
#include "src/events/questions.h"
#include "src/events/spelling.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/output/catalogue/answers.h"
#include "src/output/json_document.h"
#include "src/output/json_values.h"
#include "src/output/name_list.h"
#include "src/output/padding.h"
#include "src/output/page.h"
#include "src/support/escape.h"
#include "src/support/field_values.h"
#include "src/support/field_writer.h"
#include "src/support/fields.h"
#include "src/support/precise_level.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid {

SKID_WRITTEN_FIELDS(events::Cause, category, verdict, note)
SKID_WRITTEN_FIELDS(events::TriggerCause, kind, verdict, events_per_iteration)
SKID_WRITTEN_FIELDS(events::Erratum, ids, effect)

}  // namespace skid

namespace skid::output {
namespace {

using events::Cpu;
using events::Event;
using events::Verdict;

constexpr std::size_t kNameWidth = 15;

/// Returns a name and a value, which is escaped here, wrapped to the page; empty for an empty
/// value.
std::string line(const Page& page, std::string_view name, std::string_view value) {
  return page.hanging(pad_right(name, kNameWidth), kNameWidth, escape_for_terminal(value));
}

std::string cpu_line(const Cpu& cpu) {
  return fmt::format("{}{}{}, from {}", cpu.name, cpu.description.empty() ? "" : ", ",
                     cpu.description, cpu.source) +
         (cpu.at_hand ? " (this CPU)" : "");
}

std::string precise_text(const Event& event) {
  if (!event.precise) return "unknown";
  if (event.precise_source == events::PreciseSource::kernel) {
    return *event.precise ? "yes, by IBS (Linux hands the event to it)"
                          : "no (Linux hands other events to IBS)";
  }
  return fmt::format("{} ({})", *event.precise ? "yes" : "no", event.source);
}

std::string data_address_text(const Event& event) {
  if (!event.data_la) return {};
  return *event.data_la ? "in precise records" : "none";
}

/// Lists the counters with precise distribution: "counters 0, 1"; empty if the source does not
/// state them.
std::string pdist_text(const Event& event) {
  if (!event.pdist) return {};
  std::vector<std::string> counters;
  for (const int counter : *event.pdist) {
    constexpr int kFirstFixed = 32;
    counters.push_back(counter < kFirstFixed
                           ? fmt::format("counter {}", counter)
                           : fmt::format("fixed counter {}", counter - kFirstFixed));
  }
  return counters.empty() ? "none" : joined(counters);
}

/// Lists the categories of instructions with this verdict: "GP_LOAD (1 event), XMM_LOAD".
std::string categories(const std::vector<events::Cause>& causes, Verdict verdict) {
  std::vector<std::string> parts;
  for (const events::Cause& cause : causes) {
    if (cause.verdict != verdict) continue;
    parts.push_back(cause.note.empty()
                        ? std::string(events::name_of(cause.category))
                        : fmt::format("{} ({})", events::name_of(cause.category), cause.note));
  }
  return joined(parts);
}

void add_causes(const Page& page, const Event& event, std::string& text) {
  constexpr std::array kVerdicts{Verdict::can, Verdict::conditional, Verdict::maybe,
                                 Verdict::unknown, Verdict::never};
  if (events::samples_any_instruction(events::counted_by(event))) {
    text += line(page, "caused by", "any instruction");
    return;
  }
  const auto causes = events::causes_of(event);
  text += line(page, "counts", events::counting_unit(event));
  std::string_view name = "caused by";
  for (const Verdict verdict : kVerdicts) {
    std::string found = categories(causes, verdict);
    if (found.empty()) continue;
    const bool all_unknown =
        verdict == Verdict::unknown && std::ranges::all_of(causes, [](const events::Cause& cause) {
          return cause.verdict == Verdict::unknown;
        });
    if (all_unknown) found = "unknown for all categories of instructions";
    text += line(page, name, fmt::format("{}: {}", events::name_of(verdict), found));
    name = {};
  }
}

/// Lists the triggers of targets that cause the event: "load-dram (1 per iteration), load-l3".
std::string triggers_text(const Event& event) {
  std::vector<std::string> parts;
  for (const events::TriggerCause& cause : events::triggers_of(event)) {
    std::vector<std::string> notes;
    if (cause.verdict != Verdict::can) notes.emplace_back(events::name_of(cause.verdict));
    if (cause.events_per_iteration) {
      notes.push_back(fmt::format("{:.6g} per iteration", *cause.events_per_iteration));
    }
    std::string part(runway::name_of(cause.kind));
    if (!notes.empty()) part += fmt::format(" ({})", joined(notes));
    parts.push_back(std::move(part));
  }
  return joined(parts);
}

void add_l2(const Page& page, const events::L2Requests& requests, std::string& text) {
  const auto list_of_parts = [](const std::vector<std::string_view>& parts) {
    return parts.empty() ? std::string("none") : fmt::format("{}", fmt::join(parts, "; "));
  };
  text += line(page, "L2 requests", "whose origin and whose result are both in the umask");
  text += line(page, "  origins", list_of_parts(requests.origins));
  text += line(page, "  results", list_of_parts(requests.results));
  if (requests.always_zero()) {
    text += line(page, "",
                 fmt::format("always zero: no {} is in the umask",
                             requests.origins.empty() ? "origin" : "result"));
  }
  text += line(page, "manual error", events::manual_error(requests));
}

std::string_view level_3_text(const Event& event) {
  const LevelThree level_3 = events::level_3_of(event);
  const bool is_repeated = event.precise == false && level_3 == LevelThree::same_as_level_2;
  return is_repeated ? "no precise event" : name_of(level_3);
}

void add_errata(const Page& page, const Event& event, std::string& text) {
  for (const events::Erratum& erratum : events::errata_of(event)) {
    text += line(
        page, "erratum",
        erratum.effect.empty() ? erratum.ids : fmt::format("{}: {}", erratum.ids, erratum.effect));
  }
}

std::string event_text(const Event& event, const Page& page) {
  std::string text = line(page, "event",
                          event.name + (event.deprecated ? " (deprecated)" : "") +
                              (event.pmu == "cpu" ? "" : ", " + event.pmu));
  text += line(page, "also", joined(event.aliases));
  const std::string raw = events::raw_encoding(event);
  text += line(page, "perf", events::perf_encoding(event) + (raw.empty() ? "" : " or " + raw));
  text += line(page, "description", event.description);
  text += line(page, "precise", precise_text(event));
  text += line(page, "level 3", level_3_text(event));
  text += line(page, "PDist", pdist_text(event));
  text += line(page, "data address", data_address_text(event));
  add_causes(page, event, text);
  text += line(page, "trigger", triggers_text(event));
  if (const auto requests = events::l2_requests(event.core, event.config))
    add_l2(page, *requests, text);
  add_errata(page, event, text);
  return text;
}

Json l2_json(const events::L2Requests& requests) {
  const auto corrected = events::corrected_umask(requests.umask);
  return {{"umask", fmt::format("0x{:02x}", requests.umask)},
          {"origins", requests.origins},
          {"results", requests.results},
          {"always_zero", requests.always_zero()},
          {"corrected_umask", corrected ? Json(fmt::format("0x{:02x}", *corrected)) : Json()}};
}

Json event_json(const Event& value) {
  const auto l2 = events::l2_requests(value.core, value.config);
  const std::string manual_error = l2 ? events::manual_error(*l2) : std::string();
  Json manual_errors = Json::array();
  if (!manual_error.empty()) manual_errors.push_back(manual_error);
  FieldWriter io;
  SKID_MEMBERS(name, aliases, pmu);
  io("encoding", Json{{"perf", events::perf_encoding(value)},
                      {"raw", text_or_null(events::raw_encoding(value))},
                      {"config", hexadecimal(value.config)},
                      {"config1", hexadecimal(value.config1)}});
  SKID_MEMBERS_OR_NULL(description, deprecated, precise, precise_source, source, data_la);
  io("pdist_counters", value.pdist);
  io("level_3", name_of(events::level_3_of(value)));
  io("counting_unit", text_or_null(events::counting_unit(value)));
  io("causes", events::causes_of(value));
  io("trigger", events::triggers_of(value));
  io("errata", events::errata_of(value));
  io("manual_errors", manual_errors);
  io("l2_rqsts", l2 ? l2_json(*l2) : Json());
  return io.take();
}

Json members_of(const Cpu& cpu, const std::vector<Event>& events) {
  return {{"cpu",
           {{"name", cpu.name},
            {"description", text_or_null(cpu.description)},
            {"at_hand", cpu.at_hand},
            {"source", cpu.source}}},
          {"events", array_of(events, event_json)}};
}

}  // namespace

std::string events_text(const Cpu& cpu, const std::vector<Event>& events, const Page& page) {
  std::string text = line(page, "CPU", cpu_line(cpu));
  for (const Event& event : events) text += '\n' + event_text(event, page);
  return text;
}

std::string event_list_text(const Cpu& cpu, const std::vector<Event>& events,
                            const Page& /*page*/) {
  std::string text = fmt::format("# {}\n", escape_for_terminal(cpu_line(cpu)));
  for (const Event& event : events) {
    std::string raw = events::raw_encoding(event);
    if (raw.empty()) raw = fmt::format("r{:04x}+", event.config);
    const char* const precise = !event.precise ? "?" : *event.precise ? "precise" : "-";
    text += fmt::format("{:<10}  {:<7}  {}\n", raw, precise,
                        escape_for_terminal(event.name) +
                            (event.pmu == "cpu" ? "" : "  " + escape_for_terminal(event.pmu)));
  }
  return text;
}

std::string events_json(const Cpu& cpu, const std::vector<Event>& events) {
  return document_text("skidscan.events/1", members_of(cpu, events));
}

std::string answers_text(const Cpu& cpu, std::string_view question,
                         const std::vector<events::Answer>& answers, const Page& page) {
  std::string text = line(page, "CPU", cpu_line(cpu)) + line(page, "to sample", question);
  for (const events::Answer& answer : answers) {
    text += '\n' + line(page, "perf record -e", answer.perf);
    if (!answer.event) {
      text += line(page, "samples", answer.remark.empty() ? "what is asked" : answer.remark);
      continue;
    }
    const Event& event = *answer.event;
    text += line(page, "event", event.name);
    text += line(page, "precise", precise_text(event));
    text += line(page, "level 3", level_3_text(event));
    text += line(page, "remark", answer.remark);
    add_errata(page, event, text);
  }
  if (answers.empty()) text += '\n' + line(page, "answer", "nothing is known for it on this CPU");
  return text;
}

std::string answers_json(const Cpu& cpu, std::string_view question,
                         const std::vector<events::Answer>& answers) {
  std::vector<Event> events;
  for (const events::Answer& answer : answers) {
    if (answer.event) events.push_back(*answer.event);
  }
  Json members = members_of(cpu, events);
  members["question"] = question;
  members["answers"] = array_of(answers, [](const events::Answer& answer) {
    return Json{{"pmu", answer.pmu},
                {"perf", answer.perf},
                {"precise", answer.precise ? Json(*answer.precise) : Json()},
                {"remark", text_or_null(answer.remark)},
                {"event", answer.event ? Json(answer.event->name) : Json()}};
  });
  return document_text("skidscan.events/1", members);
}

}  // namespace skid::output
