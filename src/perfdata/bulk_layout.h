// Whether and how the samples of a recording can be counted without decoding each.
#pragma once

#include "src/perfdata/sample.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace skid::perfdata {

/// Offsets of the counted fields in all samples of a recording, after the record header.
struct BulkLayout {
  /// Adopts the layout of samples. Call it before the first sample and whenever attributes were
  /// added to the recording. `decoder` must outlive the layout.
  void use(const SampleDecoder& decoder);

  /// Whether bulk counting is possible: in little-endian recordings whose events have these fields
  /// at the same offsets. Others are rare, and decoded one by one.
  bool possible = false;
  bool has_times = false;
  std::uint16_t ip = 0, tid = 0, time = 0;
  std::uint16_t id = SampleLayout::kAbsent;  ///< kAbsent: all samples belong to the first event
  const IdTable* ids = nullptr;
  std::vector<std::uint16_t> period;  ///< by attribute; kAbsent where it records none
  std::size_t record_size =
      0;  ///< bytes up to the last of these fields of any event, with the header

 private:
  bool is_uniform_ = true;
};

}  // namespace skid::perfdata
