// Maps addresses of a target to sample classes and offsets.
#pragma once

#include "analysis/classified.h"
#include "analysis/geometry.h"
#include "src/support/address.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace skid::analysis {

/// A range of code and where its instructions start.
struct CodeRegion {
  AddressRange range;
  std::vector<std::uint64_t> starts;  ///< ascending, first == range.begin; empty for no region
};

/// One trigger and the runway between it and the next one.
struct TriggerBlock {
  CodeRegion trigger, runway;
  std::size_t setup = 0;  ///< instructions between this runway and the next trigger
};

/// Classifies user-mode addresses of the target.
class TargetMap {
 public:
  /// Makes the map of a generated target: lead-in, then one or more exact triggers in the order of
  /// their addresses, each with its runway. The last 5% of the instructions of each runway (rounded
  /// down) are censored: a sample there may also have passed the next trigger. Bytes are counted
  /// from the trigger's first byte. An address is looked up in triggers and runways, lead-in, other
  /// triggers and loop, in this order. `successors` are the instructions executed directly after
  /// other triggers, by their first bytes. Throws Error without a trigger, and for a region whose
  /// instructions are not known or not in order, or a trigger that is not one instruction.
  static TargetMap of_target(CodeRegion lead_in, std::vector<TriggerBlock> trigger_blocks,
                             AddressRange loop, std::vector<AddressRange> other_triggers,
                             std::vector<std::uint64_t> successors = {});

  /// Makes the map of a third-party target: every address of `hit` is a hit (offset 0), every one
  /// of `runway` a skid. Instruction k of the runway function is offset k (from 1), and bytes are
  /// counted from the runway's first byte. There is no lead-in and no censored class.
  static TargetMap of_functions(AddressRange hit, CodeRegion runway);

  /// Classifies an address. `next_executed`: a successor of another trigger, and a trigger that
  /// directly follows one, are `other_trigger`. `interrupted`: an address of the lead-in or the
  /// loop that follows another trigger more closely than a trigger is `other_trigger`; the rest of
  /// the lead-in is `censored`, as the last instruction of the last runway, or `loop` if that
  /// runway has no censored end.
  Classified classify(std::uint64_t address, Landing landing = Landing::at_cause) const;

  /// Returns the layout that the statistics depend on.
  Geometry geometry() const;
  /// Returns the number of exact triggers.
  std::size_t triggers() const noexcept { return blocks_.size(); }
  /// Returns the address of the first byte of a trigger, by the trigger's number from 0.
  std::uint64_t trigger_address(std::size_t trigger) const {
    return blocks_[trigger].trigger.range.begin;
  }

 private:
  TargetMap() = default;

  /// Whether an address is that of a trigger that directly follows another one: level 1 samples it
  /// for both.
  bool is_ambiguous(std::uint64_t address) const;
  std::optional<Classified> classify_in(std::size_t number, std::uint64_t address) const;
  bool is_other_trigger(std::uint64_t address, Landing landing) const;
  /// Whether an address of the loop is executed after an other trigger and before the next trigger.
  bool follows_other_trigger(std::uint64_t address) const;
  /// Classifies an address of the lead-in.
  Classified classify_lead_in(std::uint64_t address, Landing landing) const;

  CodeRegion lead_in_;
  std::vector<TriggerBlock> blocks_;
  AddressRange loop_;
  std::vector<AddressRange> other_triggers_;
  std::vector<std::uint64_t> successors_;
  bool by_function_ = false;
};

}  // namespace skid::analysis
