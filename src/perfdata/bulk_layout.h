// Whether and how samples can be counted straight from their bytes, without decoding each.
#pragma once

#include "src/perfdata/sample.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace skid::perfdata {

class IdTable;

/// Reads a number of a little-endian recording on a little-endian machine.
template <typename Number>
Number load(const std::byte* at) noexcept {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

/// A struct perf_event_header of a little-endian recording as one word.
struct HeaderWord {
  static constexpr std::size_t kSize = 8;  // bytes
  static constexpr std::uint64_t kMisc = std::uint64_t{0xffff} << 32;

  static HeaderWord at(const std::byte* record) noexcept { return {load<std::uint64_t>(record)}; }

  std::uint32_t type() const noexcept { return static_cast<std::uint32_t>(word); }
  std::uint16_t misc() const noexcept { return static_cast<std::uint16_t>(word >> 32); }
  std::size_t size() const noexcept { return word >> 48; }

  std::uint64_t word = 0;
};

/// Offsets of the counted fields in all samples of a recording, in bytes after the record header.
struct BulkLayout {
  /// Adopts the layout of samples. To be called before the first sample, and whenever attributes
  /// were added to the recording. `decoder` must outlive the layout.
  void use(const SampleDecoder& decoder);

  /// Returns the size in bytes of the samples at the start of `bytes`: whole records that follow
  /// each other and are long enough for the fields of any event. Reads only their headers.
  /// `last_time`: set to the time of the last sample, if samples have times.
  std::size_t samples_at_front(std::span<const std::byte> bytes,
                               std::uint64_t* last_time = nullptr) const noexcept;

  /// Whether bulk counting is possible: the recording is little-endian, and its events have these
  /// fields at the same offsets. In other recordings, which are rare, samples are decoded one by
  /// one.
  bool possible = false;
  bool has_times = false;
  std::uint16_t ip = 0, tid = 0, time = 0;
  std::uint16_t id = SampleLayout::kAbsent;  ///< kAbsent: all samples belong to the first event
  const IdTable* ids = nullptr;
  std::vector<std::uint16_t> period;  ///< by attribute; kAbsent: not recorded
  std::size_t record_size = 0;        ///< bytes from the header to the last field of any event

 private:
  bool is_uniform_ = true;
};

}  // namespace skid::perfdata
