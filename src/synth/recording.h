// A recording, or a run, made from a model: its records, as perf writes them from the buffers of
// several CPUs, round after round; and its truth, also as JSON, whose keys docs/synth.md has.
#pragma once

#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/run/run.h"
#include "src/support/address.h"
#include "src/symbols/module.h"
#include "src/synth/draw.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <linux/perf_event.h>

namespace skid {
class FileDescriptor;
class Random;
}  // namespace skid

namespace skid::machine {
struct Machine;
}  // namespace skid::machine

namespace skid::perfdata {
class RecordingWriter;
struct WritingChoices;
}  // namespace skid::perfdata

namespace skid::runway {
struct Target;
}  // namespace skid::runway

namespace skid::synth {

struct Buffers;
struct LevelModel;
struct Model;

/// An event of a model at one of its levels.
struct Selected {
  std::size_t event = 0;  ///< index in Model::events
  std::size_t level = 0;  ///< index in EventModel::levels
};

/// All events of a model at all of their levels that are not refused.
std::vector<Selected> all_of(const Model& model);

struct MeasurementTruth {
  Selected selected;
  std::string requested;          ///< as requested: "access:pp"
  std::string perf_event;         ///< as -e would take it: "mem:0x410000/8:rw:pp"
  perfdata::Attribute attribute;  ///< as recorded
  Truth truth;
};

struct RecordingTruth {
  std::vector<MeasurementTruth> measurements;  ///< in the order of the recording's events
  std::uint64_t lost = 0;                      ///< sum of PERF_RECORD_LOST
  std::uint64_t lost_samples = 0;              ///< sum of PERF_RECORD_LOST_SAMPLES
  std::uint64_t throttled = 0;                 ///< PERF_RECORD_THROTTLE records
};

/// Features of a recording of that machine with so many CPUs, marked as synthetic.
perfdata::Features synthetic_features(const machine::Machine& machine, unsigned cpus,
                                      std::vector<std::string> command_line);

/// The sample_type of synthetic events; those with data addresses have more. The function makes the
/// modifiers u, k and h flags of an event.
inline constexpr std::uint64_t kSampleType =
    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
void set_modes(const std::string& modifiers, perfdata::Attribute& attribute);

/// Of an event's first id in a recording; the others follow.
inline constexpr std::uint64_t kFirstId = 100;

/// Makes recordings of one model on one target. Refers to both.
class Synthesizer {
 public:
  /// Throws Error when the target's file does not hold its code.
  Synthesizer(const Model& model, const runway::Target& target);

  /// Draws what is selected, for the given repetition of all levels, and writes it. `file`: open
  /// for writing; `path` names it in errors. What is drawn for an event and level depends on the
  /// model's seed and the repetition, not on what else is selected nor on buffers, mode and
  /// compression. Throws Error when the model needs what the target does not have, or more than
  /// kMostSamples, or when the file cannot be written.
  RecordingTruth write(const std::vector<Selected>& selected, int repeat, FileDescriptor file,
                       const std::filesystem::path& path, const perfdata::WritingChoices& choices);

  /// An event at a level as it is requested and recorded, without its truth. `index`: of the event
  /// in its recording.
  MeasurementTruth describe(Selected selected, std::size_t index) const;

  const LoopPath& path() const noexcept { return path_; }

 private:
  /// The recording's command line and features: as requested from perf.
  perfdata::Features features(const std::vector<MeasurementTruth>& measurements) const;

  const Model& model_;
  const runway::Target& target_;
  symbols::Module module_;
  LoopPath path_;
};

inline constexpr const char* kTruthSchema = "skidscan.truth/1";

/// A recording by the name of its file, and the number of its repetition of all levels.
struct NamedTruth {
  std::string file;
  int repeat = 1;
  RecordingTruth truth;
};

/// The truth of all recordings of a model on a target, as the text of a file.
std::string truth_json(const Model& model, const runway::Target& target, const LoopPath& path,
                       const std::vector<NamedTruth>& recordings);

/// A whole run: run.json, target, and a recording per event, level and repetition.
struct SyntheticRun {
  run::Run run;
  std::vector<NamedTruth> recordings;
};

/// Writes the recordings of all levels beside its target into `directory`, which exists. Returns
/// the content of run.json, without writing it. `repeats`: of all levels, at least 1, each drawn
/// anew. `command_line`: of skidscan. `begins`: called with the name of each recording before it is
/// made, its number from 1 and how many there are. Throws Error as Synthesizer::write does.
SyntheticRun write_run(
    const Model& model, const runway::Target& target, int repeats,
    const perfdata::WritingChoices& choices, const std::filesystem::path& directory,
    const std::vector<std::string>& command_line,
    const std::function<void(const std::string&, std::size_t, std::size_t)>& begins);

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
