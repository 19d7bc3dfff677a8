#include "analysis/description.h"
#include "analysis/event_identity.h"
#include "analysis/not_judged.h"
#include "analysis/share.h"
#include "analysis/wording.h"
#include "src/audit/block_bias.h"
#include "src/audit/contradictions.h"
#include "src/audit/findings.h"
#include "src/audit/rule.h"
#include "src/events/causes.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/locate/filter.h"
#include "src/machine/machine.h"
#include "src/output/audit/audit.h"
#include "src/output/audit/audit_cells.h"
#include "src/output/audit/audited_event.h"
#include "src/output/audit/block_bias_text.h"
#include "src/output/audit/branch_records_text.h"
#include "src/output/audit/contradictions_text.h"
#include "src/output/audit/judged.h"
#include "src/output/audit/missing_text.h"
#include "src/output/cell.h"
#include "src/output/name_list.h"
#include "src/output/next_step.h"
#include "src/output/number_text.h"
#include "src/output/page.h"
#include "src/output/report/grouping.h"
#include "src/output/report/machine_text.h"
#include "src/output/report/sample_origin.h"
#include "src/output/shown_names.h"
#include "src/output/table.h"
#include "src/support/address.h"
#include "src/support/escape.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::output {
namespace {

using analysis::in_thousands;
using audit::Audit;
using audit::EventAudit;
using audit::FunctionFinding;
using audit::InstructionFinding;
using events::Verdict;

/// The maximum number of events on one screen.
constexpr std::size_t kMostRows = 16;

using Kind = ListColumn::Kind;

/// Findings, each with its event.
template <typename Finding>
using Found = std::vector<std::pair<const EventAudit*, const Finding*>>;

std::string verdicts_text(const EventAudit& event) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < event.verdicts.size(); ++i) {
    parts.push_back(fmt::format("{} {}", events::name_of(static_cast<Verdict>(i)),
                                in_thousands(event.verdicts[i])));
  }
  return list_of(parts);
}

std::string functions(const Page& page, const Found<FunctionFinding>& found, bool with_event) {
  if (found.empty()) return {};
  List list{{{"impossible"},
             {"judged"},
             {"share"},
             {"event", Kind::shortened, 0, with_event},
             {"function", Kind::wrapped}}};
  for (const auto& [event, finding] : found) {
    const auto& [module, function, judged, impossible] = *finding;
    list.add(in_thousands(impossible), in_thousands(judged), percent_of(impossible, judged),
             event_name(*event),
             fmt::format("{} ({})", function.empty() ? "no function" : function_name(function),
                         module.empty() ? "no file" : file_name(module)));
  }
  return page.title("Functions") + page.list(list);
}

std::string place_of(const InstructionFinding& found) {
  const std::string place = code_place(found.function, found.offset, found.address, found.module);
  return found.source_file.empty()
             ? place
             : fmt::format("{} {}:{}", place, file_name(found.source_file), found.source_line);
}

std::string instruction_text(const InstructionFinding& found) {
  std::string text = escape_for_terminal(found.text);
  if (found.judged_address != found.address) {
    text = fmt::format("at {:#x}: {}", found.judged_address, text);
  }
  const std::string categories = instructions::names_of(found.categories);
  if (!categories.empty()) text += fmt::format("  [{}]", categories);
  if (found.verdict != Verdict::never) text += fmt::format("  {}", events::name_of(found.verdict));
  return text;
}

std::string instructions(const Page& page, const Found<InstructionFinding>& found,
                         bool with_event) {
  if (found.empty()) return {};
  List list{{{"samples"},
             {"share"},
             {"event", Kind::shortened, 0, with_event},
             {"place", Kind::wrapped}}};
  bool has_others = false;
  for (const auto& [event, one] : found) {
    const bool is_impossible = one->verdict == Verdict::never;
    has_others = has_others || !is_impossible;
    list.add(in_thousands(one->samples), percent_of(one->samples, event->judged),
             event_name(*event), Cell{place_of(*one), is_impossible ? Ink::red : Ink::plain});
    // The instruction is on a line of its own under its place.
    list.add("", "", "", Cell{instruction_text(*one), Ink::dim});
  }
  return page.title(has_others ? "Instructions, those that cannot cause the event first"
                               : "Instructions that cannot cause the event") +
         page.list(list);
}

std::string left_out(const Page& page, std::size_t shown, std::size_t all,
                     const std::string& what) {
  return page.left_out(all - std::min(shown, all), what + ": --top N, --min-share 0");
}

bool is_impossible(const FunctionFinding& function) {
  return function.impossible > 0;
}

bool is_impossible(const InstructionFinding& instruction) {
  return instruction.verdict == Verdict::never;
}

