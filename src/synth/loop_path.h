// The path of a target's iteration: its instructions in the order in which they run.
#pragma once

#include "analysis/sample_class.h"
#include "runway/target.h"
#include "src/support/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace skid::symbols {
class Module;
}  // namespace skid::symbols

namespace skid::synth {

/// One instruction of the iteration, and the class of a sample of it (docs/method.md).
struct Step {
  std::uint64_t address = 0;
  analysis::SampleClass sample_class = analysis::SampleClass::loop;
  std::optional<std::int64_t> offset = {};  ///< instructions; nullopt in the loop
  std::optional<std::size_t> trigger = {};  ///< origin of the offset; nullopt before all triggers
  bool accesses_memory = false;             ///< a trigger, or an other trigger that causes events
};

/// The data that a trigger loads or stores.
struct TriggerData {
  std::uint64_t datum = 0;     ///< address; 0: the trigger accesses no memory
  std::uint64_t elements = 0;  ///< elements of a pointer chase with the datum; 0: only the datum
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
  std::vector<OtherCause> other_causes;  ///< one for each of `other_triggers`
  std::vector<std::uint64_t> starts;     ///< addresses of all instructions, ascending
  TriggerData data;
};

/// An iteration, which begins again after its last instruction.
class LoopPath {
 public:
  /// Throws Error if there is no trigger, or no instruction at the first byte of one.
  explicit LoopPath(const LoopParts& parts);

  std::size_t triggers() const noexcept { return triggers_.size(); }
  std::uint64_t trigger_address(std::size_t trigger) const {
    return steps_[triggers_[trigger]].address;
  }
  const std::vector<Step>& steps() const noexcept { return steps_; }
  /// Returns the steps as samples of them are counted that are where an interrupt arrived: after an
  /// other trigger they are its samples, in the lead-in they are past the end of the last runway.
  std::vector<Step> steps_of_interrupts() const;
  /// Returns the index of a trigger in steps().
  std::size_t step_of(std::size_t trigger) const { return triggers_[trigger]; }
  /// Returns the indices in steps() of the instructions of other triggers that cause events,
  /// ascending.
  const std::vector<std::size_t>& other_causes() const noexcept { return other_causes_; }
  const TriggerData& data() const noexcept { return data_; }

  struct Landing {
    const Step* step = nullptr;
    bool wrapped = false;  ///< it is in the next iteration or the previous one
  };
  /// Returns the instruction that runs `offset` instructions after a step (before it, if `offset`
  /// is negative). A back-edge is followed by the first instruction of the loop.
  Landing from(std::size_t step, std::int64_t offset) const;

 private:
  std::vector<Step> steps_;
  std::vector<std::size_t> triggers_;      ///< indices in `steps_`
  std::vector<std::size_t> other_causes_;  ///< indices in `steps_`
  TriggerData data_;
};

/// Decodes the parts of a target's iteration. `module`: the target's file. Throws Error when the
/// file does not contain the target's code.
LoopParts parts_of(const runway::TargetDescription& target, const symbols::Module& module);

}  // namespace skid::synth
