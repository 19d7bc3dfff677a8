#include "src/output/audit/audit_parts.h"

#include "analysis/delay.h"
#include "analysis/evenness.h"
#include "analysis/statistics.h"
#include "src/audit/block_bias.h"
#include "src/audit/branch_records.h"
#include "src/support/address.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace skid::output {
namespace {

using analysis::in_thousands;
using audit::BranchRecords;
using audit::ImpossibleBranch;
using Kind = ListColumn::Kind;

std::string of_events(const std::vector<RecordedEvent>& events, const Page& page) {
  List list{{{"event", Kind::shortened},
             {"stacks", Kind::number, 1},
             {"records", Kind::number, 1},
             {"judged"},
             {"impossible"},
             {"share"},
             {"95% interval", Kind::number, 2},
             {"recording", Kind::front_shortened, 3}}};
  for (const auto& [audit, event] : events) {
    const BranchRecords& records = *event->branch_records;
    list.add(escape_for_terminal(event->event), in_thousands(records.stacks),
             in_thousands(records.records));
    add_judged_cells(list.rows.back(), page, records.judged, records.impossible, audit->file);
  }
  return page.list(list);
}

/// The counts of all events together. Reason 0 means none.
template <std::size_t kReasons>
std::array<std::uint64_t, kReasons> sum_of(
    const std::vector<RecordedEvent>& events,
    const std::array<std::uint64_t, kReasons> BranchRecords::*counts) {
  std::array<std::uint64_t, kReasons> sum{};
  for (const RecordedEvent& one : events) {
    for (std::size_t i = 1; i < kReasons; ++i) sum[i] += (*one.event->branch_records.*counts)[i];
  }
  return sum;
}

std::string text_of(const ImpossibleBranch& branch) {
  std::string text = fmt::format(
      "{} to {:#x}: {}", code_place(branch.function, branch.offset, branch.from, branch.module),
      branch.to, describe(branch.fault));
  if (branch.preceding_to) text += fmt::format(" ({:#x})", *branch.preceding_to);
  return text;
}

std::string places(const std::vector<RecordedEvent>& events, const Page& page) {
  std::vector<const ImpossibleBranch*> found;
  std::size_t all = 0;
  for (const RecordedEvent& one : events) {
    const BranchRecords& records = *one.event->branch_records;
    for (const ImpossibleBranch& branch : records.worst) found.push_back(&branch);
    all += records.impossible_places;
  }
  if (found.empty()) return {};
  std::ranges::stable_sort(found, std::greater{}, &ImpossibleBranch::records);
  if (!page.details && found.size() > kMostPlaces) found.resize(kMostPlaces);
  List list{{{"records"}, {"from", Kind::wrapped}}};
  for (const ImpossibleBranch* branch : found) {
    list.add(in_thousands(branch->records), Cell{text_of(*branch), Ink::red});
    if (branch->text.empty()) continue;
    list.add("", Cell{escape_for_terminal(branch->text), Ink::dim});
  }
  return page.title("Impossible branch records") + page.list(list) +
         page.left_out(all - found.size(), "");
}

/// Whether the events are of several recordings, which the reader has to tell apart.
bool are_several(const std::vector<RecordedEvent>& events) {
  return std::ranges::any_of(
      events, [&](const RecordedEvent& one) { return one.audit != events.front().audit; });
}

std::string summary(const std::vector<RecordedEvent>& events, const Page& page) {
  List list{{{"event", Kind::shortened},
             {"level", Kind::text},
             {"samples", Kind::number, 1},
             {"blocks"},
             {"biased"},
             {"misplaced"},
             {"95% interval", Kind::number, 2},
             {"recording", Kind::front_shortened, are_several(events) ? 0 : 3}}};
  for (const auto& [audit, event] : events) {
    const audit::BlockBias& bias = event->bias;
    const Ink ink = bias.biased > 0 ? Ink::red : Ink::green;
    list.add(escape_for_terminal(event->event), level_name(event->level),
             in_thousands(bias.samples), in_thousands(bias.judged),
             Cell{in_thousands(bias.biased), ink},
             Cell{analysis::percent(bias.misplaced->value), ink},
             share_range(page, bias.misplaced->low, bias.misplaced->high),
             Cell{escape_for_terminal(audit->file), Ink::dim});
  }
  return page.list(list);
}

/// "51  1,614  3,341"; of many places those with most samples, with their addresses.
std::string counts_of(const audit::BlockFinding& block) {
  constexpr std::size_t kMostCounts = 16;
  std::vector<audit::PlaceSamples> places = block.samples.places;
  const bool are_all = places.size() <= kMostCounts;
  if (!are_all) {
    std::ranges::stable_sort(places, std::greater{}, &audit::PlaceSamples::samples);
    places.resize(kMostCounts);
    std::ranges::sort(places, {}, &audit::PlaceSamples::address);
  }
  std::vector<std::string> counts;
  for (const audit::PlaceSamples& place : places) {
    const std::string address = are_all ? "" : fmt::format("{:#x}: ", place.address);
    counts.push_back(address + in_thousands(place.samples));
  }
  if (!are_all) {
    counts.push_back(fmt::format("and {} more", block.samples.places.size() - kMostCounts));
  }
  return joined(counts, "  ");
}

std::string text_of(const audit::DelayRange& delay) {
  return delay.low == delay.high ? fmt::format("{}", delay.low)
                                 : fmt::format("{} to {}", delay.low, delay.high);
}

bool is_locked(const audit::LoopFinding& loop) {
  return loop.is_locked || (loop.shadow && loop.shadow->is_locked());
}

/// What explains an uneven block of an event at `level`, one line each.
std::vector<std::string> causes_of(const audit::LoopFinding& loop, int level) {
  std::vector<std::string> causes;
  if (loop.is_locked) {
    causes.push_back(fmt::format(
        "{} of next samples follow from the previous one (independent: {})",
        analysis::percent(loop.order->predicted), analysis::percent(loop.order->independent)));
  }
  if (loop.delay) {
    causes.push_back(fmt::format("delay, less whole iterations of {}: {}", loop.pairs.iteration,
                                 analysis::describe(*loop.delay, loop.pairs)));
  }
  if (loop.shadow) {
    const audit::LoopShadow& shadow = *loop.shadow;
    const auto never = std::ranges::count(shadow.shares, 0.0);
    if (never > 0) {
      causes.push_back(fmt::format(
          "{} of {} cannot be sampled: after each overflow another one is the first to retire {} "
          "or more instructions later{}",
          never, shadow.shares.size(), text_of(shadow.delay),
          level < 3 ? "; record at level 3 where the CPU has precise distribution" : ""));
    }
    std::vector<std::string> seen, expected;
    const auto samples = static_cast<double>(loop.samples.all.samples());
    for (std::size_t i = 0; i < shadow.expected.size(); ++i) {
      seen.push_back(in_thousands(loop.samples.all.places[i].samples));
      expected.push_back(
          in_thousands(static_cast<std::uint64_t>(shadow.expected[i] * samples + 0.5)));
    }
    if (!expected.empty()) {
      std::string text =
          fmt::format("all of the loop: {}; by a delay of {}: {}", joined(seen, "  "),
                      text_of(shadow.delay), joined(expected, "  "));
      if (shadow.p) text += fmt::format(", p {:.2g}", *shadow.p);
      if (shadow.predicted) {
        text += fmt::format(", {} of next samples", analysis::percent(*shadow.predicted));
      }
      causes.push_back(std::move(text));
    }
  }
  if (is_locked(loop)) {
    causes.emplace_back("the period locks to this loop; record with -F, which varies it");
  }
  return causes;
}

}  // namespace