template <typename Finding>
Found<Finding> impossible_ones(const EventAudit& event, const std::vector<Finding>& findings) {
  Found<Finding> found;
  for (const Finding& finding : findings) {
    if (is_impossible(finding)) found.emplace_back(&event, &finding);
  }
  return found;
}

/// Counts the samples that have no verdict by what the instruction does. Some of them are judged by
/// their data address.
std::string unjudged_text(const Page& page, bool has_addresses,
                          const std::array<std::uint64_t, analysis::kNotJudged>& counts) {
  return counts_by_reason<analysis::NotJudged>(
      page, has_addresses ? "not judged by instruction" : "not judged", counts);
}

std::string event_details(const Audit& audit, const EventAudit& event, const Page& page) {
  const analysis::EventIdentity& identity = event.identity;
  std::string text =
      page.rule(fmt::format("{} at level {}", identity.label, level_name(event.level))) +
      page.field("recording", escape_for_terminal(audit.file));
  const std::string requested =
      identity.requested ? ", requested as " + escape_for_terminal(*identity.requested) : "";
  text +=
      page.field("recorded", fmt::format("{}, level {}{}", escape_for_terminal(identity.recorded),
                                         event.level, requested));
  const bool has_rule = event.rule != audit::Rule::none;
  if (has_rule) text += page.field("judged by", describe(event.rule));
  text += page.field("catalogue", escape_for_terminal(event.catalogue));
  if (has_rule) text += page.field("verdicts", verdicts_text(event));
  text += contradictions_text(page, event, 0, false) +
          unjudged_text(page, event.wrong.total > event.judged, event.not_judged);
  const auto of_functions = impossible_ones(event, event.functions);
  text += functions(page, of_functions, false) +
          left_out(page, of_functions.size(), event.impossible_functions, " functions");
  Found<InstructionFinding> of_instructions;
  for (const InstructionFinding& instruction : event.instructions) {
    of_instructions.emplace_back(&event, &instruction);
  }
  text += instructions(page, of_instructions, false) +
          left_out(page, impossible_ones(event, event.instructions).size(),
                   event.impossible_instructions, " of them");
  // Events that are not of a core PMU are not expected at particular instructions.
  const bool has_blocks = event.bias.reason != name_of(analysis::NotJudged::no_core_event) &&
                          event.bias.reason != name_of(analysis::NotJudged::timer);
  if (has_blocks && !event.bias.reason_text.empty()) {
    text += '\n' + page.field("blocks", fmt::format("not judged: {}", event.bias.reason_text));
  }
  return text + bias_text({{&audit, &event}}, event.bias.blocks.size(), page);
}

/// Returns the findings of all events with the most impossible samples.
template <typename Finding>
Found<Finding> worst(const std::vector<AuditedEvent>& events,
                     const std::vector<Finding> EventAudit::*findings, auto count) {
  Found<Finding> found;
  for (const auto& [audit, event] : events) {
    const Found<Finding> more = impossible_ones(*event, event->*findings);
    found.insert(found.end(), more.begin(), more.end());
  }
  std::ranges::stable_sort(found, std::greater{},
                           [&](const auto& one) { return one.second->*count; });
  if (found.size() > kMostPlaces) found.resize(kMostPlaces);
  return found;
}

/// Lists the events of all recordings; if there are many, those with the most impossible samples.
std::string event_list(const Page& page, std::vector<AuditedEvent> events, bool is_one_recording) {
  const std::size_t all = events.size();
  if (all > kMostRows && !page.details) {
    std::ranges::stable_sort(events, std::greater{},
                             [](const auto& one) { return one.event->wrong.count; });
    events.resize(kMostRows);
  }
  List list{{{"event", Kind::shortened},
             {"level", Kind::text},
             {"samples", Kind::number, 1},
             {"judged"},
             {"impossible"},
             {"share"},
             {"95% interval", Kind::number, 2},
             {"recording", Kind::front_shortened, is_one_recording ? 3 : 0}}};
  for (const auto& [audit, event] : events) {
    list.add(escape_for_terminal(event->identity.label), level_name(event->level),
             in_thousands(event->samples));
    add_judged_cells(list.rows.back(), page, event->wrong.total, event->wrong.count, event->wrong,
                     audit->file);
  }
  return '\n' + page.list(list) + page.left_out(all - events.size(), " events, none of them worse");
}

/// Returns all warnings except those that missing_text() prints.
std::vector<std::string> warnings_of(const std::vector<Audit>& audits) {
  std::vector<std::string> texts;
  for (const Audit& audit : audits) {
    texts.insert(texts.end(), audit.remarks.begin(), audit.remarks.end());
    for (const EventAudit& event : audit.events) {
      texts.insert(texts.end(), event.warnings.begin(), event.warnings.end());
      if (event.missing_delay) texts.push_back(missing_delay_text(event));
    }
  }
  std::set<std::string_view> printed;
  for (const Audit& audit : audits) {
    for (const auto& missing : audit.missing) printed.insert(missing.remark);
  }
  std::erase_if(texts, [&printed](const std::string& text) { return printed.contains(text); });
  return texts;
}

