#include "analysis/wording.h"
#include "plots/kinds.h"
#include "src/html/markup.h"
#include "src/html/pages.h"
#include "src/html/svg.h"
#include "src/html/tables.h"
#include "src/output/report/grouping.h"
#include "src/output/report/parts.h"
#include "src/output/report/report.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::html {
namespace {

using analysis::Measurement;
using output::Column;
using output::EventGroup;
using output::MachineGroup;

/// A page has no columns to break lines at.
constexpr std::size_t kUnbroken = 100'000;

Markup machine_fields(const MachineGroup& machine) {
  Markup fields;
  const auto add = [&fields](const std::string& name, const std::string& text) {
    fields += element("dt", name) + element("dd", text);
  };
  add("CPU", output::cpu_details(machine.cpu));
  if (machine.cpu.hypervisor) add("hypervisor", *machine.cpu.hypervisor);
  add("kernel", machine.kernel.empty() ? "unknown" : machine.kernel);
  for (const output::Source& source : machine.sources) {
    const std::string name = source.is_run ? "run" : "file";
    add(machine.sources.size() > 1 ? name + ' ' + source.letter : name, source.name);
  }
  return element("dl", fields);
}

SortableRow summary_row(const EventGroup& event, const Column& column, const std::string& anchor) {
  const Measurement& m = *column.measurement;
  const auto share = [&](double value) -> SortableCell {
    if (m.hit_ratio.total == 0) return unknown_cell();
    return {analysis::percent(value), value};
  };
  const auto distance = [&](double analysis::Distance::*value,
                            bool analysis::Distance::*at_least) -> SortableCell {
    if (!m.instructions) return unknown_cell();
    const double length = (*m.instructions).*value;
    return {((*m.instructions).*at_least ? ">=" : "") + output::number_text(length), length};
  };
  const auto count = [](std::uint64_t samples) -> SortableCell {
    return {analysis::in_thousands(samples), static_cast<double>(samples)};
  };
  return {element("a", {{"href", "#" + anchor}}, event.event),
          {column.label, static_cast<double>(column.level)},
          count(m.samples.read()),
          share(m.hit_ratio.value),
          share(m.hit_ratio.low),
          share(m.hit_ratio.high),
          distance(&analysis::Distance::p50, &analysis::Distance::p50_at_least),
          distance(&analysis::Distance::p99, &analysis::Distance::p99_at_least),
          m.samples.read() > 0 ? count(m.precise.exact_ip_samples) : unknown_cell(),
          inked(verdict_words(m), output::ink_of(verdict_of(m)))};
}

class ReportPage {
 public:
  explicit ReportPage(const std::vector<Measurement>& measurements)
      : machines_(output::group(measurements)) {}

  Markup body() {
    Markup content = navigation();
    for (std::size_t i = 0; i < machines_.size(); ++i) content += machine(i);
    return content;
  }

 private:
  static std::string anchor(std::size_t machine, std::size_t event) {
    return fmt::format("event-{}-{}", machine + 1, event + 1);
  }

  Markup navigation() const {
    Markup items;
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      for (std::size_t k = 0; k < machines_[i].events.size(); ++k) {
        std::string name = machines_[i].events[k].event;
        if (machines_.size() > 1) name += fmt::format(" (machine {})", i + 1);
        items += element("li", element("a", {{"href", "#" + anchor(i, k)}}, name));
      }
    }
    items += element("li", element("a", {{"href", "#method"}}, "How to read this"));
    items += element("li", element("a", {{"href", "#repeat"}}, "How to repeat it"));
    return element("nav", {{"aria-label", "Sections"}}, element("ul", items));
  }

  Markup machine(std::size_t index) {
    const MachineGroup& machine = machines_[index];
    Markup content =
        element("h2", machines_.size() > 1 ? fmt::format("Machine {}", index + 1) : "The machine");
    content += machine_fields(machine);
    content += origin_box(output::origin_of(machine));
    content += summary(index);
    for (std::size_t k = 0; k < machine.events.size(); ++k) content += event(index, k);
    return element("section", content);
  }

