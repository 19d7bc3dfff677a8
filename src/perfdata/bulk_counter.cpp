#include "src/perfdata/bulk_counter.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <tuple>

namespace skid::perfdata {
namespace {

constexpr std::size_t kRecordHeader = 8;  // struct perf_event_header
/// Samples after which the window is placed: the start-up of a program is not where it spends its
/// time.
constexpr std::uint64_t kBeforeWindow = 8000;
constexpr std::uint64_t kLargestWindow = std::uint64_t{64} << 10;  // addresses
constexpr std::uint64_t kLargestWindowCells = std::uint64_t{256} << 10;
/// A window pays where it holds at least one sample in so many.
constexpr std::uint64_t kWorthAWindow = 8;
constexpr std::uint64_t kFullCell = std::uint64_t{1} << 31;

template <typename Number>
Number load(const std::byte* at) noexcept {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

/// struct perf_event_header of a little-endian recording as one word.
struct HeaderWord {
  std::uint64_t word = 0;

  std::uint32_t type() const noexcept { return static_cast<std::uint32_t>(word); }
  std::uint16_t misc() const noexcept { return static_cast<std::uint16_t>(word >> 32); }
  std::size_t size() const noexcept { return word >> 48; }
};

/// Sightings that are counted at a time: their cache misses overlap.
constexpr std::size_t kPending = 64;
}  // namespace

BulkCounter::BulkCounter(SampleCounts& counts) : counts_(counts) {
  pending_.reserve(kPending);
}

void BulkCounter::use(const SampleDecoder& decoder) {
  const auto& layouts = decoder.layouts();
  // The planes of the window are by attribute: with more of them they would lie elsewhere.
  if (window_.size > 0 && layouts.size() != period_.size()) {
    empty_window();
    window_ = Window{};
  }
  ids_ = &decoder.ids();
  id_offset_ = decoder.id_offset();
  has_times_ = decoder.has_times();
  constexpr auto kAbsent = SampleLayout::kAbsent;
  // Only those that came since: a recording may make its events known one after the other.
  for (std::size_t index = period_.size(); index < layouts.size(); ++index) {
    const SampleLayout& layout = layouts[index];
    if (index == 0) {
      ip_ = layout.ip;
      tid_ = layout.tid;
      time_ = layout.time;
    }
    period_.push_back(layout.period);
    record_size_ = std::max<std::size_t>(record_size_, kRecordHeader + layout.size);
    // Events that can be told apart by id have these in front, so they differ in no recording.
    if (layout.ip != ip_ || layout.tid != tid_ || layout.time != time_) has_one_layout_ = false;
  }
  totals_.resize(layouts.size());
  // Big-endian recordings are rare and old; they are decoded one by one.
  possible_ = !layouts.empty() && has_one_layout_ && ip_ != kAbsent && tid_ != kAbsent &&
              (time_ != kAbsent) == has_times_ && decoder.order() == ByteOrder::little &&
              std::endian::native == std::endian::little;
}

std::size_t BulkCounter::count(std::span<const std::byte> bytes, std::uint64_t position) {
  if (!possible_) return 0;
  if (!window_was_chosen_ && counted_ >= kBeforeWindow) choose_window();
  if (window_.most_in_a_cell >= kFullCell) empty_window();
  // Many small slices in the beginning, where programs map most of what they map.
  const std::uint64_t most = counts_.slices().samples_a_slice() * record_size_;
  bytes = bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), most)));
  return id_offset_ == SampleLayout::kAbsent ? count_samples<false>(bytes, position)
                                             : count_samples<true>(bytes, position);
}

