#include "src/perfdata/sample_counts.h"

#include <algorithm>

namespace skid::perfdata {
namespace {

constexpr std::size_t kFirstSlots = 1024;  // a power of two, as every size after it

/// Mixes the key so that neighbouring addresses spread over the table (the finaliser of
/// MurmurHash3, by Austin Appleby).
std::size_t hash(const SampleKey& key) noexcept {
  std::uint64_t mixed = key.ip ^ (std::uint64_t{static_cast<std::uint32_t>(key.pid)} << 32) ^
                        (std::uint64_t{key.attribute} << 20) ^
                        (static_cast<std::uint64_t>(key.mode) << 60) ^
                        (std::uint64_t{key.exact} << 59);
  mixed ^= mixed >> 33;
  mixed *= 0xff51afd7ed558ccdULL;
  mixed ^= mixed >> 33;
  mixed *= 0xc4ceb9fe1a85ec53ULL;
  mixed ^= mixed >> 33;
  return static_cast<std::size_t>(mixed);
}

}  // namespace

std::size_t SampleCounts::find_slot(const SampleKey& key) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash(key) & mask;
  while (slots_[slot] != 0 && !(entries_[slots_[slot] - 1].key == key)) slot = (slot + 1) & mask;
  return slot;
}

void SampleCounts::grow() {
  const std::size_t size = slots_.empty() ? kFirstSlots : slots_.size() * 2;
  slots_.assign(size, 0);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    slots_[find_slot(entries_[i].key)] = static_cast<std::uint32_t>(i + 1);
  }
}

void SampleCounts::add(const Sample& sample, std::uint64_t time) {
  const SampleKey key(sample);
  if (newest_ >= entries_.size() || !(entries_[newest_].key == key)) {
    if (entries_.size() * 2 >= slots_.size()) grow();
    const std::size_t slot = find_slot(key);
    if (slots_[slot] == 0) {
      entries_.push_back({key, 0, 0, time, time});
      slots_[slot] = static_cast<std::uint32_t>(entries_.size());
    }
    newest_ = slots_[slot] - 1;
  }
  SampleCount& entry = entries_[newest_];
  ++entry.samples;
  entry.period_sum += sample.period;
  entry.first = std::min(entry.first, time);
  entry.last = std::max(entry.last, time);
}

}  // namespace skid::perfdata
