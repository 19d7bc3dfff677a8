#include "src/output/audit/block_bias_text.h"

#include "analysis/block_evenness.h"
#include "analysis/delay.h"
#include "analysis/event_identity.h"
#include "analysis/intervals.h"
#include "analysis/wording.h"
#include "src/audit/block_bias.h"
#include "src/audit/block_samples.h"
#include "src/audit/findings.h"
#include "src/machine/machine.h"
#include "src/output/audit/audit_cells.h"
#include "src/output/audit/audited_event.h"
#include "src/output/cell.h"
#include "src/output/delay_text.h"
#include "src/output/name_list.h"
#include "src/output/number_text.h"
#include "src/output/page.h"
#include "src/output/shown_names.h"
#include "src/output/table.h"
#include "src/support/address.h"
#include "src/support/escape.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::in_thousands;
using Kind = ListColumn::Kind;

/// Whether the events are of several recordings, so that each needs the name of its recording.
bool are_several(const std::vector<AuditedEvent>& events) {
  return std::ranges::any_of(
      events, [&](const AuditedEvent& one) { return one.audit != events.front().audit; });
}

std::string summary(const std::vector<AuditedEvent>& events, const Page& page) {
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
    list.add(escape_for_terminal(event->identity.label), machine::level_name(event->level),
             in_thousands(bias.samples));
    add_judged_cells(list.rows.back(), page, bias.judged, bias.biased, *bias.misplaced,
                     audit->file);
  }
  return page.list(list);
}

/// Lists the samples of each place: "51  1,614  3,341"; if there are many places, those with most
/// samples, with their addresses.
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

/// Explains an uneven block of an event at `level`, a line for each cause.
std::vector<std::string> causes_of(const audit::LoopFinding& loop, int level) {
  std::vector<std::string> causes;
  if (loop.delay) {
    causes.push_back(fmt::format("delay, less whole iterations of {}: {}", loop.pairs.iteration,
                                 delay_text(*loop.delay, loop.pairs)));
  }
  if (loop.shadow) {
    const audit::LoopShadow& shadow = *loop.shadow;
    const auto never = std::ranges::count(shadow.shares, 0.0);
    if (never > 0) {
      causes.push_back(fmt::format(
          "{} of {} cannot be sampled: after each overflow another one is the first to retire {} "
          "or more instructions later{}",
          never, shadow.shares.size(), range_of(shadow.delay),
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
                      range_of(shadow.delay), joined(expected, "  "));
      if (shadow.p) text += fmt::format(", p {:.2g}", *shadow.p);
      if (shadow.predicted) {
        text += fmt::format(", {} of next samples", analysis::percent(*shadow.predicted));
      }
      causes.push_back(std::move(text));
    }
  }
  if (loop.is_locked()) {
    causes.emplace_back("the period locks to this loop; record with -F, which varies it");
  }
  return causes;
}

}  // namespace

std::string bias_text(const std::vector<AuditedEvent>& all, std::size_t most, const Page& page) {
  std::vector<AuditedEvent> events;
  std::vector<std::pair<const audit::EventAudit*, const audit::BlockFinding*>> biased;
  bool may_alias = false;
  std::size_t all_biased = 0;
  for (const AuditedEvent& recorded : all) {
    const audit::EventAudit* event = recorded.event;
    if (!event->bias.misplaced) continue;
    events.push_back(recorded);
    all_biased += event->bias.biased;
    for (const audit::BlockFinding& block : event->bias.blocks) {
      if (!block.evenness.is_biased) continue;
      biased.emplace_back(event, &block);
      may_alias |= event->period.value_or(0) > 0 && !event->bias.loops.at(block.loop).is_locked();
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
    // The causes are listed once for a loop, at its most uneven block.
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
        "CPU: record with another period, a prime one, or with -F",
        Ink::yellow);
  }
  return text;
}

}  // namespace skid::output
