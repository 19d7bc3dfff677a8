// Samples counted per distinct (event, process, address, mode, exactness), not kept one by one.
#pragma once

#include "src/perfdata/sample.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace skid::perfdata {

/// What tells one counted place from another.
struct SampleKey {
  std::uint64_t ip = 0;
  std::int32_t pid = 0;
  std::uint32_t attribute = 0;
  CpuMode mode = CpuMode::unknown;
  bool exact = false;

  SampleKey() = default;
  explicit SampleKey(const Sample& sample)
      : ip(sample.ip),
        pid(sample.pid),
        attribute(sample.attribute),
        mode(sample.mode),
        exact(sample.exact) {}

  friend bool operator==(const SampleKey&, const SampleKey&) = default;
};

/// How often a key was sampled, and when first and last (in the order of time, not of the file).
struct SampleCount {
  SampleKey key;
  std::uint64_t samples = 0;
  std::uint64_t period_sum = 0;  ///< events behind the samples, where they carry their period
  std::uint64_t first = 0, last = 0;
};

/// A hash table with linear probing: profiles come back to few addresses, and a node per address
/// would cost more than the count. Grows with the distinct keys only.
class SampleCounts {
 public:
  /// `time`: ns, or the record's offset in recordings without times.
  void add(const Sample& sample, std::uint64_t time);

  /// In the order in which the keys were first added.
  const std::vector<SampleCount>& entries() const noexcept { return entries_; }

 private:
  std::size_t find_slot(const SampleKey& key) const noexcept;
  void grow();

  std::vector<SampleCount> entries_;
  std::vector<std::uint32_t> slots_;  ///< index + 1 into entries_, 0 for a free slot
  std::size_t newest_ = 0;            ///< entry that the last sample counted for
};

}  // namespace skid::perfdata
