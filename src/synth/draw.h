// From a model to samples on the path of a target's iteration, its instructions in the order in
// which they run; and to the figures that a report of these samples must contain.
#pragma once

#include "analysis/basis.h"
#include "analysis/target_map.h"
#include "runway/target.h"
#include "src/perfdata/format.h"
#include "src/support/address.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace skid::perfdata {
struct BranchEntry;
}  // namespace skid::perfdata

namespace skid::symbols {
class Module;
}  // namespace skid::symbols

namespace skid::synth {

struct LevelModel;

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

/// The code that a sample is of.
enum class Origin : std::uint8_t {
  target,       ///< of the target, after its exec
  before_exec,  ///< of the process that becomes the target
  other,        ///< of another process
};

struct DrawnSample {
  std::uint64_t address = 0;
  Origin origin = Origin::target;
  perfdata::CpuMode mode = perfdata::CpuMode::user;
  bool exact = false;      ///< PERF_RECORD_MISC_EXACT_IP
  std::uint64_t data = 0;  ///< PERF_SAMPLE_ADDR, no part of comparisons
  /// PERF_SAMPLE_BRANCH_STACK, newest first, no part of comparisons; null: empty.
  const std::vector<perfdata::BranchEntry>* branches = nullptr;

  friend bool operator==(const DrawnSample& a, const DrawnSample& b) {
    return !(a < b) && !(b < a);
  }
  friend bool operator<(const DrawnSample& a, const DrawnSample& b) {
    return std::tie(a.address, a.origin, a.mode, a.exact) <
           std::tie(b.address, b.origin, b.mode, b.exact);
  }
};

/// Where synthetic targets map the memory of a pointer chase.
inline constexpr std::uint64_t kChaseBegin = 0x7e00'0000'0000;

/// Samples by the data address that they carry.
struct DataCounts {
  std::uint64_t cause = 0, elsewhere = 0, none = 0;
};

/// The truth that must be found in the samples of one event at one level.
struct Truth {
  analysis::Breakdown samples;
  std::uint64_t exact_ip_samples = 0;             ///< of all
  std::uint64_t exact_hits = 0;                   ///< of the hits
  std::uint64_t exact_off_trigger = 0;            ///< of the judged samples that are no hits
  std::map<std::int64_t, std::uint64_t> offsets;  ///< as they are to be found, in instructions
  /// As they were drawn: not cut off by the end of the runway, or by the next trigger.
  std::map<std::int64_t, std::uint64_t> drawn;
  std::uint64_t wrapped = 0;  ///< samples whose skid came out in another iteration
  std::vector<analysis::TriggerCount> triggers;
  std::vector<double> trigger_shares;  ///< of the triggers, in the samples that `offsets` places
  std::optional<DataCounts> data;      ///< nullopt without PERF_SAMPLE_ADDR
  std::map<DrawnSample, std::uint64_t> places;
};

struct Drawn {
  std::vector<DrawnSample> samples;  ///< in no order that means anything
  Truth truth;
};

/// A seed for one of several independent streams of random numbers of a model.
std::uint64_t seed_of(std::uint64_t model_seed, std::initializer_list<std::uint64_t> stream);

/// Three places that are in no file: the other code of the process before it becomes the target,
/// which covers the target's, the code of the other process, and the kernel's. Linux has nothing
/// there on x86-64 and on aarch64: perf would give names of the running kernel to addresses of its
/// text.
AddressRange code_before_exec(const LoopPath& path);
inline constexpr AddressRange kCodeOfOther{0x7f00'0000'0000, 0x7f00'0010'0000};
inline constexpr AddressRange kCodeOfKernel{0xffff'ffff'4000'0000, 0xffff'ffff'4100'0000};

/// An instruction that causes events.
struct Cause {
  std::size_t step = 0;                ///< index in LoopPath::steps()
  std::optional<std::size_t> trigger;  ///< its number; none for an other trigger
  double share = 0;                    ///< of the samples
};

/// All triggers, and the other triggers where the model has a share for them, in the order of the
/// iteration. Their shares add up to 1. Without a shadow they are the model's. With one each event
/// overflows the counter with that probability, and the first cause that is at least the delay
/// after it gets the sample. `name`: of event and level, for messages. Throws Error when the model
/// needs what the target does not have: other triggers, or another number of triggers than it has
/// shares for.
std::vector<Cause> causes_of(const LevelModel& level, const LoopPath& path,
                             const std::string& name);

/// Draws the samples of one event at one level. `name`: of event and level, for messages. Throws
/// Error when the model needs what the target does not have: other triggers, or another number of
/// triggers than it has shares for.
Drawn draw(const LevelModel& level, const LoopPath& path, std::uint64_t seed,
           const std::string& name);

}  // namespace skid::synth
