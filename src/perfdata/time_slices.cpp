#include "src/perfdata/time_slices.h"

#include <algorithm>

namespace skid::perfdata {
namespace {

constexpr std::uint64_t kShortestSlice = 32;  // samples
/// A slice is at most this share of all samples before it. There are about 4096 · (1 + ln(samples /
/// 2^17)) slices, plus split ones: 65535 suffice for 10^11 samples; the last one contains all later
/// samples.
constexpr unsigned kPartOfAll = 12;  // log2
/// With more slices than these, only their length ends them.
constexpr Slice kMostWithCuts = 8192;

}  // namespace

std::uint64_t SliceNumbers::samples_a_slice() const noexcept {
  return std::max(kShortestSlice, samples_ >> kPartOfAll);
}

std::uint64_t SliceNumbers::room() const noexcept {
  const std::uint64_t most = samples_a_slice();
  return most > samples_in_slice_ ? most - samples_in_slice_ : 1;
}

void SliceNumbers::add(std::uint64_t samples) noexcept {
  samples_ += samples;
  samples_in_slice_ += samples;
  if (samples_in_slice_ >= samples_a_slice()) begin_slice();
}

void SliceNumbers::cut() noexcept {
  if (samples_in_slice_ > 0 && current_ + 1 < kMostWithCuts) begin_slice();
}

void SliceNumbers::begin_slice() noexcept {
  if (current_ == std::numeric_limits<Slice>::max()) return;
  ++current_;
  samples_in_slice_ = 0;
}

void TimeSlices::note(Slice slice, std::uint64_t first, std::uint64_t last, std::uint64_t end) {
  if (slice >= slices_.size()) slices_.resize(std::size_t{slice} + 1);
  Times& times = slices_[slice];
  times.first = std::min(times.first, first);
  times.last = std::max(times.last, last);
  times.end = std::max(times.end, end);
}

void TimeSlices::merge(const TimeSlices& other) {
  for (std::size_t i = 0; i < other.slices_.size(); ++i) {
    const Times& times = other.slices_[i];
    note(static_cast<Slice>(i), times.first, times.last, times.end);
  }
}

void TimeSlices::seal() {
  for (std::size_t i = slices_.size(); i-- > 1;) {
    slices_[i - 1].first = std::min(slices_[i - 1].first, slices_[i].first);
  }
  for (std::size_t i = 1; i < slices_.size(); ++i) {
    slices_[i].last = std::max(slices_[i].last, slices_[i - 1].last);
    slices_[i].end = std::max(slices_[i].end, slices_[i - 1].end);
  }
}

}  // namespace skid::perfdata
