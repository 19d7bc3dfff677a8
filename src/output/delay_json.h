// The delay between a counter's overflow and the event that PEBS records, as JSON.
#pragma once

#include "analysis/delay.h"
#include "src/support/field_values.h"
#include "src/support/field_writer.h"
#include "src/support/fields.h"

#include <optional>

#include <nlohmann/json.hpp>

namespace skid::output {

/// Returns the delay of a measurement or a loop, and the pairs of samples that show it; null for
/// nullopt.
inline Json json_of_delay(const std::optional<analysis::Delay>& delay,
                          const analysis::SamplePairs& pairs) {
  if (!delay) return nullptr;
  const analysis::Delay& value = *delay;
  FieldWriter io;
  SKID_MEMBERS(low, high, p5, p50, p95, predicted, independent);
  io("pairs", pairs.pairs());
  io("left_out", pairs.left_out);
  return io.take();
}

}  // namespace skid::output