std::string code_place(const std::string& function, std::uint64_t offset, std::uint64_t address,
                       const std::string& module) {
  const std::string place = function.empty()
                                ? fmt::format("{:#x}", address)
                                : fmt::format("{}+{:#x}", function_name(function), offset);
  return module.empty() ? place : fmt::format("{} ({})", place, file_name(module));
}

void add_judged_cells(std::vector<Cell>& row, const Page& page, std::uint64_t judged,
                      const analysis::Share& impossible, const std::string& file) {
  const Ink ink = impossible.count > 0 ? Ink::red : Ink::green;
  row.push_back({in_thousands(judged)});
  if (judged == 0) {
    row.insert(row.end(), 3, unknown_cell());
  } else {
    row.insert(row.end(), {{in_thousands(impossible.count), ink},
                           {analysis::percent(impossible.value), ink},
                           {share_range(page, impossible.low, impossible.high)}});
  }
  row.push_back({escape_for_terminal(file), Ink::dim});
}

std::string bias_text(const std::vector<RecordedEvent>& all, std::size_t most, const Page& page) {
  std::vector<RecordedEvent> events;
  std::vector<std::pair<const audit::EventAudit*, const audit::BlockFinding*>> biased;
  bool may_alias = false;
  std::size_t all_biased = 0;
  for (const RecordedEvent& recorded : all) {
    const audit::EventAudit* event = recorded.event;
    if (!event->bias.misplaced) continue;
    events.push_back(recorded);
    all_biased += event->bias.biased;
    for (const audit::BlockFinding& block : event->bias.blocks) {
      if (!block.evenness.is_biased) continue;
      biased.emplace_back(event, &block);
      may_alias |= event->period.value_or(0) > 0 && !is_locked(event->bias.loops.at(block.loop));
    }
  }
  if (events.empty()) return {};
  std::ranges::stable_sort(biased, std::greater{},
                           [](const auto& one) { return one.second->evenness.excess(); });
  if (biased.size() > most) biased.resize(most);
  std::string text =
      page.title("Samples of instructions that execute equally often") + summary(events, page);
  if (biased.empty()) return text;
  List list{{{"samples"},
             {"even count"},
             {"most", Kind::number, 1},
             {"fewest", Kind::number, 1},
             {"event", Kind::shortened, 2, events.size() > 1},
             {"block", Kind::wrapped}}};
  std::set<const audit::LoopFinding*> explained;
  for (const auto& [event, block] : biased) {
    const auto& places = block->samples.places;
    const auto [fewest, largest] =
        std::ranges::minmax_element(places, {}, &audit::PlaceSamples::samples);
    const std::string function =
        block->function.empty() ? "no function" : function_name(block->function);
    list.add(in_thousands(block->samples.samples()), number_text(block->samples.expected()),
             in_thousands(largest->samples), in_thousands(fewest->samples), event_name(*event),
             Cell{fmt::format("{} at {:#x} to {:#x}", function, block->samples.range.begin,
                              block->samples.range.end),
                  Ink::red});
    list.add("", "", "", "", "", Cell{counts_of(*block), Ink::dim});
    // Once of a loop, at its most uneven block.
    const audit::LoopFinding& loop = event->bias.loops.at(block->loop);
    if (!explained.insert(&loop).second) continue;
    for (const std::string& cause : causes_of(loop, event->level)) {
      list.add("", "", "", "", "", cause);
    }
  }
  text += page.title("Blocks whose samples are not spread evenly") + page.list(list) +
          page.left_out(all_biased - biased.size(),
                        page.details ? ": --top N, --format json" : ": --details, --format json");
  if (may_alias) {
    text += page.note(
        "a fixed period that has a factor in common with a loop's events does the same to a sound "
        "CPU: record with a prime period, or with -F",
        Ink::yellow);
  }
  return text;
}

