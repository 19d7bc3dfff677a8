// PERF_RECORD_SAMPLE decoded: one sample as a small value, or whether and how samples can be
// counted without decoding each.
#pragma once

#include "src/perfdata/attribute.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/format.h"
#include "src/perfdata/id_table.h"
#include "src/perfdata/record.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <linux/perf_event.h>

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

/// The following fields that are used, whose offsets depend on the lengths of the preceding ones.
struct SampleDetails {
  /// nullopt: not recorded, or not among the values of the event's group.
  std::optional<CounterValue> counter;
  std::span<const std::byte> callchain;     ///< u64 each, in the recording's byte order
  std::span<const std::byte> raw;           ///< tracepoint payload
  std::span<const std::byte> branch_stack;  ///< 24 bytes an entry
  std::span<const std::byte> user_registers, interrupt_registers;  ///< u64 each
  std::uint64_t data_source = 0;
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

/// Bytes of an entry of PERF_SAMPLE_BRANCH_STACK, struct perf_branch_entry of
/// include/uapi/linux/perf_event.h: from, to, and a word of flags.
inline constexpr std::size_t kBranchEntry = 24;

/// A taken branch, or another transfer of control.
struct BranchEntry {
  std::uint64_t from = 0, to = 0;  ///< 0: not recorded
  bool mispredicted = false, predicted = false;
  bool aborted = false;      ///< of a transaction
  unsigned type = 0;         ///< PERF_BR_*; 0: unknown, or not recorded
  unsigned speculation = 0;  ///< PERF_BR_SPEC_*
};

/// The entry number `index` of a stack (SampleDetails::branch_stack), which must have it; the
/// newest is number 0.
inline BranchEntry branch_entry(std::span<const std::byte> stack, std::size_t index,
                                ByteOrder order) {
  ByteReader reader(stack.subspan(index * kBranchEntry, kBranchEntry), order);
  BranchEntry entry;
  entry.from = reader.u64();
  entry.to = reader.u64();
  const std::uint64_t word = reader.u64();
  entry.mispredicted = bit_field(word, order, 0) != 0;
  entry.predicted = bit_field(word, order, 1) != 0;
  entry.aborted = bit_field(word, order, 3) != 0;
  entry.type = bit_field(word, order, 20, 4);
  entry.speculation = bit_field(word, order, 24, 2);
  return entry;
}

/// A number of a little-endian recording, read on a little-endian machine.
template <typename Number>
Number load(const std::byte* at) noexcept {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

/// struct perf_event_header of a little-endian recording.
struct HeaderWord {
  static constexpr std::size_t kSize = 8;  // bytes
  static constexpr std::uint64_t kMisc = std::uint64_t{0xffff} << 32;

  static HeaderWord at(const std::byte* record) noexcept { return {load<std::uint64_t>(record)}; }

  std::uint32_t type() const noexcept { return static_cast<std::uint32_t>(word); }
  std::uint16_t misc() const noexcept { return static_cast<std::uint16_t>(word >> 32); }
  std::size_t size() const noexcept { return word >> 48; }

  std::uint64_t word = 0;
};

/// Offsets of the counted fields in all samples of a recording, after the record header.
struct BulkLayout {
  /// Adopts the layout of samples. Call it before the first sample and whenever attributes were
  /// added to the recording. `decoder` must outlive the layout.
  void use(const SampleDecoder& decoder);

  /// The size in bytes of the samples at the front of `bytes`: whole records that follow each other
  /// and are long enough for the fields of any event. Only headers are looked at. `last_time`: set
  /// to the time of the last of them, if they have times.
  std::size_t samples_at_front(std::span<const std::byte> bytes,
                               std::uint64_t* last_time = nullptr) const noexcept;

  /// Whether bulk counting is possible: in little-endian recordings whose events have these fields
  /// at the same offsets. Others are rare, and decoded one by one.
  bool possible = false;
  bool has_times = false;
  std::uint16_t ip = 0, tid = 0, time = 0;
  std::uint16_t id = SampleLayout::kAbsent;  ///< kAbsent: all samples belong to the first event
  const IdTable* ids = nullptr;
  std::vector<std::uint16_t> period;  ///< by attribute; kAbsent where it records none
  std::size_t record_size = 0;        ///< bytes with the header up to the last field of any event

 private:
  bool is_uniform_ = true;
};

}  // namespace skid::perfdata
