// PERF_RECORD_SAMPLE decoded: one sample as a small value.
#pragma once

#include "src/perfdata/attribute.h"
#include "src/perfdata/record.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace skid::perfdata {

/// The fields of a sample that stand at fixed places. What the event does not record is 0.
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

/// The fields behind them, whose places depend on the lengths of the ones before.
struct SampleDetails {
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

/// Decodes the samples of a recording whose events may differ in layout.
class SampleDecoder {
 public:
  SampleDecoder() = default;
  SampleDecoder(const std::vector<Attribute>& attributes, ByteOrder order);

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

  /// Decodes what lies behind them; nullopt when a length in the record reaches past its end.
  std::optional<SampleDetails> details(const Record& record, const Sample& sample) const;

 private:
  /// Byte offsets of the fixed fields of one event's samples.
  struct Layout {
    static constexpr std::uint16_t kAbsent = 0xffff;
    std::uint16_t ip = kAbsent, tid = kAbsent, time = kAbsent, addr = kAbsent, id = kAbsent,
                  cpu = kAbsent, period = kAbsent;
    std::uint16_t size = 0;  ///< bytes of all fixed fields
  };
  static Layout layout_of(const Attribute& attribute);
  std::optional<std::uint32_t> attribute_of(const Record& record) const;

  std::vector<Attribute> attributes_;
  std::vector<Layout> layouts_;
  std::unordered_map<std::uint64_t, std::uint32_t> attribute_by_id_;
  std::uint16_t id_offset_ = Layout::kAbsent;  ///< where every sample has its id
  ByteOrder order_ = ByteOrder::little;
};

}  // namespace skid::perfdata
