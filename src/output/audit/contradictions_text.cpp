#include "src/output/audit/contradictions_text.h"

#include "analysis/share.h"
#include "analysis/wording.h"
#include "src/audit/contradictions.h"
#include "src/audit/data_addresses.h"
#include "src/audit/findings.h"
#include "src/output/audit/audit_cells.h"
#include "src/output/audit/audited_event.h"
#include "src/output/audit/clause.h"
#include "src/output/audit/record_rules.h"
#include "src/output/cell.h"
#include "src/output/name_list.h"
#include "src/output/number_text.h"
#include "src/output/page.h"
#include "src/witness/accesses.h"
#include "src/witness/judgement.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::in_thousands;
using audit::EventAudit;

/// Summarizes the samples without what others recorded.
std::string without_line(const Page& page, std::string_view name,
                         const audit::Contradictions& finding, std::string_view lack,
                         const std::string& of) {
  if (finding.without == 0) return {};
  return page.field(name,
                    fmt::format("{}{} of {} samples {}", of, in_thousands(finding.without),
                                in_thousands(finding.without + finding.samples), lack),
                    Ink::yellow);
}

/// "3 of 100 judged samples (3%, 1.03–8.45%) are …".
std::string share_text(const Page& page, const analysis::Share& share, std::string_view judged,
                       const Clause& clause) {
  return fmt::format("{} of {} {} samples ({}, {}) {}", in_thousands(share.count),
                     in_thousands(share.total), judged, analysis::percent(share.value),
                     share_range(page, share.low, share.high), clause.after(share.count));
}

/// Lists the places with the most contradicted samples; on a screen the first three.
std::string places_text(const Page& page, const audit::Contradictions& finding) {
  constexpr std::size_t kMostOnScreen = 3;
  const std::size_t shown =
      page.details ? finding.worst.size() : std::min(finding.worst.size(), kMostOnScreen);
  std::string text;
  for (const audit::SampledPlace& place : std::span(finding.worst).first(shown)) {
    text += page.field(
        "", fmt::format("{} at {}", in_thousands(place.samples),
                        code_place(place.function, place.offset, place.address, place.module)));
  }
  const std::size_t more = finding.places.size() - shown;
  if (more > 0) {
    text += page.field("", fmt::format("and {}: {}", analysis::counted(more, "other instruction"),
                                       shown < finding.worst.size() ? "--details" : "--top N"));
  }
  return text;
}

/// Summarizes the samples that contradict what else they recorded. `fewest`: contradicted samples
/// that make a line.
std::string contradictions_line(const Page& page, const RecordRule& rule, const EventAudit& event,
                                std::uint64_t fewest, const std::string& of) {
  const auto& finding = event.*rule.finding;
  if (!finding) return {};
  std::string text = without_line(page, rule.name, *finding, rule.lack, of);
  const analysis::Share& share = finding->share;
  if (share.total == 0 || share.count < fewest) return text;
  const std::uint64_t undecided = finding->undecided();
  return text +
         page.field(
             rule.name,
             of + share_text(page, share, "judged", rule.contradicted) +
                 (undecided > 0 ? fmt::format("; {} undecided", in_thousands(undecided)) : ""),
             share.count > 0 ? Ink::red : Ink::plain) +
         places_text(page, *finding);
}

/// "203 are 1 instruction after it, 2 fit several instructions, for 73 it was not found"; empty: no
/// sample is contradicted.
std::string distances_text(const witness::Distances::Located& located) {
  std::vector<std::pair<std::uint64_t, unsigned>> distances;
  for (const auto& [distance, samples] : located.samples) distances.emplace_back(samples, distance);
  std::ranges::stable_sort(distances, std::greater{}, &std::pair<std::uint64_t, unsigned>::first);
  constexpr std::size_t kMost = 3;
  std::vector<std::string> parts;
  std::uint64_t others = 0;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const auto& [samples, distance] = distances[i];
    if (i >= kMost) {
      others += samples;
      continue;
    }
    parts.push_back(fmt::format("{} {} {} after it", in_thousands(samples),
                                samples == 1 ? "is" : "are",
                                analysis::counted(distance, "instruction")));
  }
  if (others > 0) parts.push_back(fmt::format("{} are at other distances", in_thousands(others)));
  if (located.several > 0) {
    parts.push_back(fmt::format("{} {} several instructions", in_thousands(located.several),
                                located.several == 1 ? "fits" : "fit"));
  }
  if (located.not_found > 0) {
    parts.push_back(fmt::format("for {} it was not found", in_thousands(located.not_found)));
  }
  return list_of(parts);
}

/// "264 are undecided (216 relative to FS or GS, 48 by registers that were overwritten)"; empty:
/// all are decided.
std::string undecided_text(const audit::DataAddresses& found) {
  if (found.undecided() == 0) return {};
  const bool has_no_build_id =
      found.reasons[static_cast<std::size_t>(witness::Unknown::no_build_id)] > 0;
  return fmt::format("{} {} undecided ({}){}", in_thousands(found.undecided()),
                     found.undecided() == 1 ? "is" : "are",
                     list_of(counts_in_words<witness::Unknown>(found.reasons)),
                     has_no_build_id ? "; perf record --buildid-mmap records build-ids" : "");
}

/// Summarizes the decided samples.
std::string decided_text(const Page& page, const audit::DataAddresses& found) {
  if (found.share.count == 0) {
    return fmt::format("{} decided {} at the instruction {}", in_thousands(found.share.total),
                       found.share.total == 1 ? "sample is" : "samples are",
                       found.expects_next
                           ? "after the one that accessed their data address, as this "
                             "level requests"
                           : "that accessed their data address");
  }
  return share_text(page, found.share, "decided",
                    found.expects_next ? kContradictedNextAddresses : kContradictedAddresses) +
         ": " + distances_text(found.located);
}

/// Summarizes what data addresses show.
std::string addresses_line(const Page& page, const EventAudit& event, const std::string& of) {
  if (!event.data_address) return {};
  const audit::DataAddresses& found = *event.data_address;
  const std::string text = without_line(
      page, "addresses", found, "have no data address, although the event's records have one", of);
  std::vector<std::string> parts;
  if (found.share.total > 0) parts.push_back(decided_text(page, found));
  if (found.undecided() > 0) parts.push_back(undecided_text(found));
  if (parts.empty()) return text;
  return text +
         page.field("addresses", fmt::format("{}{}", of, fmt::join(parts, "; ")),
                    found.share.count > 0 ? Ink::red : Ink::plain) +
         places_text(page, found);
}

}  // namespace

std::string contradictions_text(const Page& page, const EventAudit& event, std::uint64_t fewest,
                                bool with_event) {
  const std::string of = with_event ? event_name(event) + ": " : "";
  const auto& [sources, ibs, spe] = kRecordRules;
  return contradictions_line(page, sources, event, fewest, of) + addresses_line(page, event, of) +
         contradictions_line(page, ibs, event, fewest, of) +
         contradictions_line(page, spe, event, fewest, of);
}

}  // namespace skid::output
