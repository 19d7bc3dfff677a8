// The records of a recording, as perf writes them from the buffers of several CPUs.
#pragma once

#include "src/support/address.h"
#include "src/symbols/module.h"
#include "src/synth/drawn_sample.h"
#include "src/synth/loop_path.h"

#include <cstdint>
#include <string>
#include <vector>

namespace skid {
class Random;
}  // namespace skid

namespace skid::perfdata {
struct Attribute;
class RecordingWriter;
}  // namespace skid::perfdata

namespace skid::synth {

struct Buffers;
struct LevelModel;

/// The events of a recording in time: samples, losses, throttling and the target's exec.
class Contents {
 public:
  /// Adds the samples of one event, by its index in the recording, and its losses and throttling.
  void add(std::uint16_t attribute, std::vector<DrawnSample> samples, const LevelModel& level);

  enum class Kind : std::uint8_t { sample, lost, lost_samples, throttle, exec };
  struct Entry {
    Kind kind = Kind::sample;
    std::uint16_t attribute = 0;
    DrawnSample sample = {};  ///< for a loss the address is the number of lost samples
  };

  /// Returns all entries in order of time: samples from before the target's exec in random order,
  /// the exec, all others in random order.
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
  AddressRange before_exec;  ///< mapped range of the process before its exec
  TriggerData data;          ///< source and latency of its accesses
};

/// Writes all records and completes the recording. `order`: decides the order of the contents.
/// `buffering`: decides the CPU of each entry, and the round in which it gets to the file.
void write_contents(Contents contents, const std::vector<perfdata::Attribute>& attributes,
                    const TargetMapping& target, const Buffers& buffers, Random& order,
                    Random& buffering, perfdata::RecordingWriter& writer);

}  // namespace skid::synth
