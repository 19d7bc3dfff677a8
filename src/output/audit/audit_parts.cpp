#include "src/output/audit/audit_parts.h"

#include "analysis/wording.h"
#include "src/output/escape.h"
#include "src/output/report/parts.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::counted;
using analysis::in_thousands;
using audit::Audit;
using audit::BranchFault;
using audit::BranchRecords;
using audit::BranchUnjudged;
using audit::EventAudit;
using audit::ImpossibleBranch;
using Kind = ListColumn::Kind;

constexpr std::size_t kLongestName = 90;

/// An event with branch records, and its recording.
struct RecordsRow {
  const Audit* audit;
  const EventAudit* event;
  const BranchRecords& records() const { return *event->branch_records; }
};

std::string of_events(const std::vector<RecordsRow>& rows, const Page& page) {
  List list{{{"event", Kind::shortened},
             {"stacks", Kind::number, 1},
             {"records", Kind::number, 1},
             {"judged"},
             {"impossible"},
             {"share"},
             {"95% interval", Kind::number, 2},
             {"recording", Kind::front_shortened, 3}}};
  for (const RecordsRow& row : rows) {
    const BranchRecords& records = row.records();
    const analysis::Share& share = records.impossible;
    const Ink ink = share.count > 0 ? Ink::red : Ink::green;
    const bool judged = records.judged > 0;
    list.rows.push_back({{escape_for_terminal(row.event->event)},
                         {in_thousands(records.stacks)},
                         {in_thousands(records.records)},
                         {in_thousands(records.judged)},
                         judged ? Cell{in_thousands(share.count), ink} : unknown_cell(),
                         judged ? Cell{analysis::percent(share.value), ink} : unknown_cell(),
                         judged ? Cell{share_range(page, share.low, share.high)} : unknown_cell(),
                         {escape_for_terminal(row.audit->file), Ink::dim}});
  }
  return page.list(list);
}

/// Counts by reason, of all events together; the first reason means none.
template <typename Reason, std::size_t kReasons>
std::string reasons(const std::vector<RecordsRow>& rows, const Page& page, std::string title,
                    Ink ink, const std::array<std::uint64_t, kReasons> BranchRecords::*counts) {
  List list{{{std::move(title)}, {"reason", Kind::wrapped}}};
  for (std::size_t i = 1; i < kReasons; ++i) {
    std::uint64_t count = 0;
    for (const RecordsRow& row : rows) count += (row.records().*counts)[i];
    if (count == 0) continue;
    list.rows.push_back(
        {{in_thousands(count)}, {std::string(describe(static_cast<Reason>(i))), ink}});
  }
  return list.rows.empty() ? std::string() : '\n' + page.list(list);
}

std::string place_of(const ImpossibleBranch& branch) {
  std::string place =
      branch.function.empty()
          ? fmt::format("{:#x}", branch.from)
          : fmt::format("{}+{:#x}", shorten(escape_for_terminal(branch.function), kLongestName),
                        branch.offset);
  if (!branch.module.empty()) place += " (" + file_name(branch.module) + ")";
  place += fmt::format(" to {:#x}: {}", branch.to, describe(branch.fault));
  if (branch.preceding_to) place += fmt::format(" ({:#x})", *branch.preceding_to);
  return place;
}

std::string places(const std::vector<RecordsRow>& rows, const Page& page) {
  std::vector<const ImpossibleBranch*> found;
  std::size_t all = 0;
  for (const RecordsRow& row : rows) {
    for (const ImpossibleBranch& branch : row.records().worst) found.push_back(&branch);
    all += row.records().impossible_places;
  }
  if (found.empty()) return {};
  std::stable_sort(found.begin(), found.end(),
                   [](const auto* a, const auto* b) { return a->records > b->records; });
  if (!page.details && found.size() > kMostPlaces) found.resize(kMostPlaces);
  List list{{{"records"}, {"from", Kind::wrapped}}};
  for (const ImpossibleBranch* branch : found) {
    list.rows.push_back({{in_thousands(branch->records)}, {place_of(*branch), Ink::red}});
    if (branch->text.empty()) continue;
    list.rows.push_back({{}, {escape_for_terminal(branch->text), Ink::dim}});
  }
  std::string text = page.title("Impossible branch records") + page.list(list);
  if (found.size() < all) {
    text += page.note(fmt::format("{} more", all - found.size()), Ink::dim);
  }
  return text;
}

}  // namespace

