// The instructions of a target's iteration in the order in which they run: where a skid comes out.
#pragma once

#include "analysis/target_map.h"
#include "runway/target.h"
#include "src/support/address.h"
#include "src/symbols/module.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace skid::synth {

/// One instruction of the iteration, and what the breakdown calls a sample of it (docs/method.md).
struct Step {
  std::uint64_t address = 0;
  analysis::SampleClass sample_class = analysis::SampleClass::loop;
  std::optional<std::int64_t> offset = {};  ///< instructions; none in the loop
  std::optional<std::size_t> trigger = {};  ///< that the offset counts from; none before all
  bool accesses_memory = false;             ///< a trigger, or an other trigger that causes events
};

/// What a trigger loads or stores.
struct TriggerData {
  std::uint64_t datum = 0;     ///< 0: it accesses no memory
  std::uint64_t elements = 0;  ///< of a pointer chase, the datum among them; 0: only the datum
  std::uint64_t stride = 0;    ///< bytes from one element to the next
  std::uint64_t source = 0;    ///< PERF_SAMPLE_DATA_SRC of an access
  std::uint64_t latency = 0;   ///< PERF_SAMPLE_WEIGHT of an access, core cycles
};

/// The instruction of an other trigger that causes events.
struct OtherCause {
  std::uint64_t address = 0;
  bool accesses_memory = false;
};

/// Addresses of the parts of an iteration.
struct LoopParts {
  AddressRange lead_in;
  std::vector<runway::TriggerBlock> trigger_blocks;  ///< in the order of their addresses
  std::vector<AddressRange> other_triggers;
  std::vector<OtherCause> other_causes;  ///< one of each of these
  std::vector<std::uint64_t> starts;     ///< of all instructions of the iteration, ascending
  TriggerData data;
};

/// An iteration, which begins again after its last instruction.
class LoopPath {
 public:
  /// Throws Error without a trigger, or where one has no instruction at its first byte.
  explicit LoopPath(const LoopParts& parts);

  std::size_t triggers() const noexcept { return triggers_.size(); }
  std::uint64_t trigger_address(std::size_t trigger) const {
    return steps_[triggers_[trigger]].address;
  }
  const std::vector<Step>& steps() const noexcept { return steps_; }
  /// Index in steps() of a trigger.
  std::size_t step_of(std::size_t trigger) const { return triggers_[trigger]; }
  /// Indices in steps() of the instructions of other triggers that cause events, ascending.
  const std::vector<std::size_t>& other_causes() const noexcept { return other_causes_; }
  const TriggerData& data() const noexcept { return data_; }

  struct Landing {
    const Step* step = nullptr;
    bool wrapped = false;  ///< it is in the next iteration or the previous one
  };
  /// The instruction that is `offset` instructions after (below 0: before) a step as they run. A
  /// back-edge is followed by the first instruction of the loop.
  Landing from(std::size_t step, std::int64_t offset) const;

 private:
  std::vector<Step> steps_;
  std::vector<std::size_t> triggers_;      ///< indices in `steps_`
  std::vector<std::size_t> other_causes_;  ///< indices in `steps_`
  TriggerData data_;
};

/// The parts of a target's iteration, its instructions decoded. `module`: the target's file. Throws
/// Error when the file does not hold its code.
LoopParts parts_of(const runway::TargetDescription& target, const symbols::Module& module);

}  // namespace skid::synth
