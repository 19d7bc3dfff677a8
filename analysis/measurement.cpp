#include "analysis/measurement.h"

#include "analysis/description.h"
#include "analysis/event_identity.h"
#include "analysis/events_per_iteration.h"
#include "analysis/figures.h"
#include "analysis/geometry.h"
#include "analysis/tally.h"

#include <optional>
#include <vector>

namespace skid::analysis {
namespace {

/// Sets the effective period and the measured events per iteration, as complete() does.
void measure_rates(const Basis& basis, Description& description) {
  const auto read = static_cast<double>(basis.tally.breakdown.read());
  auto& period = description.period.effective;
  if (basis.period_sum) {
    period.reset();
    if (read > 0) period = static_cast<double>(*basis.period_sum) / read;
  }
  if (!basis.iterations) return;
  auto& measured = description.events_per_iteration.measured;
  measured.reset();
  if (*basis.iterations > 0 && period && read > 0) {
    const auto beyond = static_cast<double>(basis.events_to_record.value_or(0));
    measured = read * (*period + beyond) / static_cast<double>(*basis.iterations);
  }
}

}  // namespace

bool has_trigger_distances(const Measurement& m) {
  return m.triggers.size() > 1 && m.basis.geometry &&
         m.basis.geometry->trigger_distances.size() == m.triggers.size();
}

void complete(Measurement& measurement) {
  measurement.precise.exact_ip_samples = measurement.basis.tally.exact_samples;
  measure_rates(measurement.basis, measurement);
  static_cast<Figures&>(measurement) = figures_of(measurement, measurement.basis);
}

}  // namespace skid::analysis
