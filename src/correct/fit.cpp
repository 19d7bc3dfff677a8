#include "src/correct/fit.h"

#include "analysis/not_judged.h"
#include "analysis/wording.h"
#include "src/correct/correction.h"
#include "src/correct/skid.h"
#include "src/correct/spread.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace skid::correct {
namespace {

using analysis::in_thousands;

/// Explains how the counts contradict the model; empty: they do not.
std::string misfit_of(const CorrectedEvent& event, std::uint64_t placed) {
  const EventCorrection& c = event.correction;
  // McNemar's test compares two shares of the same samples: chi-square with one degree of
  // freedom, p = 0.1%.
  constexpr double kSignificant = 10.83;
  const auto sampled = static_cast<double>(event.only_sampled);
  const auto preceding = static_cast<double>(event.only_preceding);
  const double difference = sampled - preceding;
  if (difference > 0 && difference * difference > kSignificant * (sampled + preceding)) {
    return fmt::format(
        "the sampled instructions explain the event better than their predecessors do: {} samples "
        "only the former, {} only the latter, of {}",
        in_thousands(event.only_sampled), in_thousands(event.only_preceding), in_thousands(placed));
  }
  const double share = static_cast<double>(c.unexplained) / static_cast<double>(placed);
  if (share > kMostUnexplained) {
    return fmt::format(
        "{} of {} samples follow no instruction that can have caused the event, more than {:.0f}%",
        in_thousands(c.unexplained), in_thousands(placed), 100 * kMostUnexplained);
  }
  if (c.unexplained + c.unknown == placed) {
    return "no sample follows an instruction that is known and can have caused the event";
  }
  return {};
}

/// Explains why an event is corrected only in part; empty: it is corrected as a whole.
std::string rest_of(const EventCorrection& correction) {
  const std::uint64_t open = correction.samples - correction.moved - correction.in_place;
  const double most = kMostUnplaced * static_cast<double>(correction.samples);
  if (static_cast<double>(open) <= most) return {};
  return fmt::format("the cause of {} of {} samples is open: they stay where they were recorded",
                     in_thousands(open), in_thousands(correction.samples));
}

}  // namespace

void judge_fit(CorrectedEvent& event) {
  EventCorrection& correction = event.correction;
  Skid& skid = correction.skid;
  if (skid.verdict != Verdict::corrected) return;
  if (correction.samples == 0) {
    skid.verdict = Verdict::nothing_to_correct;
    skid.reason = "no samples";
    return;
  }
  const std::uint64_t placed = correction.moved + correction.in_place + correction.undecided +
                               correction.unexplained + correction.unknown;
  if (placed == 0) {
    const auto& reasons = correction.not_placed;
    const auto most = std::ranges::max_element(reasons) - reasons.begin();
    skid.reason = fmt::format("no sample is at code whose control flow is known: {}",
                              describe(static_cast<analysis::NotJudged>(most)));
  } else {
    skid.reason = misfit_of(event, placed);
    if (skid.reason.empty()) {
      skid.reason = rest_of(correction);
      if (!skid.reason.empty()) skid.verdict = Verdict::corrected_in_part;
      return;
    }
    skid.advice = "'skidscan audit' shows which samples contradict the event";
  }
  skid.verdict = Verdict::refused;
  correction.moved = correction.in_place = correction.undecided = 0;
  correction.decided_by = {};
  event.spreads.clear();
}

}  // namespace skid::correct