template <bool kManyEvents>
std::size_t BulkCounter::count_samples(std::span<const std::byte> bytes, std::uint64_t position) {
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  const std::uint16_t ip_offset = ip_, tid_offset = tid_, time_offset = time_;
  const bool has_times = has_times_;
  const std::uint64_t window_base = window_.base;
  const std::int32_t window_space = window_.space;

  // Damage can leave zeros where a header should be, which must not pass for the one before.
  if (bytes.size() < kRecordHeader || load<std::uint64_t>(at) == 0) return 0;
  HeaderWord header;  // of the sample before; the first one differs from it
  std::size_t stride = kRecordHeader;
  SampleKind kind;
  std::int32_t pid_mask = 0, pid_fill = 0;  // space_of without a branch
  std::uint64_t window_size = 0;            // 0 where no sample of this kind goes into the window
  std::uint32_t* plane = nullptr;           // of `kind` and the first event
  std::uint32_t attribute = 0;
  std::uint64_t period_offset = period_.front();
  std::uint64_t samples = 0, period_sum = 0;
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0;

  while (static_cast<std::size_t>(end - at) >= stride) {
    const HeaderWord word{load<std::uint64_t>(at)};
    if (word.word != header.word) {
      if (word.type() != PERF_RECORD_SAMPLE || word.size() < record_size_) break;
      if (word.misc() != header.misc() || header.word == 0) {
        kind = SampleKind::of_misc(word.misc());
        const bool kernel = kind.mode() == CpuMode::kernel;
        pid_mask = kernel ? 0 : -1;
        pid_fill = kernel ? kKernelSpace : 0;
        window_size = kind.mode() == window_.mode ? window_.size : 0;
        plane = window_.cells.data() + (kind.exact() ? window_size : 0);
      }
      header = word;
      stride = word.size();
      if (static_cast<std::size_t>(end - at) < stride) break;
    }
    const std::byte* const body = at + kRecordHeader;
    if constexpr (kManyEvents) {
      const auto found = ids_->find(load<std::uint64_t>(body + id_offset_));
      if (!found) break;
      attribute = *found;
      ++totals_[attribute].samples;
      period_offset = period_[attribute];
    }
    const auto ip = load<std::uint64_t>(body + ip_offset);
    const std::int32_t space = (load<std::int32_t>(body + tid_offset) & pid_mask) | pid_fill;
    const std::uint64_t time = has_times ? load<std::uint64_t>(body + time_offset)
                                         : position + static_cast<std::uint64_t>(at - bytes.data());
    first = std::min(first, time);
    last = std::max(last, time);
    if (period_offset != SampleLayout::kAbsent) {
      const auto period = load<std::uint64_t>(body + period_offset);
      if constexpr (kManyEvents) {
        totals_[attribute].period_sum += period;
      } else {
        period_sum += period;
      }
    }
    const std::uint64_t cell = ip - window_base;
    if (cell < window_size && space == window_space) {
      ++plane[std::uint64_t{attribute} * 2 * window_size + cell];
    } else {
      pending_.push_back({ip, space, attribute, kind});
      if (pending_.size() == kPending) flush_pending();
    }
    ++samples;
    at += stride;
  }
  if constexpr (!kManyEvents) {
    totals_.front().samples += samples;
    totals_.front().period_sum += period_sum;
  }
  flush_pending();
  const auto size = static_cast<std::size_t>(at - bytes.data());
  counts_.slices().note(first, last, position + size, samples);
  counted_ += samples;
  window_.most_in_a_cell += samples;
  return size;
}

void BulkCounter::count(const Sample& sample, std::uint64_t time, std::uint64_t end,
                        std::int32_t space) {
  auto& totals = totals_[sample.attribute];
  ++totals.samples;
  totals.period_sum += sample.period;
  const SampleKind kind(sample.mode, sample.exact);
  const Sighting sighting{sample.ip, space, sample.attribute, kind};
  counts_.add(std::span(&sighting, 1), counts_.slices().current());
  counts_.slices().note(time, time, end, 1);
  ++counted_;
}

void BulkCounter::flush_pending() {
  counts_.add(pending_, counts_.slices().current());
  pending_.clear();
}

void BulkCounter::choose_window() {
  window_was_chosen_ = true;
  const std::uint64_t planes = period_.size() * 2;
  const std::uint64_t size = std::min(kLargestWindow, kLargestWindowCells / planes);
  if (size == 0) return;

  std::vector<SampleCount> places;
  counts_.for_each([&](std::size_t, const SampleCount& count) { places.push_back(count); });
  const auto order = [](const SampleCount& place) {
    return std::tuple(place.of.space, place.of.kind.mode(), place.of.ip);
  };
  std::sort(places.begin(), places.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  // The stretch of `size` addresses with most samples: slide over all that end at a place.
  std::uint64_t inside = 0, most = 0;
  std::size_t begin = 0;
  for (std::size_t last = 0; last < places.size(); ++last) {
    const Sighting& newest = places[last].of;
    inside += places[last].samples;
    while (places[begin].of.space != newest.space ||
           places[begin].of.kind.mode() != newest.kind.mode() ||
           newest.ip - places[begin].of.ip >= size) {
      inside -= places[begin++].samples;
    }
    if (inside <= most) continue;
    most = inside;
    window_.base = places[begin].of.ip;
    window_.space = newest.space;
    window_.mode = newest.kind.mode();
  }
  if (most * kWorthAWindow < counted_) return;
  window_.size = size;
  window_.since = counts_.slices().current();
  window_.cells.assign(planes * size, 0);
}

void BulkCounter::empty_window() {
  for (std::size_t at = 0; at < window_.cells.size(); ++at) {
    const std::uint32_t samples = window_.cells[at];
    if (samples == 0) continue;
    const std::uint64_t plane = at / window_.size;
    counts_.add_since(
        window_.since,
        {window_.base + at % window_.size, window_.space, static_cast<std::uint32_t>(plane / 2),
         SampleKind(window_.mode, plane % 2 == 1)},
        samples);
    window_.cells[at] = 0;
  }
  window_.most_in_a_cell = 0;
  window_.since = counts_.slices().current();
}

void BulkCounter::finish() {
  if (window_.size > 0) empty_window();
  window_ = Window{};
}

}  // namespace skid::perfdata
