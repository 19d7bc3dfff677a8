#include "analysis/basis.h"
#include "analysis/contract.h"
#include "analysis/delay.h"
#include "analysis/distance.h"
#include "analysis/distributions.h"
#include "analysis/evenness.h"
#include "analysis/event_identity.h"
#include "analysis/events_per_iteration.h"
#include "analysis/figures.h"
#include "analysis/intervals.h"
#include "analysis/ip_check.h"
#include "analysis/measured_delay.h"
#include "analysis/measurement.h"
#include "analysis/repeats.h"
#include "analysis/share.h"
#include "analysis/skid_in_events.h"
#include "analysis/tally.h"
#include "analysis/wording.h"
#include "assets.h"
#include "src/machine/answer_reason.h"
#include "src/machine/machine.h"
#include "src/output/cell.h"
#include "src/output/delay_text.h"
#include "src/output/name_list.h"
#include "src/output/number_text.h"
#include "src/output/padding.h"
#include "src/output/page.h"
#include "src/output/report/event_levels.h"
#include "src/output/report/evidence.h"
#include "src/output/report/grouping.h"
#include "src/output/report/machine_text.h"
#include "src/output/report/number_cells.h"
#include "src/output/report/offset_line.h"
#include "src/output/report/parts.h"
#include "src/output/report/report.h"
#include "src/output/report/verdict_cells.h"
#include "src/output/report/verdict_words.h"
#include "src/output/table.h"
#include "src/support/escape.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::Measurement;
using analysis::Verdict;
using Kind = ListColumn::Kind;

// The limits of one screen; --details shows all.
constexpr std::size_t kMostMachines = 3;
constexpr std::size_t kMostRows = 24;
constexpr std::size_t kMostBars = 8;
constexpr std::size_t kMostNotes = 6;

/// A row of the table: a measurement of an event at a level, or all repeats of one.
struct ReportRow {
  const EventGroup* event = nullptr;
  std::string label;  ///< the level; with several sources or kinds more
  std::vector<const Measurement*> runs;
  std::optional<analysis::RepeatedMeasurement> repeats = {};  ///< statistics of several runs
  std::array<std::size_t, 4> verdicts = {};                   ///< number of runs by Verdict
  bool is_first = false;                                      ///< the first row of its event

  const Measurement& first() const { return *runs.front(); }
  bool has(Verdict verdict) const { return verdicts.at(static_cast<std::size_t>(verdict)) > 0; }
};

