// The class of a sampled address and its distance from the trigger.
#pragma once

#include "analysis/sample_class.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace skid::analysis {

/// Where the samples of an event are, seen from the instruction that caused it.
enum class Landing : std::uint8_t {
  at_cause,       ///< at this instruction, if the constraint of their level is met
  next_executed,  ///< at the instruction executed next: level 1
  interrupted,    ///< where the interrupt arrived, after it: level 0 of an event of a core PMU
};

/// The distance of a sampled IP from the trigger.
struct Offset {
  std::int64_t instructions = 0;  ///< 0 trigger, 1 first runway instruction, -1 last of the lead-in
  std::int64_t bytes = 0;
};

/// What refutes the address of a sample that is where those of a trigger are.
enum class Contradiction : std::uint8_t { none, data_source, data_address };

/// The class of one address, and its offset for hit, skid, before and censored.
struct Classified {
  SampleClass sample_class = SampleClass::other_user;
  std::optional<Offset> offset = {};  ///< from the last trigger at or before it, or from the first
  std::optional<std::size_t> trigger = {};  ///< that trigger's number, from 0; none for `before`
  /// The address is not the first byte of an instruction. The class is `loop` then.
  bool inside_instruction = false;
  /// The address is that of a trigger's samples, and the sample contradicts it. The class is `loop`
  /// then, without a distance.
  Contradiction contradicted_by = Contradiction::none;
};

/// Returns the class of a sample that contradicts its address.
constexpr Classified contradicted_by(Contradiction contradiction) {
  return {.sample_class = SampleClass::loop, .contradicted_by = contradiction};
}

}  // namespace skid::analysis
