// Addresses of a target to sample classes and offsets.
#pragma once

#include "analysis/ledger.h"
#include "src/support/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace skid::analysis {

/// A stretch of code and where its instructions start.
struct CodeRegion {
  AddressRange range;
  std::vector<std::uint64_t> starts;  ///< ascending, first == range.begin; empty for no region
};

/// The distance of a sampled IP from the trigger.
struct Offset {
  std::int64_t instructions = 0;  ///< 0 trigger, 1 first runway instruction, -1 last of the lead-in
  std::int64_t bytes = 0;
};

/// The class of one address, and its offset for hit, skid, before and censored.
struct Classified {
  SampleClass sample_class = SampleClass::other_user;
  std::optional<Offset> offset;
  bool inside_instruction = false;  ///< the address is not the first byte of an instruction
};

/// The geometry that classifies user-mode addresses of the target.
class TargetMap {
 public:
  /// A generated target: exact trigger, lead-in, runway whose last 5% of instructions (rounded
  /// down, at least one) are censored. Bytes are counted from the trigger's first byte. An address
  /// is looked for in the trigger, runway, lead-in, other triggers and loop, in this order.
  /// Throws Error for a region whose instructions are not known or not in order, or a trigger that
  /// is not one instruction.
  static TargetMap of_target(CodeRegion lead_in, CodeRegion trigger, CodeRegion runway,
                             AddressRange loop, std::vector<AddressRange> other_triggers);

  /// Targets that others wrote: every address of `hit` is a hit (offset 0), every one of `runway` a
  /// skid; instruction k of the runway function is offset k (from 1), bytes are counted from the
  /// runway's first byte. No lead-in, no censored class.
  static TargetMap of_functions(AddressRange hit, CodeRegion runway);

  Classified classify(std::uint64_t address) const;

  /// Offsets in instructions that can occur: [-(lead-in instructions), runway instructions].
  std::int64_t lowest_offset() const;
  std::int64_t highest_offset() const;
  /// First censored offset in instructions; nullopt when there is no censored class.
  std::optional<std::int64_t> censored_from() const;
  /// The same in bytes from the trigger's first byte.
  std::optional<std::int64_t> censored_from_bytes() const;
  /// Instructions of one iteration that the map knows: lead-in + trigger + runway.
  std::int64_t instructions() const;
  /// The share of hits if all of these took equally long; nullopt for `of_functions`, where the
  /// instructions of the hit function are not known. The few instructions of the loop are left out.
  std::optional<double> even_hit_share() const;

 private:
  TargetMap() = default;

  CodeRegion lead_in_, trigger_, runway_;
  AddressRange loop_;
  std::vector<AddressRange> other_triggers_;
  std::optional<std::size_t> censored_index_;  // into runway_.starts
  bool by_function_ = false;
};

}  // namespace skid::analysis
