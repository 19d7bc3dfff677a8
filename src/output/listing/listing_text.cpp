#include "analysis/event_identity.h"
#include "analysis/measurement.h"
#include "analysis/target_map.h"
#include "analysis/wording.h"
#include "src/events/causes.h"
#include "src/instructions/counted.h"
#include "src/listing/rows.h"
#include "src/listing/sampled_code.h"
#include "src/listing/source_text.h"
#include "src/output/cell.h"
#include "src/output/listing/listing.h"
#include "src/output/listing/listing_answer.h"
#include "src/output/listing/places.h"
#include "src/output/name_list.h"
#include "src/output/padding.h"
#include "src/output/page.h"
#include "src/output/report/grouping.h"
#include "src/output/report/parts.h"
#include "src/support/address.h"
#include "src/support/escape.h"
#include "src/symbols/location.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::Measurement;
using listing::Code;
using listing::Count;
using listing::Part;
using listing::RowKind;

constexpr std::size_t kShareWidth = 4;
/// Minimum width of the instructions; to keep it, levels are put below each other.
constexpr std::size_t kNarrowestText = 18;
/// The share of the samples from which on a line is bold.
constexpr double kHot = 0.05;

/// Formats a share in percent in four columns: "100", "99.8", "5.23", "<.01".
std::string short_percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0 || part == 0) return {};
  if (part == whole) return "100";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent >= 99.95) return "99.9";
  if (percent >= 9.995) return fmt::format("{:.1f}", percent);
  return percent < 0.005 ? "<.01" : fmt::format("{:.2f}", percent);
}

/// The columns of a table that show the samples of one event at one level.
struct Cells {
  std::string label;
  std::size_t column = 0;  ///< index in Listing::columns
  Count total;
  bool is_mixed = false;  ///< some samples have EXACT_IP and others have not
  std::size_t number_width = 1, width = 0;
};

/// A table of some code for one event.
class Panel {
 public:
  Panel(const Page& page, const listing::Listing& listing, const Code& code,
        const ListingChoices& choices, std::vector<Cells> cells)
      : page_(page), listing_(listing), code_(code), choices_(choices), cells_(std::move(cells)) {
    std::vector<std::size_t> columns;
    for (const Cells& cells_of_one : cells_) columns.push_back(cells_of_one.column);
    rows_ = listing::rows(listing, code, columns, choices.folding);
    for (const listing::Row& row : rows_) {
      at_width_ = std::max(at_width_, at(row).size());
      is_accused_ = is_accused_ || is_never(row);
      is_censored_ = is_censored_ || (row.part == Part::censored && is_sampled(row));
    }
    for (Cells& cells_of_one : cells_) measure(cells_of_one);
  }

  std::string text() const {
    std::string text;
    const std::size_t code_width = kMarks + at_width_ + 1 + kNarrowestText;
    for (std::size_t first = 0; first < cells_.size();) {
      std::size_t last = first;
      std::size_t used = 0;
      while (last < cells_.size() &&
             (last == first || used + cells_[last].width + code_width <= page_.width)) {
        used += cells_[last++].width;
      }
      text += (first > 0 ? "\n" : "") + part(first, last, used);
      first = last;
    }
    return text;
  }

  /// Whether some instruction cannot cause the event.
  bool is_accused() const { return is_accused_; }
  /// Whether samples are at the end of a runway, so that their skid may be longer.
  bool is_censored() const { return is_censored_; }

 private:
  static constexpr std::size_t kGap = 2;
  static constexpr std::size_t kMarks = 4;  ///< width of a line's marks, with a gap on either side

  void measure(Cells& cells) const {
    cells.total = code_.total(cells.column);
    cells.is_mixed = cells.total.exact > 0 && cells.total.exact < cells.total.samples;
    const auto read = listing_.columns[cells.column].read();
    cells.number_width = fmt::format("{}", read).size();
    const std::size_t content =
        cells.number_width + 1 + kShareWidth + (cells.is_mixed ? 1 + kShareWidth : 0);
    cells.width = kGap + std::max(content, display_width(cells.label));
    cells.number_width += cells.width - kGap - content;
  }