std::string file_name(const std::string& path) {
  const auto slash = path.rfind('/');
  return escape_for_terminal(
      slash == std::string::npos || slash + 1 == path.size() ? path : path.substr(slash + 1));
}

std::string branch_records_text(const std::vector<Audit>& audits, const Page& page) {
  std::vector<RecordsRow> rows;
  for (const Audit& audit : audits) {
    for (const EventAudit& event : audit.events) {
      if (event.branch_records) rows.push_back({&audit, &event});
    }
  }
  if (rows.empty()) return {};
  std::uint64_t by_addresses = 0, damaged = 0, judged = 0, impossible = 0;
  std::vector<audit::NoContiguity> known{audit::NoContiguity::none};
  std::string notes;
  for (const RecordsRow& row : rows) {
    by_addresses += row.records().by_addresses;
    damaged += row.records().damaged_stacks;
    judged += row.records().judged;
    impossible += row.records().impossible.count;
    const audit::NoContiguity reason = row.records().no_contiguity;
    if (std::find(known.begin(), known.end(), reason) != known.end()) continue;
    known.push_back(reason);
    notes += page.note(fmt::format("consecutive records are not compared: {}", describe(reason)),
                       Ink::dim);
  }
  if (by_addresses > 0) {
    notes += page.note(fmt::format("of {} records only the addresses were compared, because the "
                                   "binary is missing",
                                   in_thousands(by_addresses)),
                       Ink::dim);
  }
  if (damaged > 0) {
    notes += page.note(
        fmt::format("{} with sizes beyond the end of the sample", counted(damaged, "stack")),
        Ink::yellow);
  }
  std::string answer = "no branch record could be judged";
  if (judged > 0) {
    const double share = static_cast<double>(impossible) / static_cast<double>(judged);
    answer = fmt::format("{} of {} judged branch records ({}) are impossible",
                         in_thousands(impossible), in_thousands(judged), analysis::percent(share));
  }
  const Ink ink = judged == 0 ? Ink::yellow : impossible > 0 ? Ink::red : Ink::green;
  return page.title("Branch records") + page.paragraph(answer, ink) + '\n' + of_events(rows, page) +
         notes + reasons<BranchFault>(rows, page, "impossible", Ink::red, &BranchRecords::faults) +
         reasons<BranchUnjudged>(rows, page, "not judged", Ink::plain, &BranchRecords::not_judged) +
         places(rows, page);
}

std::string missing_text(const std::vector<Audit>& audits, const Page& page) {
  std::vector<std::string> names;
  std::uint64_t samples = 0, records = 0;
  bool has_build_id = false, lacks_build_id = false;
  const Audit* first = nullptr;
  for (const Audit& audit : audits) {
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
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(std::move(name));
      }
    }
  }
  if (names.empty()) return {};
  const auto number_of = [](std::uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", in_thousands(count), what, count == 1 ? "" : "s");
  };
  std::string without = samples > 0 ? number_of(samples, "sample") : std::string();
  if (records > 0) {
    if (!without.empty()) without += " and ";
    without += number_of(records, "branch record");
  }
  constexpr std::size_t kMostNames = 3;
  const std::size_t shown = page.details ? names.size() : std::min(names.size(), kMostNames);
  std::string text = '\n' + page.field("missing",
                                       fmt::format("{} {} in {} whose code is missing: {}", without,
                                                   samples + records == 1 ? "is" : "are",
                                                   counted(names.size(), "file"), names.front()),
                                       Ink::yellow);
  for (std::size_t i = 1; i < shown; ++i) text += page.field("", names[i]);
  if (shown < names.size()) {
    text += page.field(
        "", fmt::format("and {} more: --details", counted(names.size() - shown, "file")));
  }
  std::string remedy;
  if (has_build_id) {
    remedy = fmt::format(
        "On the recorded machine, perf archive {} collects those with a build-id; extract them "
        "into "
        "~/.debug on this one. --debuginfod requests them from the servers of DEBUGINFOD_URLS, "
        "--binary "
        "FILE and --symfs DIR use a copy.",
        escape_for_terminal(first->file));
  }
  if (lacks_build_id) {
    remedy += has_build_id ? " Those without one are found" : "They are found";
    remedy += " by path alone: --symfs DIR names a copy of the recorded machine's files.";
  }
  return text + page.field("", remedy);
}

}  // namespace skid::output
