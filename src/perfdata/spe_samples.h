// The samples that the AUX area of an SPE event has: one for each complete record.
#pragma once

#include "src/perfdata/byte_stream.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/spe_record.h"
#include "src/support/byte_order.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace skid::perfdata {

class SampleDecoder;
struct Attribute;
struct Features;
struct Record;

/// The parameters of PERF_RECORD_TIME_CONV, by which the kernel's clock follows from the system
/// counter (tsc_to_perf_time() in tools/perf/util/tsc.c).
struct TimeConversion {
  std::uint64_t shift = 0, multiplier = 0, zero = 0;
  std::uint64_t cycles = 0, mask = 0;
  bool is_short = false;  ///< the counter has only the bits of `mask`, and is extended by `cycles`

  /// Returns the time in ns.
  std::uint64_t time_of(std::uint64_t counter) const noexcept;
};

/// Reads a PERF_RECORD_TIME_CONV. nullopt if it is too short.
std::optional<TimeConversion> parse_time_conversion(const Record& record, ByteOrder order);

/// Data of an AUX area: what follows one PERF_RECORD_AUXTRACE.
struct AuxData {
  std::size_t segment = 0;     ///< number of the file
  std::uint64_t position = 0;  ///< Record::position of the record
  std::uint64_t offset = 0;    ///< offset of the data in the recording
  std::uint64_t stored = 0;    ///< offset of the data in the file that is read: that of a copy
  std::uint64_t size = 0;      ///< bytes
  std::uint64_t aux_offset = 0;
  std::int32_t tid = -1;   ///< of a buffer per thread; -1: per CPU
  std::uint32_t cpu = 0;   ///< all bits are set: per thread
  std::uint64_t time = 0;  ///< ns, of the last record before it; 0: none
};

/// Reads a PERF_RECORD_AUXTRACE, except for where it is stored. nullopt if it is too short.
std::optional<AuxData> parse_aux_data(const Record& record, ByteOrder order);

/// What was found in the data of SPE.
struct SpeCounts {
  std::uint64_t records = 0;     ///< complete records, which are samples
  std::uint64_t incomplete = 0;  ///< records that were cut off, damaged, or without an address
  std::uint64_t malformed = 0;   ///< malformed packets
};

/// Makes the samples of SPE records. Threads are known only when the recording was read to its end:
/// AUX data may precede the records of forks and context switches. Its samples therefore follow all
/// other records.
class SpeSamples {
 public:
  /// Takes a PERF_RECORD_AUXTRACE_INFO (arm_spe_info_fill() in
  /// tools/perf/arch/arm64/util/arm-spe.c, and since Linux 6.14 its version 2). Returns whether it
  /// is of SPE and of one of `attributes`, which are then given the fields of their samples.
  bool take_info(const Record& record, ByteOrder order, std::vector<Attribute>& attributes);
  /// Takes a record that describes the threads on a CPU, or the clock. Others are ignored, and
  /// those that were taken when the recording was read before. Returns false for the first record
  /// for which there is no room.
  bool take(const Record& record, const SampleDecoder& decoder);
  /// Adds data, in the order of the recording.
  void add(const AuxData& data);
  bool empty() const noexcept { return data_.empty(); }

  /// Begins again with the first data.
  void rewind();
  /// The data that `next` continues with; null at the end. `open` is to be called for it.
  const AuxData* current() const noexcept { return at_ < data_.size() ? &data_[at_] : nullptr; }
  bool is_open() const noexcept { return stream_.has_value(); }
  /// Opens the current data: `stream` is at its first byte.
  void open(ByteStream stream);
  /// Reads the next complete record of the current data. `record` is then a PERF_RECORD_SAMPLE of
  /// one of `attributes`, whose body is valid until the next call. False at the end of the data,
  /// which is then closed; `current` is the next one.
  bool next(const std::vector<Attribute>& attributes, const Features& features, ByteOrder order,
            Record& record);

  /// Returns what was found since the beginning, or the last `rewind`.
  const SpeCounts& counts() const noexcept { return counts_; }
  /// Malformed packets of the data that was closed last: their number, and the offset of the first
  /// in the recording.
  std::pair<std::uint64_t, std::uint64_t> malformed() const noexcept {
    return {malformed_, first_malformed_};
  }

 private:
  struct Task {
    std::int32_t pid = -1, tid = -1;
  };

  /// A CPU by version 2 of PERF_RECORD_AUXTRACE_INFO.
  struct Cpu {
    std::uint64_t midr = 0;
    std::uint64_t pmu_type = 0;
  };

  const Attribute* attribute_of(const AuxData& data,
                                const std::vector<Attribute>& attributes) const;
  struct Switch {
    std::uint64_t time = 0;
    Task task;
  };

  void set_task(Task task, std::uint64_t time);
  void switch_to(Task task, std::uint32_t cpu, std::uint64_t time);
  const Task* running_on(std::uint32_t cpu, std::uint64_t time);
  Task task_of(std::optional<std::uint64_t> time);
  /// Reads packets up to the end of a record into `record_` and `packets_`. Returns whether it is
  /// complete; nullopt at the end of the data.
  std::optional<bool> read_record();
  void write_sample(const Attribute& attribute, std::uint64_t midr, ByteOrder order);

  std::set<std::uint64_t> types_;  ///< numbers of the PMUs; empty: the recording has no SPE
  std::map<std::uint32_t, Cpu> cpus_;
  std::vector<AuxData> data_;
  std::optional<TimeConversion> clock_;
  std::uint64_t next_ = 0;  ///< position from which on records were not taken yet
  /// Processes of threads from a time on.
  std::map<std::pair<std::int32_t, std::uint64_t>, std::int32_t> processes_;
  std::map<std::uint32_t, std::vector<Switch>> switches_;  ///< by CPU
  std::size_t switch_count_ = 0;
  bool is_sorted_ = false;  ///< the switches of each CPU are, by their time
  bool has_room_ = true, is_told_ = false;
  std::uint64_t last_time_ = 0;

  std::size_t at_ = 0;
  std::optional<ByteStream> stream_;
  std::optional<std::int32_t> context_;  ///< thread of the last context packet in the data
  SpeRecord record_;
  std::vector<std::byte> packets_;  ///< of `record_`, without padding
  std::uint64_t record_offset_ = 0;
  std::uint64_t malformed_ = 0, first_malformed_ = 0;
  std::string body_;
  SpeCounts counts_;
};

/// Returns the fields that samples of an SPE event have, if perf recorded it with `sample_type`.
/// The records of the event other than samples keep their trailers.
std::uint64_t spe_sample_type(std::uint64_t sample_type);

}  // namespace skid::perfdata