  std::string cell(const Cells& cells, const Count& count, std::uint64_t whole, bool is_row) const {
    std::string number = count.samples == 0 ? "." : fmt::format("{}", count.samples);
    std::string text = std::string(kGap, ' ') + pad_left(number, cells.number_width) + ' ' +
                       pad_left(short_percent(count.samples, whole), kShareWidth);
    if (cells.is_mixed) {
      const std::string exact = short_percent(count.exact, count.samples);
      const bool differs = is_row && exact != short_percent(cells.total.exact, cells.total.samples);
      std::string shown;
      if (count.samples > 0 && differs) shown = exact.empty() ? "0" : exact;
      text += ' ' + pad_left(shown, kShareWidth);
    }
    Ink ink = Ink::plain;
    if (count.samples == 0) {
      ink = Ink::dim;
    } else if (is_row && whole > 0 &&
               static_cast<double>(count.samples) >= kHot * static_cast<double>(whole)) {
      ink = Ink::bold;
    }
    return page_.paint(text, ink);
  }

  /// Returns the distance of an instruction in a target from the trigger; elsewhere its address.
  static std::string at(const listing::Row& row) {
    if (row.kind == RowKind::inside || row.kind == RowKind::not_decoded) return {};
    if (row.first_offset) return analysis::signed_number(*row.first_offset);
    return fmt::format("{:x}", row.range.begin);
  }

  std::string code_text(const listing::Row& row) const {
    const char* times = page_.unicode ? "×" : "x";
    switch (row.kind) {
      case RowKind::inside:
        return "at no instruction's first byte";
      case RowKind::not_decoded:
        return "after the decoded code";
      case RowKind::address:
        return fmt::format("{}+{:#x}", escape_for_terminal(code_.name),
                           row.range.begin - code_.range.begin);
      case RowKind::instruction:
        break;
      case RowKind::folded: {
        const std::string to = row.last_offset ? analysis::signed_number(*row.last_offset)
                                               : fmt::format("{:x}", row.range.end);
        const std::string what =
            row.text.empty() ? "instructions" : fmt::format("{} {}", times, row.text);
        return fmt::format("{} {}: {} {}{}", row.last_offset ? "to" : "until", to, row.instructions,
                           what, remark(row));
      }
    }
    std::string text = row.text;
    if (!row.destination.empty()) {
      text += fmt::format(" <{}>", escape_for_terminal(row.destination));
    }
    return text + remark(row);
  }

  std::string remark(const listing::Row& row) const {
    std::string text;
    if (row.part == Part::trigger) {
      const std::size_t triggers = code_.map->triggers();
      text = triggers > 1 ? fmt::format("trigger {} of {}", *row.trigger + 1, triggers) : "trigger";
    } else if (row.part == Part::other_trigger) {
      text = "other trigger";
    }
    std::vector<std::string> levels;
    for (const Cells& cells : cells_) {
      const listing::Column& column = listing_.columns[cells.column];
      if (choices_.is_shadowed(column, code_, row)) levels.push_back(cells.label);
    }
    if (!levels.empty()) {
      text += fmt::format("{}cannot be sampled at {}", text.empty() ? "" : ", ", list_of(levels));
    }
    return text.empty() ? text : "  <- " + text;
  }

  static bool is_sampled(const listing::Row& row) {
    return std::ranges::any_of(row.counts, [](const Count& count) { return count.samples > 0; });
  }

  static bool is_never(const listing::Row& row) {
    return std::ranges::any_of(
        row.verdicts, [](const auto& verdict) { return verdict == events::Verdict::never; });
  }

  std::string marks(const listing::Row& row) const {
    std::string_view mark = " ";
    if (row.part == Part::trigger || row.part == Part::other_trigger) mark = ">";
    if (row.part == Part::censored) mark = "~";
    const Ink ink = mark == ">" ? Ink::green : Ink::yellow;
    return ' ' + (mark == " " ? std::string(mark) : page_.paint(mark, ink)) +
           (is_never(row) ? page_.paint("!", Ink::red) : " ") + ' ';
  }