/// Counts of all events of all recordings together.
struct Totals {
  explicit Totals(const std::vector<Audit>& audits)
      : recordings(audits), by_rule(judged_by_rule(audits)) {
    for (const Audit& audit : audits) {
      read_in_part = read_in_part || audit.read_in_part;
      filtered += audit.filtered.all;
      if (no_samples.empty()) no_samples = audit.no_samples;
      only_arm = only_arm && arch_of_kernel(audit.cpu.arch) == Arch::aarch64;
      for (const EventAudit& event : audit.events) {
        add(event);
        const auto& tagged = event.spe_record ? event.spe_record : event.ibs_record;
        lacks_code |=
            tagged && tagged->samples > 0 && tagged->share.total == 0 && !audit.missing.empty();
      }
    }
  }

  void add(const EventAudit& event) {
    samples += event.samples;
    judged += event.wrong.total;
    has_addresses = has_addresses || event.wrong.total > event.judged;
    for (std::size_t i = 0; i < reasons.size(); ++i) reasons[i] += event.not_judged[i];
    const auto timer = static_cast<std::size_t>(analysis::NotJudged::timer);
    only_timers = only_timers && event.not_judged[timer] == event.samples;
    const analysis::EventIdentity& identity = event.identity;
    if (identity.substituted) substituted.insert(escape_for_terminal(identity.label));
  }

  /// Returns what to do about a reason, on the CPU of the recording with most of its samples.
  std::string step_for(analysis::NotJudged reason) const {
    const auto samples_of = [reason](const EventAudit& event) {
      return event.not_judged[static_cast<std::size_t>(reason)];
    };
    const Audit& most = *std::ranges::max_element(recordings, {}, [&](const Audit& audit) {
      std::uint64_t sum = 0;
      for (const EventAudit& event : audit.events) sum += samples_of(event);
      return sum;
    });
    const auto event = std::ranges::max_element(most.events, {}, samples_of);
    if (event == most.events.end()) return next_step(reason, most.cpu, most.read_in_part);
    if (reason == analysis::NotJudged::level_0 ||
        reason == analysis::NotJudged::no_only_predecessor) {
      if (const std::string levels = judged_levels_of(event->identity); !levels.empty()) {
        return fmt::format("the event's samples at {} are judged", levels);
      }
    }
    const std::uint32_t type = event->identity.type;
    const bool is_of_kernel =
        type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT;
    // No catalogue of a CPU says more about these.
    if (reason == analysis::NotJudged::unknown_cause && is_of_kernel) return {};
    const bool has_advice = reason == analysis::NotJudged::level_0 && !event->advice.empty();
    return has_advice ? escape_for_terminal(event->advice)
                      : next_step(reason, most.cpu, most.read_in_part);
  }

  /// Lists the levels at which an event was recorded, too, and judged: "pp, ppp"; empty: none.
  std::string judged_levels_of(const analysis::EventIdentity& identity) const {
    std::vector<std::string> levels;
    for (const auto& [audit, event] : events_of(recordings)) {
      const analysis::EventIdentity& other = event->identity;
      const bool is_same =
          std::tie(other.type, other.config, other.config1, other.config2) ==
          std::tie(identity.type, identity.config, identity.config1, identity.config2);
      if (is_same && event->judged > 0) levels.push_back(level_name(event->level));
    }
    return list_of(each_once(std::move(levels)));
  }

  /// Explains why samples are not judged, by the most frequent reason if there are several: ": …".
  std::string reason() const {
    const auto most = std::ranges::max_element(reasons);
    const auto others =
        std::ranges::count_if(reasons, [](std::uint64_t count) { return count > 0; });
    auto reason = static_cast<analysis::NotJudged>(most - reasons.begin());
    // Records of tagged operations are judged whatever their event is.
    if (lacks_code && analysis::samples_any_instruction(reason)) {
      reason = analysis::NotJudged::no_file;
    }
    const std::string step = step_for(reason);
    return fmt::format("{}{}{}{}", others > 1 ? "; the most frequent reason: " : ": ",
                       describe(reason), step.empty() ? "" : "; ", step);
  }

  /// Explains why no sample was judged: "none of 5,000 samples could be judged: the binary is
  /// missing…". If all samples were taken by timers, the text describes timers.
  std::string why_none() const {
    if (samples == 0 && filtered > 0) {
      return fmt::format("no sample matches the filter (0 of {})", in_thousands(filtered));
    }
    if (samples == 0) return no_samples;
    if (!only_timers) {
      return samples == 1 ? "the one sample could not be judged" + reason()
                          : fmt::format("none of {} samples could be judged{}",
                                        in_thousands(samples), reason());
    }
    return fmt::format(
        "{}a timer took {}, wherever the program was; {}",
        substituted.empty()
            ? ""
            : analysis::no_pmu_counts(joined({substituted.begin(), substituted.end()})) + ": ",
        samples == 1 ? "the one sample" : fmt::format("all {} samples", in_thousands(samples)),
        step_for(only_arm ? analysis::NotJudged::no_precise_levels : analysis::NotJudged::timer));
  }