  Markup summary(std::size_t index) const {
    const MachineGroup& machine = machines_[index];
    std::vector<SortableRow> rows;
    for (std::size_t k = 0; k < machine.events.size(); ++k) {
      const EventGroup& event = machine.events[k];
      for (const Column& column : event.columns) {
        rows.push_back(summary_row(event, column, anchor(index, k)));
      }
    }
    return element("h3", "Is the skid constraint of precise_ip met?") +
           sortable_table("Events and precise levels; click a column to sort by it",
                          {{"event"},
                           {"level"},
                           number_column("samples"),
                           number_column("hit ratio"),
                           number_column("from"),
                           number_column("to"),
                           number_column("median skid"),
                           number_column("p99 skid"),
                           number_column("EXACT_IP"),
                           {"contract"}},
                          rows) +
           svg_figure("Hit ratios with their intervals", plots::forest_figure({machine}));
  }

  Markup event(std::size_t machine, std::size_t index) {
    const EventGroup& event = machines_[machine].events[index];
    plots::Machines alone{machines_[machine]};
    alone.front().events = {event};
    const auto figure_of = [&event](const char* title, plots::Figure figure) {
      figure.blocks.front().name.clear();  // it is the heading
      return svg_figure(title + event.event, std::move(figure));
    };
    return element(
        "section", {{"id", anchor(machine, index)}},
        element("h3", event.event) + triggers(event) + trigger_figure(event, alone) +
            element("h4", "Where samples land") +
            figure_of("Offsets of the samples of ", plots::histogram_figure(alone, {})) +
            element("h4", "Samples by class") +
            figure_of("Classes of the samples of ", plots::breakdown_figure(alone)) +
            element("h4", "In numbers") +
            table("Levels side by side", output::event_numbers(event, {.width = kUnbroken})) +
            repeats(event) + contracts(event) + skid_in_events(event) + ip_checks(event) +
            warnings(event));
  }

  static Markup trigger_figure(const EventGroup& event, const plots::Machines& alone) {
    if (std::none_of(event.columns.begin(), event.columns.end(), [](const Column& column) {
          return plots::has_trigger_distances(*column.measurement);
        })) {
      return {};
    }
    plots::Figure figure = plots::bias_figure(alone);
    figure.blocks.front().name.clear();  // it is the heading
    return element("h4", "Which trigger samples fall on") +
           svg_figure("Shares of the triggers of " + event.event, std::move(figure));
  }

  static Markup repeats(const EventGroup& event) {
    const auto numbers = output::repeats_numbers(event, output::Page{});
    if (!numbers) return {};
    return table("Over runs: means of their values, intervals over runs", *numbers);
  }

  /// The requested and the recorded event, and the trigger.
  static Markup triggers(const EventGroup& event) {
    Markup rows;
    for (const Column& column : event.columns) {
      const Measurement& m = *column.measurement;
      std::vector<std::string> remarks;
      if (m.event.substituted) remarks.emplace_back("another event was recorded");
      if (m.read_in_part) remarks.emplace_back("read in part");
      if (m.synthetic) remarks.emplace_back("synthetic");
      rows += element(
          "tr",
          element("th", {{"scope", "row"}}, column.label) +
              element("td", m.event.requested.value_or("unknown")) +
              element("td", m.event.recorded) + element("td", output::trigger_text(m)) +
              element("td", {{"class", "care"}}, fmt::format("{}", fmt::join(remarks, "; "))));
    }
    Markup head;
    for (const char* name : {"level", "requested", "recorded", "trigger", ""}) {
      head += element("th", {{"scope", "col"}}, name);
    }
    return element(
        "div", {{"class", "scroll"}},
        element("table", element("thead", element("tr", head)) + element("tbody", rows)));
  }

