#include "src/output/audit/branch_records_text.h"

#include "analysis/event_identity.h"
#include "analysis/share.h"
#include "analysis/wording.h"
#include "src/audit/branch_filter.h"
#include "src/audit/branch_records.h"
#include "src/audit/findings.h"
#include "src/output/audit/audit_cells.h"
#include "src/output/audit/audited_event.h"
#include "src/output/audit/clause.h"
#include "src/output/audit/judged.h"
#include "src/output/cell.h"
#include "src/output/page.h"
#include "src/output/table.h"
#include "src/support/escape.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::in_thousands;
using audit::BranchRecords;
using audit::ImpossibleBranch;
using Kind = ListColumn::Kind;

/// What keeps a CPU from recording branches: caps/branches of /sys/bus/event_source/devices/cpu,
/// and Branch Sampling of Zen 3 (arch/x86/events/amd/brs.c).
constexpr std::string_view kWithoutBranches =
    "this CPU or guest recorded no branches (without branch records, caps/branches of the PMU is "
    "0; Zen 3 has them only for cpu/branch-brs/ with a fixed period)";

std::string of_events(const std::vector<AuditedEvent>& events, const Page& page) {
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
    list.add(escape_for_terminal(event->identity.label), in_thousands(records.stacks),
             in_thousands(records.records));
    add_judged_cells(list.rows.back(), page, records.judged, records.impossible.count,
                     records.impossible, audit->file);
  }
  return page.list(list);
}

/// Adds up the counts of all events; those by reason without reason 0, which means none.
BranchRecords sum_of(const std::vector<AuditedEvent>& events) {
  BranchRecords sum;
  const auto add = [](const auto& counts, auto& to) {
    for (std::size_t i = 1; i < to.size(); ++i) to[i] += counts[i];
  };
  for (const AuditedEvent& one : events) {
    const BranchRecords& records = *one.event->branch_records;
    sum.stacks += records.stacks;
    sum.empty_stacks += records.empty_stacks;
    sum.damaged_stacks += records.damaged_stacks;
    sum.records += records.records;
    sum.judged += records.judged;
    sum.impossible.count += records.impossible.count;
    sum.impossible_places += records.impossible_places;
    add(records.by_addresses, sum.by_addresses);
    add(records.faults, sum.faults);
    add(records.not_judged, sum.not_judged);
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

/// `all`: the number of places, listed or not.
std::string places(const std::vector<AuditedEvent>& events, std::size_t all, const Page& page) {
  std::vector<const ImpossibleBranch*> found;
  for (const AuditedEvent& one : events) {
    for (const ImpossibleBranch& branch : one.event->branch_records->worst)
      found.push_back(&branch);
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

/// Returns the events that have branch records.
std::vector<AuditedEvent> with_branches(std::vector<AuditedEvent> events) {
  std::erase_if(events, [](const AuditedEvent& one) { return !one.event->branch_records; });
  return events;
}

}  // namespace

std::string why_no_branch_is_judged(const std::vector<AuditedEvent>& all) {
  const std::vector<AuditedEvent> events = with_branches(all);
  const BranchRecords sum = sum_of(events);
  if (sum.stacks == 0 || sum.judged > 0) return {};
  if (sum.empty_stacks == sum.stacks) {
    return fmt::format("all {} branch stacks are empty: {}", in_thousands(sum.stacks),
                       kWithoutBranches);
  }
  const auto most = std::ranges::max_element(sum.not_judged);
  std::string text = fmt::format("none of {} branch {} could be judged", in_thousands(sum.records),
                                 sum.records == 1 ? "record" : "records");
  if (*most == 0) return text;
  const auto reason = static_cast<audit::BranchUnjudged>(most - sum.not_judged.begin());
  return fmt::format("{}: {}", text, describe(reason));
}

std::string branch_records_text(const std::vector<AuditedEvent>& all, const Page& page) {
  const std::vector<AuditedEvent> events = with_branches(all);
  if (events.empty()) return {};
  const BranchRecords sum = sum_of(events);
  std::set<audit::NoContiguity> known{audit::NoContiguity::none};
  std::string notes;
  for (const AuditedEvent& one : events) {
    const audit::NoContiguity reason = one.event->branch_records->no_contiguity;
    if (!known.insert(reason).second) continue;
    notes += page.note(fmt::format("consecutive records are not compared: {}", describe(reason)));
  }
  for (std::size_t reason = 1; reason < sum.by_addresses.size(); ++reason) {
    if (sum.by_addresses[reason] == 0) continue;
    notes += page.note(fmt::format("of {} records only the addresses were compared: {}",
                                   in_thousands(sum.by_addresses[reason]),
                                   describe(static_cast<audit::BranchUnjudged>(reason))));
  }
  if (sum.empty_stacks > 0 && sum.empty_stacks < sum.stacks) {
    notes += page.note(
        fmt::format("{} of {} stacks are empty: no branches were recorded with these samples",
                    in_thousands(sum.empty_stacks), in_thousands(sum.stacks)),
        Ink::yellow);
  }
  if (sum.damaged_stacks > 0) {
    notes += page.note(fmt::format("{} with sizes beyond the end of the sample",
                                   analysis::counted(sum.damaged_stacks, "stack")),
                       Ink::yellow);
  }
  const std::uint64_t impossible = sum.impossible.count;
  std::string answer =
      sum.stacks > 0 ? why_no_branch_is_judged(events) : "no branch stack was recorded";
  if (sum.judged > 0) {
    answer =
        Judged{Condition::branches, "branch records", kImpossible, impossible, sum.judged}.text();
  }
  const Ink ink = sum.judged == 0 ? Ink::yellow : impossible > 0 ? Ink::red : Ink::green;
  return page.title("Branch records") + page.paragraph(answer, ink) + '\n' +
         of_events(events, page) + notes +
         counts_by_reason<audit::BranchFault>(page, "impossible", sum.faults, Ink::red) +
         counts_by_reason<audit::BranchUnjudged>(page, "not judged", sum.not_judged) +
         places(events, sum.impossible_places, page);
}

}  // namespace skid::output