  /// Returns the first line: all that was found, the worst first, and what was not judged.
  std::pair<std::string, Ink> answer() const {
    std::vector<std::string> parts;
    bool is_found = false;
    for (const Judged& one : by_rule) {
      // Of what is sound, one rule is enough.
      const bool is_shown = parts.empty() && one.total > 0 && one.is_of_impossible();
      if (one.count > 0 || is_shown) parts.push_back(one.text());
      is_found = is_found || one.count > 0;
    }
    if (std::string branches = why_no_branch_is_judged(events_of(recordings)); !branches.empty()) {
      parts.push_back(std::move(branches));
    }
    const bool is_impossible = by_rule.front().count > 0 && by_rule.front().is_of_impossible();
    const auto rules_of_samples = std::ranges::count_if(by_rule, [](const Judged& one) {
      return one.condition == Condition::samples && one.total > 0;
    });
    const bool is_judged_otherwise = rules_of_samples > (judged > 0 ? 1 : 0);
    if (judged == 0) {
      // By what else a sample recorded: its data source, its IBS record.
      parts.push_back(is_judged_otherwise ? "no sample is judged by its event" + reason()
                                          : why_none());
    } else if (judged < samples) {
      parts.push_back(fmt::format("{} {} not judged{}{}", in_thousands(samples - judged),
                                  samples - judged == 1 ? "sample is" : "samples are",
                                  is_judged_otherwise ? " by their event" : "", reason()));
    }
    return {(read_in_part && samples > 0 ? "read in part: " : "") + joined(parts, "; "),
            is_impossible                             ? Ink::red
            : is_found || read_in_part || judged == 0 ? Ink::yellow
                                                      : Ink::green};
  }

  const std::vector<Audit>& recordings;
  std::vector<Judged> by_rule;
  std::uint64_t samples = 0, judged = 0, filtered = 0;
  std::array<std::uint64_t, analysis::kNotJudged> reasons{};
  std::string no_samples;             ///< why there are none
  std::set<std::string> substituted;  ///< labels of the requested events
  bool only_timers = true, only_arm = true, read_in_part = false, has_addresses = false;
  bool lacks_code = false;  ///< an event's records were not judged because files are missing
};

}  // namespace

std::string audit_answer(const std::vector<Audit>& audits) {
  return Totals(audits).answer().first;
}

std::string why_none_is_judged(const std::vector<Audit>& audits) {
  return Totals(audits).why_none();
}

std::string audit_text(const std::vector<Audit>& audits, const Page& page) {
  const std::vector<AuditedEvent> events = events_of(audits);
  std::vector<std::string> machines;
  for (const Audit& audit : audits) {
    machines.push_back(
        page.field("CPU", cpu_details(audit.cpu, cpu_name(audit.cpu))) +
        page.field("kernel", audit.kernel.empty() ? "unknown" : escape_for_terminal(audit.kernel)));
  }
  machines = each_once(std::move(machines));
  const Totals totals(audits);
  const auto [answer, ink] = totals.answer();
  std::string text = page.answer(answer, ink) + '\n';
  for (std::size_t i = 0; i < machines.size() && (i == 0 || page.details); ++i) text += machines[i];
  if (machines.size() > 1 && !page.details) {
    text += page.field(
        "", fmt::format("and {} more", analysis::counted(machines.size() - 1, "machine")));
  }
  text += origin_fields(page, audits) + event_list(page, events, audits.size() <= 1);
  const std::string end = branch_records_text(events, page) + missing_text(audits, page) +
                          page.warnings(warnings_of(audits));
  if (page.details) {
    for (const auto& [audit, event] : events) text += event_details(*audit, *event, page);
    return text + end;
  }
  const bool with_event = events.size() > 1;
  for (const auto& [audit, event] : events)
    text += contradictions_text(page, *event, 1, with_event);
  return text + unjudged_text(page, totals.has_addresses, totals.reasons) +
         functions(page, worst(events, &EventAudit::functions, &FunctionFinding::impossible),
                   with_event) +
         instructions(page, worst(events, &EventAudit::instructions, &InstructionFinding::samples),
                      with_event) +
         bias_text(events, kMostPlaces, page) + end + '\n' +
         page.paragraph(
             "--details prints each event with its rule, verdicts, functions and instructions",
             Ink::dim);
}

}  // namespace skid::output