/// Returns the rows of events. `joined`: repeats of a configuration make one row.
std::vector<ReportRow> rows_of(const std::vector<EventGroup>& events, bool joined) {
  std::vector<ReportRow> rows;
  for (const EventGroup& event : events) {
    std::vector<const Measurement*> measurements;
    for (const Column& column : event.columns) measurements.push_back(column.measurement);
    const auto repeats = analysis::repeats_of(measurements);
    std::map<std::string, int> used;
    for (const Column& column : event.columns) {
      ReportRow row{.event = &event, .label = column.label, .runs = {column.measurement}};
      const auto found = std::ranges::find_if(repeats, [&column](const auto& of) {
        return std::ranges::find(of.runs, column.measurement) != of.runs.end();
      });
      if (joined && found != repeats.end()) {
        if (found->runs.front() != column.measurement) continue;
        row.runs = found->runs;
        row.repeats = *found;
        // Repeats of another period or trigger, or recorded as another event, have the same level.
        row.label = numbered(level_name(column.level), ++used[level_name(column.level)]);
      }
      for (const Measurement* run : row.runs) {
        ++row.verdicts.at(static_cast<std::size_t>(verdict_of(*run)));
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// Returns the median skid: over runs, or of the only run.
Cell median_cell(const ReportRow& row) {
  if (!row.repeats) {
    const auto& distance = row.first().instructions;
    return distance ? length_cell(distance->p50, distance->p50_at_least) : unknown_cell();
  }
  const auto& median = row.repeats->median;
  return median ? length_cell(median->interval.value, median->at_least) : unknown_cell();
}

/// Returns the 99th percentile of the skid, the longest of several runs.
Cell p99_cell(const ReportRow& row) {
  const auto p99 = [](const Measurement* m) {
    return m->instructions ? std::optional(m->instructions->p99) : std::nullopt;
  };
  const auto& longest = (*std::ranges::max_element(row.runs, {}, p99))->instructions;
  return longest ? length_cell(longest->p99, longest->p99_at_least) : unknown_cell();
}

/// Returns the hit ratio and its interval: over runs, or over the samples of the only run.
std::optional<analysis::Interval> hit_ratio(const ReportRow& row) {
  if (row.repeats && !row.repeats->hit_ratio) return std::nullopt;
  if (row.repeats) return row.repeats->hit_ratio->interval;
  const analysis::Share& ratio = row.first().hit_ratio;
  if (ratio.total == 0) return std::nullopt;
  return analysis::Interval{ratio.value, ratio.low, ratio.high};
}

std::uint64_t samples_read(const ReportRow& row) {
  std::uint64_t read = 0;
  for (const Measurement* run : row.runs) read += run->samples.read();
  return read;
}

Cell exact_cell(const ReportRow& row) {
  const std::uint64_t read = samples_read(row);
  if (read == 0) return unknown_cell();
  std::uint64_t exact = 0;
  for (const Measurement* run : row.runs) exact += run->precise.exact_ip_samples;
  return {percent_of(exact, read)};
}

/// Names the event in its first row, and the event that was recorded in its place.
Cell event_cell(const Page& page, const ReportRow& row) {
  const std::string name = row.is_first ? escape_for_terminal(row.event->event) : "";
  const auto substituted =
      std::ranges::find_if(row.runs, [](const auto* run) { return run->event.substituted; });
  if (substituted == row.runs.end()) return {name};
  return {
      name + (page.unicode ? " ≠ " : " ! ") + escape_for_terminal((*substituted)->event.recorded),
      Ink::red};
}

Cell level_cell_of(const ReportRow& row) {
  const analysis::PreciseLevel& precise = row.first().precise;
  if (!precise.requested || *precise.requested == precise.recorded) return {row.label};
  return {fmt::format("{}, {}", row.label, level_cell(precise).text), Ink::yellow};
}

Cell verdict_cell(const ReportRow& row) {
  if (!row.repeats) return {verdict_words(row.first()), ink_of(verdict_of(row.first()))};
  Cell cell = verdict_counts(row.verdicts);
  std::uint64_t not_corrected = 0;
  std::uint64_t judged = 0;
  for (const Measurement* run : row.runs) {
    not_corrected += run->contract.not_corrected.count;
    judged += run->contract.not_corrected.total;
  }
  cell.text += not_corrected_words(not_corrected, judged);
  return cell;
}

std::string table(const Page& page, const std::vector<ReportRow>& rows) {
  const bool has_repeats =
      std::ranges::any_of(rows, [](const auto& row) { return row.runs.size() > 1; });
  List list{{{"event", Kind::shortened},
             {"level", Kind::text},
             {"runs", Kind::number, 1, has_repeats},
             {"samples", Kind::number, 2},
             {"hit ratio"},
             {"95% interval", Kind::number, 4},
             {"p50"},
             {"p99"},
             {"EXACT_IP", Kind::number, 3},
             {"contract", Kind::text}}};
  for (const ReportRow& row : rows) {
    const auto ratio = hit_ratio(row);
    list.add(event_cell(page, row), level_cell_of(row), fmt::format("{}", row.runs.size()),
             fmt::format("{}", samples_read(row)),
             ratio ? Cell{analysis::percent(ratio->value), Ink::bold} : unknown_cell(),
             ratio ? Cell{share_range(page, ratio->low, ratio->high)} : unknown_cell(),
             median_cell(row), p99_cell(row), exact_cell(row), verdict_cell(row));
  }
  return '\n' + page.list(list);
}

/// Whether the samples of a row are at several offsets, so that a line of bars shows something.
bool is_spread(const ReportRow& row) {
  return std::ranges::any_of(row.runs, [](const Measurement* run) {
    return run->constant_skid && run->constant_skid->verdict != Verdict::kept;
  });
}

/// Returns a line of bars for each row without a constant skid. The lines of an event cover the
/// same range.
std::string bars(const Page& page, const std::vector<ReportRow>& rows) {
  std::vector<const ReportRow*> shown;
  std::size_t left_out = 0;
  std::map<const EventGroup*, std::vector<const Measurement*>> runs_of_event;
  for (const ReportRow& row : rows) {
    if (!is_spread(row)) continue;
    if (shown.size() == kMostBars) {
      ++left_out;
      continue;
    }
    std::vector<const Measurement*>& runs = runs_of_event[row.event];
    runs.insert(runs.end(), row.runs.begin(), row.runs.end());
    shown.push_back(&row);
  }
  List list{
      {{"offsets of", Kind::shortened}, {"level", Kind::text}, {"from"}, {"", Kind::text}, {"to"}}};
  const EventGroup* last = nullptr;
  for (const ReportRow* row : shown) {
    const auto range = offset_range(runs_of_event[row->event]);
    if (!range) continue;
    const bool is_first = std::exchange(last, row->event) != row->event;
    list.add(is_first ? escape_for_terminal(row->event->event) : "", row->label,
             analysis::signed_number(range->low),
             offset_line(page, row->runs, *range, page.width - 40),
             analysis::signed_number(range->high));
  }
  return list.rows.empty() ? "" : '\n' + page.list(list) + page.left_out(left_out, ": --details");
}

/// Chooses the rows that fit a screen, broken and undecided ones first, and keeps their order.
std::vector<ReportRow> most_important(const std::vector<ReportRow>& rows) {
  std::vector<const ReportRow*> order;
  for (const ReportRow& row : rows) order.push_back(&row);
  const auto rank = [](const ReportRow* row) {
    return row->has(Verdict::broken) ? 0 : row->has(Verdict::undecided) ? 1 : 2;
  };
  std::ranges::stable_sort(order, {}, rank);
  order.resize(std::min(order.size(), kMostRows));
  std::ranges::sort(order);  // by address: all rows are in one vector
  std::vector<ReportRow> chosen;
  for (const ReportRow* row : order) chosen.push_back(*row);
  return chosen;
}

/// Collects sentences, each once with all events and levels that it is about.
struct Notes {
  struct Note {
    std::string lead, text;
    Ink ink;
    EventLevels events;
  };
  const Page& page;
  std::vector<Note> notes = {};
  std::map<std::string, std::size_t> places = {};

  void add(const ReportRow& row, std::string_view lead, std::string_view text, Ink ink) {
    const auto [place, is_new] =
        places.try_emplace(fmt::format("{}\n{}", lead, text), notes.size());
    if (is_new) notes.push_back({std::string(lead), escape_for_terminal(text), ink, {}});
    notes[place->second].events.add(row.event->event, row.label);
  }

  void add_verdict(const ReportRow& row, Verdict verdict) {
    // Repeats are represented by the evidence of the first one.
    const auto run = std::ranges::find_if(
        row.runs, [verdict](const auto* m) { return verdict_of(*m) == verdict; });
    if (run == row.runs.end()) return;
    const bool by_contract = (*run)->contract.verdict == verdict;
    std::string text = by_contract ? contract_evidence(**run) : evenness_evidence(**run);
    if (page.details) {
      text = fmt::format("level {}, {}: {}", (*run)->contract.level,
                         name_of((*run)->contract.constraint), text);
    } else if (verdict == Verdict::not_judged) {
      text = short_reason(**run);
    }
    add(row, analysis::name_of(verdict), text, ink_of(verdict));
  }

  void add_warnings(const ReportRow& row) {
    for (const Measurement* run : row.runs) {
      if (run->read_in_part) add(row, "warning", "read in part", Ink::yellow);
      for (const std::string& text : all_warnings(*run)) add(row, "warning", text, Ink::yellow);
      if (run->bias && run->bias->p < 0.01 && !run->evenness) {
        std::string text = fmt::format("samples differ among {} triggers: ", run->triggers.size());
        if (run->delay && run->delay->predicted > 0.5) {
          text +=
              "the next sample follows from the previous one by the delay; record --vary-period "
              "adds up several periods";
        } else {
          if (run->bias->largest_ratio) {
            text += fmt::format("largest ratio {}, ", number_text(*run->bias->largest_ratio));
          }
          text += "chi-square " + analysis::p_text(run->bias->p);
        }
        add(row, "warning", text, Ink::yellow);
      }
      if (!run->ip_check) continue;
      const analysis::IpCheck& check = *run->ip_check;
      const bool agree = check.agreeing == check.compared && check.compared > 0;
      add(row, "IP check",
          fmt::format("{} of {} sampled addresses agree with {} ({} not compared)", check.agreeing,
                      check.compared, check.tracepoint, check.unpaired),
          agree ? Ink::green : Ink::red);
    }
  }

  /// Adds the skid in events over all runs.
  void add_skid_in_events(const ReportRow& row) {
    std::map<std::string, analysis::SkidInEvents> by_refusal;
    for (const Measurement* run : row.runs) {
      const auto& skid = run->basis.skid_in_events;
      if (!skid) continue;
      const auto [sum, is_new] = by_refusal.try_emplace(skid->refused, *skid);
      if (!is_new) sum->second += *skid;
    }
    for (const auto& [refusal, sum] : by_refusal)
      add(row, "in events", skid_in_events_text(sum), Ink::plain);
  }

  /// Adds the delays, each over all runs with pairs of the same target.
  void add_delay(const ReportRow& row) {
    for (const auto& [delay, pairs] : analysis::delays_over(row.runs)) {
      add(row, "delay", delay_text(delay, pairs), Ink::plain);
    }
  }

  /// Finds the measurement at level 2 of the same event and run, with evenness of the same kind; or
  /// returns null.
  static const Measurement* at_level_2(const ReportRow& row, const Measurement& level_3,
                                       const std::vector<ReportRow>& rows) {
    for (const ReportRow& other : rows) {
      if (other.event != row.event) continue;
      for (const Measurement* const run : other.runs) {
        if (run->precise.recorded == 2 && run->run == level_3.run &&
            run->repeat == level_3.repeat && run->evenness &&
            run->evenness->of == level_3.evenness->of) {
          return run;
        }
      }
    }
    return nullptr;
  }

  /// Adds the distribution of an event at level 3, compared with that at level 2 if both are known.
  void add_evenness(const ReportRow& row, const std::vector<ReportRow>& rows) {
    for (const Measurement* const run : row.runs) {
      if (!run->evenness || run->precise.recorded != 3) continue;
      if (verdict_of(*run) != run->contract.verdict) continue;  // the evidence of the verdict
      const Measurement* const level_2 = at_level_2(row, *run, rows);
      const bool is_compared =
          level_2 != nullptr && run->evenness->verdict != analysis::Evenness::Verdict::undecided;
      add(row, "evenness",
          is_compared ? comparison_of(*level_2->evenness, *run->evenness) : evenness_evidence(*run),
          Ink::plain);
    }
  }

  std::string text() const {
    constexpr std::size_t kLeadWidth = 12;
    const std::size_t most = page.details || page.html ? notes.size() : kMostNotes;
    std::string text;
    for (std::size_t i = 0; i < notes.size() && i < most; ++i) {
      const Note& note = notes[i];
      const std::string events = page.details ? note.events.text(SIZE_MAX) : note.events.text();
      text += page.hanging(page.paint(pad_right(note.lead, kLeadWidth), note.ink), kLeadWidth,
                           events + ": " + note.text);
    }
    if (notes.size() > most) {
      text += fmt::format("{} more: --details\n", analysis::counted(notes.size() - most, "note"));
    }
    return text.empty() ? text : '\n' + text;
  }
};

std::string notes(const Page& page, const std::vector<ReportRow>& rows) {
  Notes notes{page};
  for (const ReportRow& row : rows) notes.add_verdict(row, Verdict::broken);
  for (const ReportRow& row : rows) notes.add_verdict(row, Verdict::undecided);
  for (const ReportRow& row : rows) notes.add_evenness(row, rows);
  for (const ReportRow& row : rows) notes.add_warnings(row);
  for (const ReportRow& row : rows) {
    if (page.details) notes.add_verdict(row, Verdict::kept);
  }
  for (const ReportRow& row : rows) notes.add_verdict(row, Verdict::not_judged);
  return notes.text();
}

/// Returns the findings from the counters' values, if they were recorded, and from the order of
/// samples.
std::string measured_in_order(const Page& page, const std::vector<ReportRow>& rows) {
  Notes notes{page};
  for (const ReportRow& row : rows) notes.add_skid_in_events(row);
  for (const ReportRow& row : rows) notes.add_delay(row);
  return notes.text();
}

/// Returns the notes and the figure that a page shows before the details.
std::string reasons_and_figure(const Page& page, const MachineGroup& machine,
                               const std::vector<ReportRow>& rows) {
  Page brief = page;
  brief.details = false;
  return notes(brief, rows) + page.figure("forest", &machine);
}

/// Returns the number of samples to expect from the iterations of a measurement's target.
std::optional<double> expected_samples(const Measurement& m) {
  const std::optional<double>& events = m.events_per_iteration.expected;
  if (!m.basis.iterations || !events || !m.period.requested || *m.period.requested == 0) return {};
  return static_cast<double>(*m.basis.iterations) * *events /
         static_cast<double>(*m.period.requested);
}

/// Lists the measurements without a sample, and explains why they have none.
std::string describe_unsampled(const Page& page, const MachineGroup& machine) {
  Notes notes{page};
  for (const EventGroup& event : machine.unsampled) {
    for (const Column& column : event.columns) {
      const Measurement& m = *column.measurement;
      const machine::Reason reason = machine::why_no_samples(
          m.cpu, machine::sampled_by(m.event.type), m.precise.recorded, expected_samples(m));
      const bool has_remedy = !reason.remedy.empty();
      notes.add({.event = &event, .label = column.label, .runs = {&m}}, "no samples",
                has_remedy || m.event.remark.empty() ? text_of(reason) : m.event.remark,
                Ink::yellow);
    }
  }
  return notes.text();
}

/// `of`: what makes headings of a page different from those of other machines; may be empty.
std::string machine_report(const Page& page, const MachineGroup& machine, const std::string& of) {
  std::vector<ReportRow> rows = rows_of(machine.events, true);
  std::string text = machine_header(page, machine) + describe_unsampled(page, machine);
  if (rows.empty()) return text;
  std::vector<ReportRow> shown = page.details ? rows : most_important(rows);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    // Rows of a page can be sorted.
    shown[i].is_first = page.html || i == 0 || shown[i - 1].event != shown[i].event;
  }
  text +=
      table(page, shown) + page.left_out(rows.size() - shown.size(), " rows, none of them worse");
  if (!page.details) {
    return text + bars(page, shown) + measured_in_order(page, rows) + notes(page, rows);
  }
  if (page.html) text += reasons_and_figure(page, machine, rows);
  for (const EventGroup& event : machine.events) {
    text += event_details(page, machine, event, of);
  }
  if (page.html) text += page.rule("Evidence and warnings" + of);
  return text + measured_in_order(page, rows) + notes(page, rows_of(machine.events, false));
}

std::size_t broken_in(const MachineGroup* machine) {
  std::size_t broken = 0;
  for (const EventGroup& event : machine->events) {
    for (const Column& column : event.columns) {
      if (verdict_of(*column.measurement) == Verdict::broken) ++broken;
    }
  }
  return broken;
}

}  // namespace

std::string report_text(const std::vector<Measurement>& measurements, const Page& page) {
  if (measurements.empty()) return "no measurements\n";
  const std::vector<MachineGroup> machines = group_sampled(measurements);
  std::vector<const MachineGroup*> order;
  for (const MachineGroup& machine : machines) order.push_back(&machine);
  const std::size_t most = page.details ? order.size() : std::min(order.size(), kMostMachines);
  if (most < order.size()) std::ranges::stable_sort(order, std::greater{}, broken_in);
  const auto [answer, ink] = report_answer(machines);
  std::string text = page.answer(answer, ink);
  for (std::size_t i = 0; i < most; ++i) {
    text += '\n';
    const std::string number = fmt::format("CPU {}", i + 1);
    const bool has_headings = page.html && machines.size() > 1;
    if (has_headings) text += page.rule(fmt::format("{}: {}", number, cpu_name(order[i]->cpu)));
    text += machine_report(page, *order[i], has_headings ? ", " + number : "");
  }
  if (page.html)
    text += fmt::format(html::kReading, name_of(analysis::Constraint::zero_and_distribution));
  if (page.details) return text;
  std::string more =
      "--details prints settings, sample breakdown, histograms and evidence; --plot FILE draws "
      "figures, --html FILE writes a page";
  if (most < order.size()) {
    const auto broken =
        std::count_if(order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                      [](const auto* machine) { return broken_in(machine) > 0; });
    more = fmt::format(
        "{} more machines, {} of them with a broken contract; {}; skidscan compare --by machine "
        "compares them",
        order.size() - most, broken, more);
  }
  const bool is_any_of_pmu = std::ranges::any_of(measurements, [](const Measurement& m) {
    return machine::sampled_by(m.event.type) == machine::SampledBy::pmu;
  });
  if (!is_any_of_pmu) more = fmt::format("{}; {}", more, kSeeExample);
  return text + '\n' + page.paragraph(more, Ink::dim);
}

}  // namespace skid::output
