// The records of a recording in the order in which perf would have found them: each CPU has a
// buffer, and perf empties one after the other, round after round.
#pragma once

#include "src/perfdata/attribute.h"
#include "src/perfdata/recording_writer.h"
#include "src/synth/draw.h"

namespace skid::synth {

/// What happens in a recording, beside the mappings.
class Contents {
 public:
  /// The samples of one event, by its index in the recording, and its losses and throttling.
  void add(std::uint16_t attribute, std::vector<DrawnSample> samples, const LevelModel& level);

  enum class Kind : std::uint8_t { sample, lost, lost_samples, throttle, exec };
  struct Entry {
    Kind kind = Kind::sample;
    std::uint16_t attribute = 0;
    DrawnSample sample = {};  ///< of a loss: its address is the number of lost samples
  };

  /// All that was added, in order of time: what was sampled before the target's exec in random
  /// order, the exec, the rest in random order.
  std::vector<Entry> in_order(Random& random) &&;
  bool has_before_exec() const noexcept { return !before_exec_.empty(); }

 private:
  void add_lost(Kind kind, std::uint16_t attribute, std::uint64_t lost);

  std::vector<Entry> before_exec_, rest_;
};

/// The target's file as the recording describes it.
struct TargetMapping {
  std::string path;      ///< absolute
  std::string build_id;  ///< hexadecimal
  symbols::Module::ExecutableMapping code;
  AddressRange before_exec;  ///< what the process has mapped there before its exec
  TriggerData data;          ///< source and latency of its accesses
};

/// Writes all records and completes the recording. `order`: decides what happens when; `buffering`:
/// what happens on which CPU and gets to the file in which round.
void write_contents(Contents contents, const std::vector<perfdata::Attribute>& attributes,
                    const TargetMapping& target, const Buffers& buffers, Random& order,
                    Random& buffering, perfdata::RecordingWriter& writer);

}  // namespace skid::synth
