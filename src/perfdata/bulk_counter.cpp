#include "src/perfdata/bulk_counter.h"

#include "src/perfdata/header_word.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace skid::perfdata {
namespace {

/// Samples after which the window is placed: the start-up of a program is not where it spends its
/// time.
constexpr std::uint64_t kBeforeWindow = 8000;
constexpr std::uint64_t kLargestWindow = std::uint64_t{64} << 10;  // addresses
constexpr std::uint64_t kLargestWindowCells = std::uint64_t{256} << 10;
/// A window is used if it covers at least one sample in this many.
constexpr std::uint64_t kWorthAWindow = 8;
constexpr std::uint64_t kFullCell = std::uint64_t{1} << 31;

/// Sample keys that are counted at a time: their cache misses overlap.
constexpr std::size_t kPending = 64;
}  // namespace

BulkCounter::BulkCounter(const BulkLayout& layout, SampleCounts& counts)
    : layout_(layout), counts_(counts) {
  pending_.reserve(kPending);
}

void BulkCounter::follow_layout() {
  // The planes of the window are indexed by attribute, and a new attribute would move them.
  if (window_.size > 0) {
    empty_window(slice_);
    window_ = Window{};
  }
  totals_.resize(layout_.period.size());
}

void BulkCounter::count(const SampleRun& run) {
  if (totals_.size() != layout_.period.size()) follow_layout();
  if (!window_was_chosen_ && counted_ >= kBeforeWindow) choose_window(run.slice);
  if (window_.most_in_a_cell >= kFullCell) empty_window(run.slice);
  slice_ = run.slice;
  layout_.id == SampleLayout::kAbsent ? count_samples<false>(run) : count_samples<true>(run);
}

template <bool kManyEvents>
void BulkCounter::count_samples(const SampleRun& run) {
  const std::byte* at = run.bytes.data();
  const std::byte* const end = at + run.bytes.size();
  // Distance from the record of a field at `offset` after its header.
  const auto of_record = [](std::uint16_t offset) { return HeaderWord::kSize + offset; };
  const std::size_t ip_at = of_record(layout_.ip), tid_at = of_record(layout_.tid),
                    time_at = of_record(layout_.time), id_at = of_record(layout_.id);
  const bool has_times = layout_.has_times;
  const std::uint64_t window_base = window_.base;
  const std::int32_t window_address_space = window_.address_space;

  std::uint64_t header = 0;  // of the sample before; no sample's is 0
  std::size_t stride = 0;
  SampleKind kind;
  std::int32_t pid_mask = 0, pid_fill = 0;  // address_space_of without a branch
  std::uint64_t window_size = 0;            // 0 where no sample of this kind goes into the window
  std::uint32_t* plane = nullptr;           // of `kind` and the first event
  std::uint32_t attribute = 0;
  std::uint16_t period = layout_.period.front();
  std::uint64_t samples = 0, period_sum = 0;
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0;

  for (; at != end; at += stride) {
    const HeaderWord word = HeaderWord::at(at);
    if (word.word != header) {
      kind = SampleKind::of_misc(word.misc());
      const bool kernel = kind.mode() == CpuMode::kernel;
      pid_mask = kernel ? 0 : -1;
      pid_fill = kernel ? kKernelAddressSpace : 0;
      window_size = kind.mode() == window_.mode ? window_.size : 0;
      plane = window_.cells.data() + (kind.exact() ? window_size : 0);
      header = word.word;
      stride = word.size();
    }
    if constexpr (kManyEvents) {
      const auto found = layout_.ids->find(load<std::uint64_t>(at + id_at));
      if (!found) {
        ++unknown_ids_;
        continue;
      }
      attribute = *found;
      ++totals_[attribute].samples;
      period = layout_.period[attribute];
    }
    const auto ip = load<std::uint64_t>(at + ip_at);
    const std::int32_t address_space = (load<std::int32_t>(at + tid_at) & pid_mask) | pid_fill;
    const std::uint64_t time =
        has_times ? load<std::uint64_t>(at + time_at)
                  : run.position + static_cast<std::uint64_t>(at - run.bytes.data());
    first = std::min(first, time);
    last = std::max(last, time);
    if (period != SampleLayout::kAbsent) {
      const auto events = load<std::uint64_t>(at + of_record(period));
      if constexpr (kManyEvents) {
        totals_[attribute].period_sum += events;
      } else {
        period_sum += events;
      }
    }
    const std::uint64_t cell = ip - window_base;
    if (cell < window_size && address_space == window_address_space) {
      ++plane[std::uint64_t{attribute} * 2 * window_size + cell];
    } else {
      pending_.push_back({ip, address_space, attribute, kind});
      if (pending_.size() == kPending) flush_pending(run.slice);
    }
    ++samples;
  }
  if constexpr (!kManyEvents) {
    totals_.front().samples += samples;
    totals_.front().period_sum += period_sum;
  }
  flush_pending(run.slice);
  counts_.note(run.slice, first, last, run.position + run.bytes.size());
  counted_ += samples;
  window_.most_in_a_cell += samples;
}

