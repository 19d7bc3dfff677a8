#include "src/output/audit/bias_text.h"

#include "analysis/wording.h"
#include "src/output/escape.h"
#include "src/output/report/parts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::in_thousands;
using audit::BlockFinding;
using audit::EventAudit;
using Kind = ListColumn::Kind;

std::string summary(const std::vector<const EventAudit*>& events, const Page& page) {
  List list{{{"event", Kind::shortened},
             {"level", Kind::text},
             {"samples", Kind::number, 1},
             {"blocks"},
             {"biased"},
             {"misplaced"},
             {"95% interval", Kind::number, 2}}};
  for (const EventAudit* event : events) {
    const audit::BlockBias& bias = event->bias;
    const Ink ink = bias.biased > 0 ? Ink::red : Ink::green;
    list.rows.push_back({{escape_for_terminal(event->event)},
                         {level_name(event->level)},
                         {in_thousands(bias.samples)},
                         {in_thousands(bias.judged)},
                         {in_thousands(bias.biased), ink},
                         {analysis::percent(bias.misplaced->value), ink},
                         {share_range(page, bias.misplaced->low, bias.misplaced->high)}});
  }
  return page.list(list);
}

/// "51  1,614  3,341", of many places those with most and fewest.
std::string counts_of(const BlockFinding& block) {
  constexpr std::size_t kMostCounts = 16;
  std::vector<std::string> counts;
  for (const audit::PlaceSamples& place : block.samples.places) {
    if (counts.size() == kMostCounts) {
      counts.push_back(fmt::format("and {} more", block.samples.places.size() - kMostCounts));
      break;
    }
    counts.push_back(in_thousands(place.samples));
  }
  return joined(counts, "  ");
}

}  // namespace

std::string bias_text(const std::vector<const EventAudit*>& all, std::size_t most,
                      const Page& page) {
  std::vector<const EventAudit*> events;
  std::vector<std::pair<const EventAudit*, const BlockFinding*>> biased;
  bool may_alias = false;
  std::size_t all_biased = 0;
  for (const EventAudit* event : all) {
    if (!event->bias.misplaced) continue;
    events.push_back(event);
    all_biased += event->bias.biased;
    may_alias = may_alias || (event->bias.biased > 0 && event->has_fixed_period);
    for (const BlockFinding& block : event->bias.blocks) {
      if (block.evenness.is_biased) biased.emplace_back(event, &block);
    }
  }
  if (events.empty()) return {};
  const auto excess = [](const BlockFinding& block) {
    return block.evenness.half_sum - block.evenness.half_sum_due;
  };
  std::stable_sort(biased.begin(), biased.end(), [&](const auto& a, const auto& b) {
    return excess(*a.second) > excess(*b.second);
  });
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
  for (const auto& [event, block] : biased) {
    const auto& places = block->samples.places;
    const auto [fewest, largest] =
        std::minmax_element(places.begin(), places.end(),
                            [](const auto& a, const auto& b) { return a.samples < b.samples; });
    constexpr std::size_t kLongest = 90;
    const std::string function = block->function.empty()
                                     ? "no function"
                                     : shorten(escape_for_terminal(block->function), kLongest);
    list.rows.push_back(
        {{in_thousands(block->samples.samples())},
         {number_text(block->samples.expected())},
         {in_thousands(largest->samples)},
         {in_thousands(fewest->samples)},
         {fmt::format("{}, {}", escape_for_terminal(event->event), level_name(event->level))},
         {fmt::format("{} at {:#x} to {:#x}", function, block->samples.range.begin,
                      block->samples.range.end),
          Ink::red}});
    list.rows.push_back({{}, {}, {}, {}, {}, {counts_of(*block), Ink::dim}});
  }
  text += page.title("Blocks whose samples are not spread evenly") + page.list(list);
  if (biased.size() < all_biased) {
    text += page.note(fmt::format("{} more: --top N, --format json", all_biased - biased.size()),
                      Ink::dim);
  }
  if (may_alias) {
    text += page.note(
        "a fixed period that is a multiple of a loop's events does the same to a sound CPU: record "
        "with another period, a prime number, or with -F",
        Ink::yellow);
  }
  return text;
}

}  // namespace skid::output
