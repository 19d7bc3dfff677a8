// Measurements made straight from distributions, without files, for comparisons of them.
#pragma once

#include "analysis/comparison.h"
#include "analysis/geometry.h"
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/offset_counts.h"
#include "analysis/sample_class.h"
#include "analysis/target_map.h"
#include "tests/support/offset_models.h"
#include "tests/support/prelude.h"
#include "tests/unit/example_measurements.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace skid::examples {

/// Inputs by name, each with its measurements, as a command would have read them.
class Compared {
 public:
  /// Begins another input.
  Compared& input(std::string name) {
    inputs.push_back(std::move(name));
    return *this;
  }
  /// A measurement of the last input, or several equal ones.
  Compared& add(const analysis::Measurement& measurement, std::size_t times = 1) {
    measurements.insert(measurements.end(), times, measurement);
    input_of.resize(measurements.size(), inputs.size() - 1);
    return *this;
  }
  /// Refers to the measurements.
  analysis::Comparison compare(const analysis::ComparisonChoices& choices = {}) const {
    return analysis::compare({inputs, measurements, input_of}, choices);
  }

  std::vector<std::string> inputs;
  std::vector<analysis::Measurement> measurements;
  std::vector<std::size_t> input_of;
};

inline analysis::OffsetCounts counts(
    std::initializer_list<std::pair<std::int64_t, std::uint64_t>> list) {
  analysis::OffsetCounts offsets;
  for (const auto& [offset, count] : list) offsets.add(offset, count);
  return offsets;
}

/// Offsets from `lowest` to `highest` can occur, all from `censored_from` on are censored.
struct Range {
  std::int64_t lowest = -200, highest = 1000, censored_from = 950;
};

/// A measurement with these offsets, each of which is judged.
inline analysis::Measurement of_offsets(const analysis::OffsetCounts& offsets,
                                        const Example& example, const Range& range = {}) {
  using analysis::SampleClass;
  analysis::Measurement m = begin(example);
  m.basis.not_judged = example.not_judged;
  m.basis.ignores_level = example.ignores_level.value_or(m.basis.ignores_level);
  analysis::Geometry geometry{.lowest_offset = range.lowest, .highest_offset = range.highest};
  geometry.censored_from = geometry.censored_from_bytes = range.censored_from;
  geometry.trigger_addresses = {kTrigger};
  m.basis.geometry = geometry;
  for (const auto& [offset, count] : offsets.counts()) {
    m.basis.tally.instructions.add(offset, count);
    m.basis.tally.bytes.add(offset, count);
    if (offset >= range.censored_from) m.basis.tally.censored.add(offset, count);
    m.basis.tally.breakdown.add(offset == 0                     ? SampleClass::hit
                                : offset < 0                    ? SampleClass::before
                                : offset >= range.censored_from ? SampleClass::censored
                                                                : SampleClass::skid,
                                count);
  }
  analysis::complete(m);
  return m;
}

/// Inputs "a", "b", … with a measurement of each.
inline Compared one_each(const std::vector<analysis::Measurement>& measurements) {
  Compared result;
  for (const analysis::Measurement& measurement : measurements) {
    result.input(std::string(1, static_cast<char>('a' + result.inputs.size()))).add(measurement);
  }
  return result;
}

inline analysis::OffsetCounts shifted(const analysis::OffsetCounts& offsets, std::int64_t by) {
  analysis::OffsetCounts result;
  for (const auto& [offset, count] : offsets.counts()) result.add(offset + by, count);
  return result;
}

/// So many sides, the last of which is worse, lacks an event and has one of its own; with every
/// kind of line that a text can have.
inline Compared differing(std::size_t sides) {
  Compared compared;
  for (std::size_t i = 0; i < sides; ++i) {
    const bool last = i + 1 == sides;
    compared.input("directory/of/side-" + std::to_string(i) + ".run");
    for (int repeat = 1; repeat <= (last ? 1 : 4); ++repeat) {
      auto sound = of_offsets(last ? counts({{0, 4000}, {5, 1000}}) : counts({{0, 5000}}),
                              {.event = "sound", .level = 2});
      sound.repeat = repeat;
      sound.synthetic = i == 0;
      compared.add(std::move(sound));
    }
    compared.add(
        of_offsets(counts({{40, 5000}, {960, 3000 + 100 * i}}), {.event = "censored", .level = 0}));
    compared.add(
        of_offsets(last ? counts({{1, 3}}) : counts({{1, 5000}}), {.event = "few", .level = 1}));
    auto substituted = of_offsets(counts({{300, 5000}, {310, 5000}}),
                                  {.event = "cycles", .not_judged = analysis::NotJudged::timer});
    substituted.event.substituted = last;
    substituted.event.type = last ? 1 : 0;
    substituted.event.recorded = last ? "cpu-clock" : "cycles";
    compared.add(std::move(substituted));
    compared.add(of_offsets(counts({{0, 5000}}), {.event = last ? "only here" : "gone"}));
  }
  return compared;
}

}  // namespace skid::examples