void BulkCounter::count(const Sample& sample, std::uint64_t time, std::uint64_t end,
                        std::int32_t address_space, Slice slice) {
  if (totals_.size() != layout_.period.size()) follow_layout();
  auto& totals = totals_[sample.attribute];
  ++totals.samples;
  totals.period_sum += sample.period;
  const SampleKind kind(sample.mode, sample.exact);
  const SampleKey key{sample.ip, address_space, sample.attribute, kind};
  counts_.add(std::span(&key, 1), slice);
  counts_.note(slice, time, time, end);
  slice_ = slice;
  ++counted_;
}

void BulkCounter::flush_pending(Slice slice) {
  counts_.add(pending_, slice);
  pending_.clear();
}

void BulkCounter::choose_window(Slice slice) {
  window_was_chosen_ = true;
  const std::uint64_t planes = totals_.size() * 2;
  const std::uint64_t size = std::min(kLargestWindow, kLargestWindowCells / planes);
  if (size == 0) return;

  std::vector<SampleCount> places;
  counts_.for_each([&](std::size_t, const SampleCount& count) { places.push_back(count); });
  const auto order = [](const SampleCount& place) {
    return std::tuple(place.of.address_space, place.of.kind.mode(), place.of.ip);
  };
  std::sort(places.begin(), places.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  // The range of `size` addresses with most samples: slide over all that end at a place.
  std::uint64_t inside = 0, most = 0;
  std::size_t begin = 0;
  for (std::size_t last = 0; last < places.size(); ++last) {
    const SampleKey& newest = places[last].of;
    inside += places[last].samples;
    while (places[begin].of.address_space != newest.address_space ||
           places[begin].of.kind.mode() != newest.kind.mode() ||
           newest.ip - places[begin].of.ip >= size) {
      inside -= places[begin++].samples;
    }
    if (inside <= most) continue;
    most = inside;
    window_.base = places[begin].of.ip;
    window_.address_space = newest.address_space;
    window_.mode = newest.kind.mode();
  }
  if (most * kWorthAWindow < counted_) return;
  window_.size = size;
  window_.since = slice;
  window_.cells.assign(planes * size, 0);
}

void BulkCounter::empty_window(Slice slice) {
  for (std::size_t at = 0; at < window_.cells.size(); ++at) {
    const std::uint32_t samples = window_.cells[at];
    if (samples == 0) continue;
    const std::uint64_t plane = at / window_.size;
    counts_.add_between(
        window_.since, slice_,
        {window_.base + at % window_.size, window_.address_space,
         static_cast<std::uint32_t>(plane / 2), SampleKind(window_.mode, plane % 2 == 1)},
        samples);
    window_.cells[at] = 0;
  }
  window_.most_in_a_cell = 0;
  window_.since = slice;
}

void BulkCounter::merge(BulkCounter& other) {
  other.finish();
  if (totals_.size() < other.totals_.size()) follow_layout();
  for (std::size_t index = 0; index < other.totals_.size(); ++index) {
    totals_[index].samples += other.totals_[index].samples;
    totals_[index].period_sum += other.totals_[index].period_sum;
  }
  other.totals_.assign(other.totals_.size(), {});
  unknown_ids_ += std::exchange(other.unknown_ids_, 0);
  counts_.merge(other.counts_);
}

void BulkCounter::finish() {
  if (window_.size > 0) empty_window(slice_);
}

}  // namespace skid::perfdata
