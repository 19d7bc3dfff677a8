// Whether and how the samples of a recording can be counted without decoding each.
#pragma once

#include "src/perfdata/sample.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace skid::perfdata {

/// Where the fields that matter stand in all samples of a recording, behind the record header.
struct BulkLayout {
  /// Takes over how samples are laid out. To be called before the first sample and whenever the
  /// recording's attributes changed, which may only have become more. `decoder` must outlive the
  /// layout.
  void use(const SampleDecoder& decoder);

  /// Whether that can be done at all: in little-endian recordings whose events have these fields at
  /// the same places. Others are rare, and decoded one by one.
  bool possible = false;
  bool has_times = false;
  std::uint16_t ip = 0, tid = 0, time = 0;
  std::uint16_t id = SampleLayout::kAbsent;  ///< kAbsent: all samples belong to the first event
  const IdTable* ids = nullptr;
  std::vector<std::uint16_t> period;  ///< by attribute; kAbsent where it records none
  std::size_t record_size = 0;        ///< bytes that hold the header and these fields of any event

 private:
  bool is_uniform_ = true;
};

}  // namespace skid::perfdata