  std::string line(const listing::Row& row, std::size_t first, std::size_t last,
                   std::size_t used) const {
    std::string lead;
    for (std::size_t i = first; i < last; ++i) {
      lead += cell(cells_[i], row.counts[i], cells_[i].total.samples, true);
    }
    lead += marks(row) + page_.paint(pad_left(at(row), at_width_), Ink::dim) + ' ';
    const Ink ink = row.part == Part::trigger                        ? Ink::green
                    : row.kind == RowKind::folded || at(row).empty() ? Ink::dim
                                                                     : Ink::plain;
    return page_.hanging(lead, used + kMarks + at_width_ + 1, code_text(row), ink);
  }

  /// Returns the lines of counts under the code.
  std::string sums(std::size_t first, std::size_t last, std::size_t used) const {
    std::string text;
    const auto sum = [&](std::string_view what, bool with_share, const auto& samples_of) {
      std::string lead;
      for (std::size_t i = first; i < last; ++i) {
        const std::uint64_t whole = with_share ? cells_[i].total.samples : 0;
        lead += cell(cells_[i], samples_of(cells_[i]), whole, false);
      }
      text += page_.hanging(lead + std::string(kMarks, ' '), used + kMarks, what, Ink::dim);
    };
    sum(code_.kind == listing::Kind::target ? "sum, in the loop" : "sum, in the function", true,
        [](const Cells& cells) { return Count{cells.total.samples}; });
    sum("of these EXACT_IP", true, [](const Cells& cells) { return Count{cells.total.exact}; });
    const auto own = static_cast<std::size_t>(code_.kind == listing::Kind::kernel_function
                                                  ? listing::Where::kernel
                                                  : listing::Where::user);
    for (std::size_t where = 0; where < listing::kWheres; ++where) {
      const auto elsewhere = [&](const Cells& cells) {
        const std::uint64_t samples = listing_.columns[cells.column].samples[where];
        return Count{where == own ? samples - cells.total.samples : samples};
      };
      if (std::ranges::any_of(cells_,
                              [&](const Cells& cells) { return elsewhere(cells).samples > 0; })) {
        sum(kElsewhere.at(where), false, elsewhere);
      }
    }
    sum("samples read", false,
        [&](const Cells& cells) { return Count{listing_.columns[cells.column].read()}; });
    return text;
  }

  /// Returns the place of a source line, and the line: "/home/x/…/main.c:12  for (;;) {".
  std::string source_line(const symbols::SourceLine& source) const {
    const std::string line = fmt::format(":{}", source.line);
    std::string file = escape_for_terminal(source.file);
    const std::size_t most = page_.width / 2;
    if (display_width(file) + line.size() > most) {
      // The end of a path matters more than its beginning. The path is cut at a slash.
      const std::string dots = page_.unicode ? "…" : "...";
      std::size_t cut = file.find('/', 1);
      while (cut != std::string::npos &&
             display_width(file.substr(cut)) + dots.size() + line.size() > most) {
        cut = file.find('/', cut + 1);
      }
      if (cut != std::string::npos) file = dots + file.substr(cut);
    }
    std::string text = file + line;
    if (choices_.sources != nullptr) {
      if (const auto content = choices_.sources->line(source.file, source.line)) {
        std::string shown(*content);
        std::ranges::replace(shown, '\t', ' ');
        shown.erase(0, shown.find_first_not_of(' '));
        text += "  " + escape_for_terminal(shown);
      }
    }
    return std::string(kIndent, ' ') +
           page_.paint(shorten(text, page_.width - kIndent), Ink::yellow) + '\n';
  }

  std::string part(std::size_t first, std::size_t last, std::size_t used) const {
    std::string labels;
    std::string units;
    for (std::size_t i = first; i < last; ++i) {
      const Cells& cells = cells_[i];
      labels += pad_left(cells.label, cells.width);
      units += std::string(kGap, ' ') + pad_left("n", cells.number_width) + ' ' +
               pad_left("%", kShareWidth);
      if (cells.is_mixed) units += ' ' + pad_left("EX%", kShareWidth);
    }
    units += std::string(kMarks, ' ') + pad_left("at", at_width_) + ' ' +
             (code_.starts.empty() ? "place" : "instruction");
    std::string text = page_.paint(labels, Ink::bold) + '\n' + page_.paint(units, Ink::dim) + '\n';
    std::optional<std::string> last_source;
    for (const listing::Row& row : rows_) {
      if (row.source) {
        std::string source = source_line(*row.source);
        if (source != last_source) text += source;
        last_source = std::move(source);
      } else if (row.kind == RowKind::folded) {
        last_source.reset();
      }
      text += line(row, first, last, used);
    }
    return text + sums(first, last, used);
  }

