#include "src/correct/model_fit.h"

#include "analysis/not_judged.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace skid::correct {
namespace {

/// Why the counts contradict the model; empty: they do not.
std::string misfit_of(const CorrectedEvent& event, std::uint64_t placed) {
  const EventCorrection& c = event.correction;
  // McNemar's test of two shares of the same samples: chi-square of one degree of freedom, 0.1%.
  constexpr double kSignificant = 10.83;
  const auto sampled = static_cast<double>(event.only_sampled);
  const auto preceding = static_cast<double>(event.only_preceding);
  const double difference = sampled - preceding;
  if (difference > 0 && difference * difference > kSignificant * (sampled + preceding)) {
    return fmt::format(
        "the sampled instructions explain the event better than their predecessors do: {} "
        "samples only the former, {} only the latter, of {}",
        event.only_sampled, event.only_preceding, placed);
  }
  const double share = static_cast<double>(c.unexplained) / static_cast<double>(placed);
  if (share > kMostUnexplained) {
    return fmt::format(
        "{} of {} samples follow no instruction that can have caused the event, more than "
        "{:.0f}%",
        c.unexplained, placed, 100 * kMostUnexplained);
  }
  return {};
}
}  // namespace

void refuse_misfit(CorrectedEvent& event) {
  EventCorrection& correction = event.correction;
  if (correction.skid.verdict != Verdict::corrected) return;
  const std::uint64_t placed = correction.moved + correction.in_place + correction.split +
                               correction.unexplained + correction.unknown;
  if (correction.samples == 0) return;
  if (placed == 0) {
    const auto& reasons = correction.not_placed;
    const auto most = std::max_element(reasons.begin(), reasons.end()) - reasons.begin();
    correction.skid.reason = fmt::format("no sample is at code whose control flow is known: {}",
                                         describe(static_cast<analysis::NotJudged>(most)));
  } else {
    correction.skid.reason = misfit_of(event, placed);
    if (correction.skid.reason.empty()) return;
    correction.skid.advice = "'skidscan audit' shows which samples contradict the event";
  }
  correction.skid.verdict = Verdict::refused;
  correction.moved = correction.in_place = correction.split = 0;
  correction.split_by = {};
  event.spreads.clear();
  event.moves.clear();
}

}  // namespace skid::correct
