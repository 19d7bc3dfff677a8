// PERF_RECORD_SAMPLE decoded: its fields at fixed offsets as a small value, and those that follow.
#pragma once

#include "src/perfdata/attribute.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/counter_values.h"
#include "src/perfdata/format.h"
#include "src/perfdata/id_table.h"
#include "src/perfdata/record.h"
#include "src/support/byte_order.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace skid::perfdata {

/// The fields of a sample at fixed offsets. Fields that the event does not record are 0.
struct Sample {
  std::uint32_t attribute = 0;  ///< index of its event in the recording
  CpuMode mode = CpuMode::unknown;
  bool exact = false;  ///< PERF_RECORD_MISC_EXACT_IP
  std::uint64_t ip = 0;
  std::int32_t pid = 0, tid = 0;
  std::uint64_t time = 0;  ///< ns
  std::uint64_t addr = 0;
  std::uint64_t id = 0;
  std::uint32_t cpu = 0;
  std::uint64_t period = 0;  ///< the event's where samples do not record it; 0 with a frequency
};

/// The used fields after the fixed ones. Their offsets depend on the lengths of the preceding
/// fields.
struct SampleDetails {
  std::span<const std::byte> counters;  ///< PERF_SAMPLE_READ, for read_counters()
  /// The counter of the event; nullopt: not recorded, or not among the values of the event's group.
  std::optional<CounterValue> counter;
  std::span<const std::byte> callchain;     ///< u64 each, in the byte order of the recording
  std::span<const std::byte> raw;           ///< payload of a tracepoint
  std::span<const std::byte> branch_stack;  ///< 24 bytes per entry (branch_entry)
  std::span<const std::byte> user_registers, interrupt_registers;  ///< u64 each
  std::uint64_t weight = 0;       ///< PERF_SAMPLE_WEIGHT, or all parts of PERF_SAMPLE_WEIGHT_STRUCT
  std::uint64_t data_source = 0;  ///< perf_mem_data_src
  std::uint64_t physical_address = 0;
};

/// Offsets in bytes, after the record header, of the fixed fields in the samples of one event.
struct SampleLayout {
  static constexpr std::uint16_t kAbsent = 0xffff;
  std::uint16_t ip = kAbsent, tid = kAbsent, time = kAbsent, addr = kAbsent, id = kAbsent,
                cpu = kAbsent, period = kAbsent;
  std::uint16_t size = 0;  ///< bytes of all fixed fields

  explicit SampleLayout(const Attribute& attribute);
};

/// Decodes the samples of a recording whose events may differ in layout.
class SampleDecoder {
 public:
  SampleDecoder() = default;
  SampleDecoder(std::span<const Attribute> attributes, ByteOrder order);

  /// Adds an event after the existing ones.
  void add(const Attribute& attribute);

  enum class Problem {
    none,
    unknown_id,  ///< the id belongs to no event
    too_short,   ///< the record ends inside its fields
  };
  struct Decoded {
    Sample sample;
    Problem problem = Problem::none;
  };

  /// Decodes the fixed fields of a PERF_RECORD_SAMPLE.
  Decoded decode(const Record& record) const;

  /// Decodes the fields after the fixed ones. nullopt if a length in the record extends past its
  /// end.
  std::optional<SampleDetails> details(const Record& record, const Sample& sample) const;

  /// Reads the trailer of a record that is not a sample, by the event that it names. All fields are
  /// nullopt before there is an event.
  SampleId sample_id(const Record& record) const;
  /// Returns the time of a record that is not a sample: ns if any event records times, else its
  /// position in the recording. In a recording with times, records without one have time 0 and so
  /// precede all others, as in perf.
  std::uint64_t time_of(const Record& record) const;
  /// Returns the time of a sample: ns if any event records times, else the position of its record.
  std::uint64_t time_of(const Record& record, const Sample& sample) const noexcept {
    return has_times_ ? sample.time : record.position;
  }

  /// Returns the layouts of samples, by index of their event.
  const std::vector<SampleLayout>& layouts() const noexcept { return layouts_; }
  const IdTable& ids() const noexcept { return ids_; }
  /// Returns the offset of the id in all samples; kAbsent if all samples belong to the first event.
  std::uint16_t id_offset() const noexcept { return id_offset_; }
  bool has_times() const noexcept { return has_times_; }
  ByteOrder order() const noexcept { return order_; }

 private:
  /// Returns the index of the event of a sample; nullopt if its id belongs to no event.
  std::optional<std::uint32_t> attribute_of(const Record& record) const;

  std::vector<Attribute> attributes_;  ///< their ids and names are empty
  std::vector<SampleLayout> layouts_;
  IdTable ids_;
  std::uint16_t id_offset_ = SampleLayout::kAbsent;
  bool has_times_ = false;
  ByteOrder order_ = ByteOrder::little;
};

}  // namespace skid::perfdata