  static constexpr std::array<std::string_view, listing::kWheres> kElsewhere{
      "in other user code", "in the kernel", "in guests and hypervisors", "without a mapping"};

  const Page& page_;
  const listing::Listing& listing_;
  const Code& code_;
  const ListingChoices& choices_;
  std::vector<Cells> cells_;
  std::vector<listing::Row> rows_;
  std::size_t at_width_ = 2;
  bool is_accused_ = false, is_censored_ = false;
};

std::string code_title(const Page& page, const Code& code) {
  const std::string name = escape_for_terminal(code.name);
  const std::string dso = escape_for_terminal(code.dso);
  std::string text;
  if (code.kind == listing::Kind::target) {
    std::string trigger = fmt::format("{} at {:#x}", name, code.map->trigger_address(0));
    if (code.map->triggers() > 1) trigger += fmt::format(", the first of {}", code.map->triggers());
    text = page.field("target", dso) + page.field("trigger", trigger);
  } else {
    text = page.field("function", name);
    if (!code.alias.empty()) {
      text += page.field("", "which is also " + escape_for_terminal(code.alias));
    }
    text += page.field("in", dso);
  }
  if (!code.file.empty() && code.file.string() != code.dso) {
    text += page.field("read from", escape_for_terminal(code.file.string()));
  }
  text += page.field("build-id", code.build_id);
  const bool is_unnamed = code.kind == listing::Kind::function && code.alias.empty() &&
                          code.name == fmt::format("{:#x}", code.range.begin);
  std::string extent = fmt::format("{:#x} to {:#x}", code.range.begin, code.range.end);
  if (!code.starts.empty()) extent += fmt::format(", {} instructions", code.starts.size());
  return text + page.field("addresses", extent) +
         page.field("no symbol", is_unnamed ? unnamed_remedy() : "", Ink::yellow) +
         page.field("no code", escape_for_terminal(code.no_code), Ink::yellow);
}

constexpr const char* kTimeIsLate =
    "an interrupt waits for the instruction that is executing: time of a slow one (division, load, "
    "locked) is on the instruction after it";

/// Whether an event counts time, and an interrupt samples it.
bool is_of_time(const EventGroup& event) {
  return std::ranges::any_of(event.columns, [](const Column& column) {
    // PERF_TYPE_HARDWARE and PERF_TYPE_SOFTWARE: cycles, cpu-clock and task-clock.
    const auto& identity = column.measurement->event;
    const bool counts_time = (identity.type == 0 && (identity.config & 0xffffffffU) == 0) ||
                             (identity.type == 1 && identity.config <= 1);
    return counts_time && (identity.type == 1 || column.measurement->precise.recorded == 0);
  });
}

/// The text of a listing, from what all of its parts need.
struct ListingText {
  const Page& page;
  const listing::Listing& listing;
  const ListingChoices& choices;
  const std::vector<Measurement> described = listing.described();

  /// Returns the index in Listing::columns of a column of a group of `described`.
  std::size_t index_of(const Column& column) const {
    return static_cast<std::size_t>(column.measurement - described.data());
  }

  /// Returns notes on how the samples of an event were taken.
  std::string notes_on_samples(const EventGroup& event) const {
    std::string text = is_of_time(event) ? page.note(kTimeIsLate) : "";
    const bool follows_cause = std::ranges::any_of(event.columns, [this](const Column& column) {
      return listing.columns[index_of(column)].follows_cause;
    });
    if (follows_cause) {
      text += page.note(
          "a data breakpoint traps after the access: each sample is one instruction after the one "
          "that caused it; 'skidscan correct' moves them there");
    }
    for (const Column& column : event.columns) {
      const Measurement& m = *column.measurement;
      if (m.event.substituted) {
        text += page.note(fmt::format("{}: {} was recorded instead of {}", column.label,
                                      escape_for_terminal(m.event.recorded),
                                      escape_for_terminal(m.event.requested.value_or(""))),
                          Ink::yellow);
      }
      if (m.read_in_part) text += page.note(column.label + ": read in part", Ink::yellow);
    }
    return text;
  }