std::string branch_records_text(const std::vector<RecordedEvent>& all, const Page& page) {
  std::vector<RecordedEvent> events = all;
  std::erase_if(events, [](const RecordedEvent& one) { return !one.event->branch_records; });
  if (events.empty()) return {};
  std::uint64_t by_addresses = 0, damaged = 0, judged = 0, impossible = 0;
  std::set<audit::NoContiguity> known{audit::NoContiguity::none};
  std::string notes;
  for (const RecordedEvent& one : events) {
    const BranchRecords& records = *one.event->branch_records;
    by_addresses += records.by_addresses;
    damaged += records.damaged_stacks;
    judged += records.judged;
    impossible += records.impossible.count;
    if (!known.insert(records.no_contiguity).second) continue;
    notes += page.note(
        fmt::format("consecutive records are not compared: {}", describe(records.no_contiguity)));
  }
  if (by_addresses > 0) {
    notes += page.note(
        fmt::format("of {} records only the addresses were compared, because the binary is missing",
                    in_thousands(by_addresses)));
  }
  if (damaged > 0) {
    notes += page.note(fmt::format("{} with sizes beyond the end of the sample",
                                   analysis::counted(damaged, "stack")),
                       Ink::yellow);
  }
  std::string answer = "no branch record could be judged";
  if (judged > 0) {
    answer =
        fmt::format("{} of {} judged branch records ({}) are impossible", in_thousands(impossible),
                    in_thousands(judged), percent_of(impossible, judged));
  }
  const Ink ink = judged == 0 ? Ink::yellow : impossible > 0 ? Ink::red : Ink::green;
  return page.title("Branch records") + page.paragraph(answer, ink) + '\n' +
         of_events(events, page) + notes +
         counts_by_reason<audit::BranchFault>(page, "impossible",
                                              sum_of(events, &BranchRecords::faults), Ink::red) +
         counts_by_reason<audit::BranchUnjudged>(page, "not judged",
                                                 sum_of(events, &BranchRecords::not_judged)) +
         places(events, page);
}

