// Values of a measurement as cells of a table.
#pragma once

#include "analysis/distance.h"
#include "analysis/event_identity.h"
#include "analysis/measurement.h"
#include "src/output/cell.h"
#include "src/output/number_text.h"

#include <optional>
#include <string>

#include <fmt/format.h>

namespace skid::output {

/// Returns a statistic of a distance: ">=4948", "3"; "-" without a distance.
inline Cell distance_cell(const std::optional<analysis::Distance>& distance,
                          double analysis::Distance::*value, bool analysis::Distance::*at_least) {
  if (!distance) return unknown_cell();
  return {((*distance).*at_least ? ">=" : "") + number_text((*distance).*value)};
}

/// Returns the precise level: "2"; "3 -> 2 !" if the recorded level is not the requested one.
inline Cell level_cell(const analysis::Measurement& m) {
  const int recorded = m.precise.recorded;
  if (!m.precise.requested) return {fmt::format("? -> {}", recorded)};
  if (*m.precise.requested == recorded) return {fmt::format("{}", recorded)};
  return {fmt::format("{} -> {} !", *m.precise.requested, recorded), Ink::yellow};
}

}  // namespace skid::output