  /// Returns the notes under an event's table. `without`: its columns that are not in the table.
  std::string notes(const EventGroup& event, const std::vector<std::string>& without,
                    const Panel& panel) const {
    std::string text;
    std::vector<std::string> judged;
    std::map<std::string, std::vector<std::string>> not_judged;
    for (const Column& column : event.columns) {
      const listing::Column& of_listing = listing.columns[index_of(column)];
      if (!of_listing.causes.empty()) {
        judged.push_back(column.label);
      } else if (of_listing.of_core_pmu) {
        not_judged[of_listing.not_judged].push_back(column.label);
      }
    }
    if (panel.is_accused()) {
      text += page.note(
          fmt::format("! cannot cause {} on this CPU (docs/events.md): samples at {} blame the "
                      "wrong instruction there",
                      escape_for_terminal(event.event), joined(judged)),
          Ink::red);
    }
    for (const auto& [reason, labels] : not_judged) {
      text += page.note(fmt::format("no instruction is marked at {}: {}", joined(labels),
                                    escape_for_terminal(reason)));
    }
    if (panel.is_censored()) {
      text += page.note(
          "~ censored: near the end of the runway; the skid may be longer than the runway");
    }
    if (!without.empty()) text += page.note("no sample here of " + joined(without));
    return text + notes_on_samples(event);
  }

  std::string code_of_event(const Code& code, const EventGroup& event) const {
    std::vector<Cells> cells;
    std::vector<std::string> without;
    for (const Column& column : event.columns) {
      const std::size_t index = index_of(column);
      if (std::ranges::binary_search(code.columns, index)) {
        cells.push_back({.label = column.label, .column = index, .total = {}});
      } else {
        without.push_back(fmt::format("{} ({} read)", column.label, listing.columns[index].read()));
      }
    }
    if (cells.empty()) return {};
    // A function may have been sampled by some events of a recording only.
    const bool is_sampled = std::ranges::any_of(
        cells, [&](const Cells& of_one) { return code.total(of_one.column).samples > 0; });
    if (!is_sampled && code.kind != listing::Kind::target) {
      return page.rule(event.event) + page.note("no sample here");
    }
    const Page terminal = page.terminal();
    const Panel panel(terminal, listing, code, choices, std::move(cells));
    return page.rule(event.event) + page.preformatted(panel.text()) + notes(event, without, panel);
  }

  /// Returns the most sampled places of an event.
  std::string places_of_event(const EventGroup& event) const {
    std::vector<std::size_t> columns;
    for (const Column& column : event.columns) columns.push_back(index_of(column));
    if (most_sampled(listing, columns).empty()) {
      return page.rule(event.event) + page.note("no sample here");
    }
    return page.rule(event.event) +
           places_table(page, listing, *choices.by, event, columns, choices.folding.all) +
           notes_on_samples(event);
  }

  std::string of_machine(const MachineGroup& machine) const {
    std::string text;
    for (const EventGroup& event : machine.events) {
      if (choices.by) text += places_of_event(event);
    }
    for (const Code& code : listing.codes) {
      std::string of_code;
      for (const EventGroup& event : machine.events) of_code += code_of_event(code, event);
      if (!of_code.empty()) text += '\n' + code_title(page, code) + of_code;
    }
    return text;
  }
};

}  // namespace

std::string listing_text(const listing::Listing& listing, const ListingChoices& choices,
                         const Page& page) {
  const ListingText parts{page, listing, choices};
  std::string text;
  for (const MachineGroup& machine : group(parts.described)) {
    const std::string of_machine = parts.of_machine(machine);
    if (of_machine.empty()) continue;
    if (!text.empty()) text += '\n';
    text += machine_header(page, machine) + of_machine;
  }
  if (choices.by && choices.by != listing::By::module) {
    text += note_on_files(page, listing, *choices.by);
  }
  return page.answer(listing_answer(listing, choices, parts.described), Ink::bold) + '\n' +
         (choices.trust.empty() ? "" : page.field("audit", choices.trust) + '\n') + text;
}

}  // namespace skid::output