std::string missing_text(const std::vector<audit::Audit>& audits, const Page& page) {
  std::vector<std::string> names;
  std::uint64_t samples = 0, records = 0;
  bool has_build_id = false, lacks_build_id = false;
  const audit::Audit* first = nullptr;
  for (const audit::Audit& audit : audits) {
    for (const audit::MissingFile& missing : audit.missing) {
      if (first == nullptr) first = &audit;
      samples += missing.samples;
      records += missing.branch_records;
      (missing.build_id.empty() ? lacks_build_id : has_build_id) = true;
      std::string name = escape_for_terminal(missing.remark);
      if (name.empty()) {
        name = escape_for_terminal(missing.file);
        name += missing.build_id.empty()
                    ? " (no build-id)"
                    : fmt::format(" (build-id {})", escape_for_terminal(missing.build_id));
      }
      names.push_back(std::move(name));
    }
  }
  if (names.empty()) return {};
  names = each_once(std::move(names));
  std::vector<std::string> without;
  for (const auto& [count, what] : {std::pair{samples, "sample"}, {records, "branch record"}}) {
    if (count == 0) continue;
    without.push_back(fmt::format("{} {}{}", in_thousands(count), what, count == 1 ? "" : "s"));
  }
  constexpr std::size_t kMostNames = 3;
  const std::size_t shown = page.details ? names.size() : std::min(names.size(), kMostNames);
  std::string text =
      '\n' + page.field("missing",
                        fmt::format("{} {} in {} whose code is missing: {}",
                                    joined(without, " and "), samples + records == 1 ? "is" : "are",
                                    analysis::counted(names.size(), "file"), names.front()),
                        Ink::yellow);
  for (std::size_t i = 1; i < shown; ++i) text += page.field("", names[i]);
  if (shown < names.size()) {
    text += page.field(
        "", fmt::format("and {} more: --details", analysis::counted(names.size() - shown, "file")));
  }
  std::string remedy;
  if (has_build_id) {
    remedy = fmt::format(
        "On the recorded machine, perf archive {} collects those with a build-id; extract them "
        "into ~/.debug on this one. --debuginfod requests them from the servers of "
        "DEBUGINFOD_URLS, --binary FILE and --symfs DIR use a copy.",
        escape_for_terminal(first->file));
  }
  if (lacks_build_id) {
    remedy += has_build_id ? " Those without one are found" : "They are found";
    remedy += " by path alone: --symfs DIR names a copy of the recorded machine's files.";
  }
  return text + page.field("", remedy);
}

}  // namespace skid::output
