// Addresses of a target to sample classes and offsets.
#pragma once

#include "src/support/address.h"
#include "src/support/names.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace skid::analysis {

enum class SampleClass {
  hit,
  skid,
  before,
  censored,
  other_trigger,
  loop,
  other_user,
  kernel,
  guest,
  unmapped,
};
inline constexpr std::size_t kSampleClasses = 10;
/// The key in JSON and CSV, and the words of texts.
SKID_WORDS(SampleClass, {"hit", "hit"}, {"skid", "skid"}, {"before", "before the trigger"},
           {"censored", "censored (end of runway)"}, {"other_trigger", "other trigger"},
           {"loop", "loop"}, {"other_user", "other user"}, {"kernel", "kernel"}, {"guest", "guest"},
           {"unmapped", "unmapped"})

/// Whether samples of the class can be evidence of skid: hit, skid, before, censored, loop.
constexpr bool is_judged(SampleClass sample_class) {
  return sample_class <= SampleClass::censored || sample_class == SampleClass::loop;
}

/// A range of code and where its instructions start.
struct CodeRegion {
  AddressRange range;
  std::vector<std::uint64_t> starts;  ///< ascending, first == range.begin; empty for no region
};

/// The distance of a sampled IP from the trigger.
struct Offset {
  std::int64_t instructions = 0;  ///< 0 trigger, 1 first runway instruction, -1 last of the lead-in
  std::int64_t bytes = 0;
};

/// One trigger and the runway between it and the next one.
struct TriggerBlock {
  CodeRegion trigger, runway;
  std::size_t setup = 0;  ///< instructions between this runway and the next trigger
};

/// The class of one address, and its offset for hit, skid, before and censored.
struct Classified {
  SampleClass sample_class = SampleClass::other_user;
  std::optional<Offset> offset;        ///< from the last trigger at or before it, or from the first
  std::optional<std::size_t> trigger;  ///< that trigger's number, from 0; none for `before`
  /// The address is not the first byte of an instruction; of the class `loop` then.
  bool inside_instruction = false;
};

/// The part of a target's layout that the figures depend on.
struct Geometry {
  /// Offsets in instructions that can occur: from -(lead-in) to the longest runway.
  std::int64_t lowest_offset = 0, highest_offset = 0;
  /// First censored offset in instructions, that of the shortest runway where there are several;
  /// nullopt without a censored class.
  std::optional<std::int64_t> censored_from;
  std::optional<std::int64_t> censored_from_bytes;  ///< the same in bytes
  std::vector<std::uint64_t> trigger_addresses;     ///< by number; at least one
  /// Instructions from each trigger to the next; of the last to the first of the next iteration,
  /// but for the few of the loop. Empty for `of_functions`.
  std::vector<std::uint64_t> trigger_distances;
  /// The share of hits if lead-in, triggers and runways took equally long per instruction (the few
  /// of the loop are left out); nullopt for `of_functions`, where the instructions of the hit
  /// function are not known.
  std::optional<double> even_hit_share;

  friend bool operator==(const Geometry&, const Geometry&) = default;
};

/// Classifies user-mode addresses of the target.
class TargetMap {
 public:
  /// A generated target: lead-in, then one or more exact triggers in the order of their addresses,
  /// each with its runway. The last 5% of the instructions of each runway (rounded down) are
  /// censored: a sample there may also have passed the next trigger. Bytes are counted from the
  /// trigger's first byte. An address is looked up in triggers and runways, lead-in, other triggers
  /// and loop, in this order. `successors`: the instructions executed directly after other
  /// triggers, by their first bytes. Throws Error without a trigger, and for a region whose
  /// instructions are not known or not in order, or a trigger that is not one instruction.
  static TargetMap of_target(CodeRegion lead_in, std::vector<TriggerBlock> trigger_blocks,
                             AddressRange loop, std::vector<AddressRange> other_triggers,
                             std::vector<std::uint64_t> successors = {});

  /// Targets that others wrote: every address of `hit` is a hit (offset 0), every one of `runway` a
  /// skid; instruction k of the runway function is offset k (from 1), bytes are counted from the
  /// runway's first byte. No lead-in, no censored class.
  static TargetMap of_functions(AddressRange hit, CodeRegion runway);

  /// `level`: precise_ip of the sample's event. Level 1 samples the instruction executed after the
  /// one that caused the event, so there the successors of other triggers count as other triggers,
  /// and so does a trigger that directly follows another one.
  Classified classify(std::uint64_t address, int level = 0) const;

  Geometry geometry() const;
  std::size_t triggers() const noexcept { return blocks_.size(); }
  /// Address of the first byte of a trigger, by its number.
  std::uint64_t trigger_address(std::size_t trigger) const {
    return blocks_[trigger].trigger.range.begin;
  }

 private:
  TargetMap() = default;

  /// Whether the address is of a trigger that directly follows another: level 1 samples it for
  /// both.
  bool is_ambiguous(std::uint64_t address) const;
  std::optional<Classified> classify_in(std::size_t number, std::uint64_t address) const;
  bool is_other_trigger(std::uint64_t address, int level) const;

  CodeRegion lead_in_;
  std::vector<TriggerBlock> blocks_;
  AddressRange loop_;
  std::vector<AddressRange> other_triggers_;
  std::vector<std::uint64_t> successors_;
  bool by_function_ = false;
};

}  // namespace skid::analysis
