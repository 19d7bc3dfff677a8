#include "analysis/cell_comparison.h"
#include "analysis/wording.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace skid::analysis {
namespace {

/// Periods are quotients of two counts where none was requested.
constexpr double kPeriodTolerance = 0.01;

/// The trigger that all runs of a cell have, or nullopt where they have none or several.
std::optional<std::string> trigger_of(const std::vector<const Measurement*>& runs) {
  std::optional<std::string> kind;
  for (const Measurement* run : runs) {
    if (!run->trigger || (kind && *kind != run->trigger->kind)) return std::nullopt;
    kind = run->trigger->kind;
  }
  return kind;
}

/// Whether a run recorded another event of the same name, because the requested one was
/// not available. The same name can have different codes on two CPUs.
bool is_another_event(const Measurement& a, const Measurement& b) {
  const bool same = a.event.type == b.event.type && a.event.config == b.event.config;
  return (a.event.substituted || b.event.substituted) && !same;
}

std::string runway_of(const Measurement& measurement) {
  const auto& geometry = measurement.basis.geometry;
  if (!geometry) return "none";
  return fmt::format("{} of {} instructions",
                     counted(geometry->trigger_addresses.size(), "trigger"),
                     geometry->highest_offset);
}

std::string period_of(const Measurement& measurement) {
  const Period& period = measurement.period;
  if (period.requested) return fmt::format("{}", *period.requested);
  if (period.effective && std::isfinite(*period.effective)) {
    return fmt::format("~{:.0f}", *period.effective);
  }
  return "unknown";
}

bool same_period(const Period& a, const Period& b) {
  if (a.requested && b.requested) return *a.requested == *b.requested;
  const auto value = [](const Period& period) {
    return period.requested ? static_cast<double>(*period.requested) : period.effective.value_or(0);
  };
  return std::abs(value(a) - value(b)) <= kPeriodTolerance * std::max(value(a), value(b));
}

}  // namespace

std::string why_not_compared(const ComparisonCell& baseline, const ComparisonCell& cell) {
  const Measurement& first = *baseline.runs.front();
  for (const Measurement* run : baseline.runs) {
    if (is_another_event(first, *run)) {
      return fmt::format("the baseline's runs recorded several events: {} and {}",
                         first.event.recorded, run->event.recorded);
    }
  }
  const std::optional<std::string> expected = trigger_of(baseline.runs);
  if (!expected && first.trigger) return "the baseline's runs have several triggers";
  for (const Measurement* run : cell.runs) {
    if (is_another_event(first, *run)) {
      return fmt::format("another event was recorded: {} here, {} in the baseline",
                         run->event.recorded, first.event.recorded);
    }
  }
  const std::optional<std::string> here = trigger_of(cell.runs);
  if (!here && cell.runs.front()->trigger) return "its runs have several triggers";
  if (!expected || !here) return "no trigger address";
  if (*here != *expected) {
    return fmt::format("another trigger: {} here, {} in the baseline", *here, *expected);
  }
  return {};
}

std::vector<std::string> reservations(const Measurement& baseline, const ComparisonCell& cell) {
  std::vector<std::string> remarks;
  const auto add = [&remarks](std::string remark) {
    if (std::ranges::find(remarks, remark) == remarks.end()) {
      remarks.push_back(std::move(remark));
    }
  };
  for (const Measurement* run : cell.runs) {
    if (runway_of(*run) != runway_of(baseline)) {
      add(fmt::format("another runway: {} here, {} in the baseline", runway_of(*run),
                      runway_of(baseline)));
    }
    if (!same_period(run->period, baseline.period)) {
      add(fmt::format("another period: {} here, {} in the baseline", period_of(*run),
                      period_of(baseline)));
    }
    if (run->path && baseline.path && *run->path != *baseline.path) {
      add(fmt::format("another path of recording: {} here, {} in the baseline",
                      describe(*run->path), describe(*baseline.path)));
    }
    if (run->precise.recorded != baseline.precise.recorded) {
      add(fmt::format("recorded at another precise level: {} here, {} in the baseline",
                      run->precise.recorded, baseline.precise.recorded));
    }
    if (run->event.substituted) {
      add(fmt::format("not the requested event: {} was recorded", run->event.recorded));
    }
    if (run->parts > 1) {
      add(fmt::format("the sum of {} recordings: how much they vary is not known", run->parts));
    }
    if (run->read_in_part) add("read in part: what is missing may differ from what was read");
  }
  return remarks;
}

}  // namespace skid::analysis