  static Markup contracts(const EventGroup& event) {
    Markup content = element("h4", "Contract: promised and observed");
    for (const Column& column : event.columns) {
      const Measurement& m = *column.measurement;
      const analysis::Contract& contract = m.contract;
      content += element(
          "p", element("span", {{"class", "bold"}}, column.label) + Markup::text(" ") +
                   inked(verdict_words(m), output::ink_of(verdict_of(m))) +
                   element("span", {{"class", "dim"}},
                           fmt::format(" (level {}: {}) ", contract.level, contract.promise)) +
                   Markup::text(contract.evidence) +
                   Markup::text(m.evenness ? "; " + m.evenness->evidence : ""));
    }
    return content;
  }

  static Markup skid_in_events(const EventGroup& event) {
    Markup content;
    for (const Column& column : event.columns) {
      const auto& skid = column.measurement->basis.skid_in_events;
      if (skid) content += element("li", column.label + ": " + describe(*skid));
    }
    if (content.empty()) return content;
    return element("h4", "Skid in events") + element("ul", content);
  }

  static Markup ip_checks(const EventGroup& event) {
    Markup content;
    for (const Column& column : event.columns) {
      const auto& check = column.measurement->ip_check;
      if (!check) continue;
      std::string text = fmt::format("{}: {} of {} sampled addresses agree with {}", column.label,
                                     check->agreeing, check->compared, check->tracepoint);
      if (check->unpaired > 0) text += fmt::format("; {} were not compared", check->unpaired);
      content += element("li", text);
    }
    if (content.empty()) return content;
    return element("h4", "Sampled addresses against a tracepoint") + element("ul", content);
  }

  /// Warnings of a whole recording are printed once, with its first event.
  Markup warnings(const EventGroup& event) {
    Markup items;
    for (const Column& column : event.columns) {
      const Measurement& m = *column.measurement;
      const auto add = [&](const std::vector<std::string>& warnings) {
        for (const std::string& warning : warnings) {
          items += element("li", column.label + ": " + warning);
        }
      };
      add(m.warnings);
      add(m.count_warnings);
      const auto* of_recording = m.recording_warnings.get();
      if (of_recording != nullptr && shown_.insert(of_recording).second) add(*of_recording);
    }
    if (items.empty()) return items;
    return element("h4", {{"class", "care"}}, "Warnings") + element("ul", items);
  }

  std::vector<MachineGroup> machines_;
  std::set<const std::vector<std::string>*> shown_;  ///< warnings of recordings
};

Markup method() {
  Markup content = element("h2", "How to read this");
  content += element(
      "p",
      "One instruction of a generated program, the trigger, causes each event; a runway of NOPs "
      "follows it. A sample at the trigger is a hit. For a sample on the runway, the number of "
      "instructions from the trigger to the sampled address is the skid. Samples before the "
      "trigger, in the rest of the loop and elsewhere have their own classes; all classes add up "
      "to the samples read.");
  content += element(
      "p",
      "The hit ratio is the share of hits in the judged samples: hit, skid, before, censored and "
      "loop. Its 95% interval is Wilson's. Censored samples are at or after the end of the runway, "
      "so that quantiles among them are lower bounds (>=).");
  content += element(
      "p",
      fmt::format(
          "The skid constraint of perf's precise levels: p constant skid, pp skid 0 requested, "
          "ppp {}. It is kept where the interval of its share is above 99.9%, broken where it "
          "is below, and undecided otherwise. EXACT_IP is the flag that the kernel set on a "
          "sample: evidence before Haswell and with IBS, elsewhere it follows the requested "
          "level.",
          analysis::kPromiseOfLevelThree));
  return element("section", {{"id", "method"}}, content);
}

}  // namespace

std::string report_page(const std::vector<Measurement>& measurements, const Origin& origin) {
  return document("skidscan report", "Where samples land",
                  "For each event and precise level of perf: how far the sampled instruction is "
                  "from the one that caused the event. Result: " +
                      output::report_answer(measurements) + '.',
                  ReportPage(measurements).body() + method(), origin);
}

}  // namespace skid::html
