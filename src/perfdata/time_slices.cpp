#include "src/perfdata/time_slices.h"

#include <algorithm>

namespace skid::perfdata {
namespace {

constexpr std::uint64_t kShortestSlice = 32;  // samples
/// A slice is at most this part of all samples before it. So there are about
/// 4096 · (1 + ln(samples / 2^17)) slices and those that were cut: 65535 are enough for 10^11
/// samples, and beyond that the last one takes what comes.
constexpr unsigned kPartOfAll = 12;  // log2
/// With more slices than these, only their length ends them.
constexpr std::size_t kMostWithCuts = 8192;

}  // namespace

std::uint64_t TimeSlices::samples_a_slice() const noexcept {
  return std::max(kShortestSlice, samples_ >> kPartOfAll);
}

void TimeSlices::note(std::uint64_t first, std::uint64_t last, std::uint64_t end,
                      std::uint64_t samples) {
  if (samples == 0) return;
  Times& slice = slices_.back();
  slice.first = std::min(slice.first, first);
  slice.last = std::max(slice.last, last);
  slice.end = end;
  samples_ += samples;
  samples_in_slice_ += samples;
  if (samples_in_slice_ >= samples_a_slice()) begin_slice();
}

void TimeSlices::cut() {
  if (samples_in_slice_ > 0 && slices_.size() < kMostWithCuts) begin_slice();
}

void TimeSlices::begin_slice() {
  if (current() == std::numeric_limits<Slice>::max()) return;
  slices_.emplace_back();
  samples_in_slice_ = 0;
}

void TimeSlices::seal() {
  for (std::size_t i = slices_.size() - 1; i > 0; --i) {
    slices_[i - 1].first = std::min(slices_[i - 1].first, slices_[i].first);
  }
  for (std::size_t i = 1; i < slices_.size(); ++i) {
    slices_[i].last = std::max(slices_[i].last, slices_[i - 1].last);
    slices_[i].end = std::max(slices_[i].end, slices_[i - 1].end);
  }
}

}  // namespace skid::perfdata
