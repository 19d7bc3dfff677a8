// PERF_RECORD_SAMPLE decoded: one sample as a small value.
#pragma once

#include "src/perfdata/attribute.h"
#include "src/perfdata/id_table.h"
#include "src/perfdata/record.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace skid::perfdata {

/// Mode and exactness of a sample in one number, as in one field of its record.
class SampleKind {
 public:
  static constexpr std::uint32_t kExact = 8;

  constexpr SampleKind() noexcept = default;
  constexpr SampleKind(CpuMode mode, bool exact) noexcept
      : bits_(static_cast<std::uint32_t>(mode) | (exact ? kExact : 0)) {}
  static constexpr SampleKind of_misc(std::uint16_t misc) noexcept {
    return {static_cast<CpuMode>(misc & PERF_RECORD_MISC_CPUMODE_MASK),
            (misc & PERF_RECORD_MISC_EXACT_IP) != 0};
  }

  constexpr CpuMode mode() const noexcept { return static_cast<CpuMode>(bits_ & (kExact - 1)); }
  constexpr bool exact() const noexcept { return (bits_ & kExact) != 0; }
  constexpr std::uint32_t bits() const noexcept { return bits_; }

 private:
  std::uint32_t bits_ = 0;
};

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
  std::uint64_t period = 0;
};

/// PERF_SAMPLE_READ of a sample's own event: its counter when the sample was taken.
struct CounterValue {
  std::uint64_t id = 0;                              ///< of the counter; 0 where there is none
  std::uint64_t value = 0;                           ///< events
  std::uint64_t time_enabled = 0, time_running = 0;  ///< ns; 0 where the event records neither
  std::uint64_t lost = 0;  ///< records of the event lost so far; 0 where it does not record it
};

/// The following fields, whose offsets depend on the lengths of the preceding ones.
struct SampleDetails {
  /// nullopt: not recorded, or not among the values of the event's group.
  std::optional<CounterValue> counter;
  std::span<const std::byte> callchain;     ///< u64 each, in the recording's byte order
  std::span<const std::byte> raw;           ///< tracepoint payload
  std::span<const std::byte> branch_stack;  ///< 24 bytes an entry
  std::optional<std::uint64_t> branch_hw_index;
  std::span<const std::byte> user_registers, interrupt_registers;  ///< u64 each
  std::span<const std::byte> user_stack;
  std::uint64_t weight = 0;  ///< WEIGHT, or the three parts of WEIGHT_STRUCT
  std::uint64_t data_source = 0;
  std::uint64_t transaction = 0;
  std::uint64_t physical_address = 0;
  std::uint64_t cgroup = 0;
  std::uint64_t data_page_size = 0, code_page_size = 0;
  std::span<const std::byte> aux;
};

/// Byte offsets, after the record header, of the fields at fixed offsets in one event's samples.
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

  /// Decodes the following fields; nullopt if a length in the record extends past its end.
  std::optional<SampleDetails> details(const Record& record, const Sample& sample) const;

  /// Time of a record that is not a sample: ns if any event records times, else its position
  /// in the recording. Records without a time in a recording that has them come before everything,
  /// as perf delivers them.
  std::uint64_t time_of(const Record& record) const;
  /// The same for a sample.
  std::uint64_t time_of(const Record& record, const Sample& sample) const noexcept {
    return has_times_ ? sample.time : record.position;
  }

  /// How samples are identified, for bulk decoding.
  const std::vector<SampleLayout>& layouts() const noexcept { return layouts_; }
  const IdTable& ids() const noexcept { return ids_; }
  /// Where every sample has its id; kAbsent when all samples belong to the first event.
  std::uint16_t id_offset() const noexcept { return id_offset_; }
  bool has_times() const noexcept { return has_times_; }
  ByteOrder order() const noexcept { return order_; }

 private:
  std::optional<std::uint32_t> attribute_of(const Record& record) const;

  std::vector<Attribute> attributes_;  ///< without ids and names
  std::vector<SampleLayout> layouts_;
  IdTable ids_;
  std::uint16_t id_offset_ = SampleLayout::kAbsent;
  bool has_times_ = false;
  ByteOrder order_ = ByteOrder::little;
};

}  // namespace skid::perfdata
