// How samples are counted without a value for each: recordings have millions of them.
//
// A sample is a few numbers at fixed offsets of its record (perfdata::BulkLayout): pid, ip, time
// and, if there are several events, the id of its event. They become the key of one counter:
//
//   mode, pid, ip, time   RegionCache::find       file, offset
//   file, offset >> 17    the number of a block of 128 KiB, given to it at its first sample
//
//   key   63          32 31           15   14   13        0
//        |    block     | offset in it | exact | attribute |
//
// Example: a program is mapped at 0x401000 from its offset 0x1000 on, so that Region::distance is
// -0x400000. A sample of attribute 2 with PERF_RECORD_MISC_EXACT_IP at 0x401136 is at offset 0x1136
// in block 0 of the file. If that block was the third to get a number, the key is
// 3 << 32 | 0x1136 << 15 | 1 << 14 | 2 = 0x3089b4002.
//
// The counters are a hash table with open addressing, 16 bytes for each slot; the next one is tried
// where a slot is taken. A slot is often not in a cache of the CPU. Keys are therefore gathered in
// a Batch, and their slots prefetched, before any of them is counted. Samples that are not at fixed
// offsets, and all samples if a filter selects, are decoded one by one (count_one).
//
// docs/reading.md, "Speed and memory", describes it for users.
#include "src/locate/place_counter.h"

#include "src/locate/file_block.h"
#include "src/locate/sample_filter.h"
#include "src/perfdata/bulk_layout.h"
#include "src/perfdata/format.h"
#include "src/perfdata/id_table.h"
#include "src/perfdata/record.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/sample_kind.h"
#include "src/symbols/region.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <linux/perf_event.h>

namespace skid::locate {

using perfdata::CpuMode;
using perfdata::HeaderWord;
using perfdata::Record;
using perfdata::SampleDecoder;
using perfdata::SampleKind;
using perfdata::SampleLayout;

namespace {

constexpr unsigned kFirstBits = 10;  ///< log2 of the number of slots at first

/// Returns LocatedSamples::ip where nothing is mapped.
constexpr std::uint64_t common_address(std::uint64_t ip) noexcept {
  if (is_of_vsyscall(ip) || is_near_zero(ip)) return ip;
  const std::uint64_t half = ip & std::uint64_t{1} << 63;
  return half != 0 ? half : std::uint64_t{1} << kBlockBits;
}

}  // namespace

PlaceCounter::PlaceCounter(const perfdata::BulkLayout& layout, const SampleDecoder& decoder,
                           const symbols::AddressSpaces& spaces, bool keeps_addresses,
                           const SampleFilter* filter, Filtered* filtered)
    : layout_(layout),
      decoder_(decoder),
      keeps_addresses_(keeps_addresses),
      filter_(filter),
      filtered_(filtered),
      regions_(spaces),
      blocks_(1),
      counts_(std::size_t{1} << kFirstBits),
      shift_(64 - kFirstBits),
      factor_(random_seed() | 1) {}

/// Returns the key of the counter of a sample. `event`: the bits of its attribute and exactness.
[[gnu::always_inline]] inline std::uint64_t PlaceCounter::key_of(AddressSpace space,
                                                                 std::uint64_t ip,
                                                                 std::uint64_t time,
                                                                 std::uint64_t event) {
  RegionCache::Place& place = regions_.find(space, ip, time);
  if (place.counters == 0) add_counters(place, ip);
  const std::uint64_t offset = (ip + place.distance) & place.mask;
  return place.counters | offset << Count::kOffsetShift | event;
}

/// Returns the slot at which the search for a key begins.
inline std::size_t PlaceCounter::slot_of(std::uint64_t key) const noexcept {
  return key * factor_ >> shift_;
}

/// Returns the counter of a key; a new one if there is none yet.
LocatedCounts::Count& PlaceCounter::count_of(std::uint64_t key) {
  std::size_t slot = slot_of(key);
  for (; counts_[slot].key != 0; slot = (slot + 1) & (counts_.size() - 1)) {
    if (counts_[slot].key == key) return counts_[slot];
  }
  if (++used_ * 4 > counts_.size() * 3) {
    grow();
    return count_of(key);
  }
  counts_[slot].key = key;
  return counts_[slot];
}

void PlaceCounter::grow() {
  const auto old = std::exchange(counts_, std::vector<Count>(counts_.size() * 2));
  --shift_;
  used_ = 0;
  for (const Count& count : old) {
    if (count.key != 0) count_of(count.key).samples = count.samples;
  }
}

inline void PlaceCounter::add_to(Batch& batch, std::uint64_t key) {
  const std::size_t slot = slot_of(key);
  __builtin_prefetch(&counts_[slot], 1);
  batch.keys[batch.used] = key;
  batch.slots[batch.used] = slot;
  if (++batch.used == batch.keys.size()) count_batch(batch);
}

inline void PlaceCounter::count_batch(Batch& batch) {
  for (std::size_t i = 0; i < batch.used; ++i) {
    const std::uint64_t key = batch.keys[i];
    const std::size_t slot = batch.slots[i];
    ++(counts_[slot].key == key ? counts_[slot] : count_of(key)).samples;
  }
  batch.used = 0;
}

std::size_t PlaceCounter::count(std::span<const std::byte> records, std::uint64_t position) {
  totals_.resize(std::max(totals_.size(), decoder_.layouts().size()));
  std::size_t done = 0;
  if (layout_.possible && filter_ == nullptr) {
    if (notes_times_ && layout_.has_times) note_times_of(records);
    done = layout_.id == SampleLayout::kAbsent ? count_samples<false>(records, position)
                                               : count_samples<true>(records, position);
  } else {
    while (const std::size_t size = count_one(records.subspan(done), position + done)) done += size;
  }
  return done;
}

/// Notes the times of samples whose fields are at the offsets of `layout_`.
void PlaceCounter::note_times_of(std::span<const std::byte> records) {
  while (records.size() >= HeaderWord::kSize) {
    const HeaderWord word = HeaderWord::at(records.data());
    if (word.size() < HeaderWord::kSize || word.size() > records.size()) return;
    if (word.type() == PERF_RECORD_SAMPLE && word.size() >= layout_.record_size) {
      times_.add(perfdata::load<std::uint64_t>(records.data() + HeaderWord::kSize + layout_.time));
    }
    records = records.subspan(word.size());
  }
}

/// Counts samples whose fields are at the offsets of `layout_`; other records one by one.
template <bool kManyEvents>
std::size_t PlaceCounter::count_samples(std::span<const std::byte> records,
                                        std::uint64_t position) {
  const std::byte* at = records.data();
  const std::byte* const end = at + records.size();
  // Returns the distance of a field from the start of its record.
  const auto of_record = [](std::uint16_t offset) { return HeaderWord::kSize + offset; };
  const std::size_t ip_at = of_record(layout_.ip), tid_at = of_record(layout_.tid),
                    time_at = of_record(layout_.time), id_at = of_record(layout_.id);
  const bool has_times = layout_.has_times;
  using perfdata::load;

  std::uint64_t header = 0;  // that of the previous sample
  std::size_t stride = SIZE_MAX;
  std::uint64_t space_fill = 0, space_mask = 0, exact = 0;
  std::uint32_t attribute = 0;
  std::uint16_t period = layout_.period.front();
  std::uint64_t samples = 0, period_sum = 0;
  Batch batch;

  for (;;) {
    const auto left = static_cast<std::size_t>(end - at);
    if (left < stride || HeaderWord::at(at).word != header) {
      if (left < HeaderWord::kSize) break;
      const HeaderWord word = HeaderWord::at(at);
      if (word.type() != PERF_RECORD_SAMPLE || word.size() < layout_.record_size ||
          word.size() > left) {
        const auto size =
            count_one({at, left}, position + static_cast<std::uint64_t>(at - records.data()));
        if (size == 0) break;
        at += size;
        continue;
      }
      header = word.word;
      stride = word.size();
      const auto kind = SampleKind::of_misc(word.misc());
      space_fill = AddressSpace::fill(kind.mode());
      space_mask = AddressSpace::mask(kind.mode());
      exact = kind.exact() ? Count::kExact : 0;
    }
    const std::byte* const record = at;
    at += stride;
    if constexpr (kManyEvents) {
      const auto found = layout_.ids->find(load<std::uint64_t>(record + id_at));
      if (!found) {
        ++unknown_ids_;
        continue;
      }
      attribute = *found;
      period = layout_.period[attribute];
      ++totals_[attribute].samples;
    } else {
      ++samples;
    }
    if (period != SampleLayout::kAbsent) {
      const auto events = load<std::uint64_t>(record + of_record(period));
      if constexpr (kManyEvents) {
        totals_[attribute].period_sum += events;
      } else {
        period_sum += events;
      }
    }
    const std::uint64_t time = has_times
                                   ? load<std::uint64_t>(record + time_at)
                                   : position + static_cast<std::uint64_t>(record - records.data());
    const AddressSpace space(space_fill | (load<std::uint32_t>(record + tid_at) & space_mask));
    add_to(batch, key_of(space, load<std::uint64_t>(record + ip_at), time, exact | attribute));
  }
  count_batch(batch);
  if constexpr (!kManyEvents) {
    totals_.front().samples += samples;
    totals_.front().period_sum += period_sum;
  }
  return static_cast<std::size_t>(at - records.data());
}

/// Counts the first record, of any type, by decoding it. Returns its size, or 0 if it is truncated.
std::size_t PlaceCounter::count_one(std::span<const std::byte> records, std::uint64_t position) {
  if (records.size() < perfdata::kRecordHeader) return 0;
  Record record;
  const std::uint16_t size = perfdata::read_record_header(records, decoder_.order(), record);
  if (size < perfdata::kRecordHeader || size > records.size()) return 0;
  record.position = position;
  record.body = records.first(size).subspan(perfdata::kRecordHeader);
  if (record.type == PERF_RECORD_SAMPLE) count(record);
  return size;
}

void PlaceCounter::count(const Record& record) {
  const auto [sample, problem] = decoder_.decode(record);
  if (problem == SampleDecoder::Problem::unknown_id) ++unknown_ids_;
  if (problem != SampleDecoder::Problem::none) return;
  if (notes_times_) times_.add(sample.time);
  const AddressSpace space(sample.mode, sample.pid);
  const std::uint64_t time = decoder_.time_of(record, sample);
  if (filter_ != nullptr &&
      !filter_->selects(sample, time, regions_.find(space, sample.ip, time).file, filtered_)) {
    return;
  }
  totals_.resize(std::max(totals_.size(), decoder_.layouts().size()));
  auto& totals = totals_[sample.attribute];
  ++totals.samples;
  const bool has_period = decoder_.layouts()[sample.attribute].period != SampleLayout::kAbsent;
  if (has_period) totals.period_sum += sample.period;
  const std::uint64_t key =
      key_of(space, sample.ip, time, sample.attribute | (sample.exact ? Count::kExact : 0));
  ++count_of(key).samples;
}

/// Sets `counters` and `mask` of an entry that the cache has just filled.
void PlaceCounter::add_counters(RegionCache::Place& place, std::uint64_t ip) {
  const AddressSpace space(place.space);
  const bool is_mapped = place.file != symbols::Region::kNoFile;
  Block block{place.file, space.mode(), keeps_addresses_, 0, 0};
  if (space.mode() == CpuMode::kernel && is_mapped) block.has_address = true;
  if (block.has_address) block.distance = place.distance;
  if (is_mapped || block.has_address) {
    block.number = (ip + place.distance) >> kBlockBits;
    place.mask = (std::uint32_t{1} << kBlockBits) - 1;
  } else {
    // Samples where nothing is mapped are counted together, unless addresses matter.
    block.has_address = true;
    block.number = common_address(ip) >> kBlockBits;
  }
  place.counters = block_key(block);
}

/// Returns the block's part of a key. Gives the block a number if it has none.
std::uint64_t PlaceCounter::block_key(const Block& block) {
  const auto number = static_cast<std::uint32_t>(blocks_.size());
  const auto [known, is_new] = block_numbers_.try_emplace(block, number);
  if (is_new) blocks_.push_back(block);
  return std::uint64_t{known->second} << Count::kBlockShift;
}

std::size_t PlaceCounter::BlockHash::operator()(const Block& block) const {
  const std::uint64_t file_and_mode =
      std::uint64_t{block.file} << 8 | static_cast<std::uint64_t>(block.mode);
  const auto mixed = hashed(block.number, seed) ^ hashed(file_and_mode, seed) ^ block.distance;
  return hashed(mixed, seed);
}

void PlaceCounter::merge(PlaceCounter& other) {
  totals_.resize(std::max(totals_.size(), other.totals_.size()));
  for (std::size_t index = 0; index < other.totals_.size(); ++index) {
    totals_[index].samples += other.totals_[index].samples;
    totals_[index].period_sum += other.totals_[index].period_sum;
  }
  times_.add(other.times_);
  unknown_ids_ += other.unknown_ids_;
  std::vector<std::uint64_t> keys(other.blocks_.size());
  for (std::size_t number = 1; number < keys.size(); ++number) {
    keys[number] = block_key(other.blocks_[number]);
  }
  for (const Count& count : std::exchange(other.counts_, {})) {
    if (count.key == 0) continue;
    constexpr std::uint64_t kInBlock = (std::uint64_t{1} << Count::kBlockShift) - 1;
    count_of(keys[count.block()] | (count.key & kInBlock)).samples += count.samples;
  }
}

LocatedCounts PlaceCounter::take_counts() {
  LocatedCounts result;
  std::vector<std::uint32_t> order(blocks_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order,
                    [&](std::uint32_t a, std::uint32_t b) { return blocks_[a] < blocks_[b]; });
  std::vector<std::uint64_t> keys(blocks_.size());
  for (const std::uint32_t number : order) {
    keys[number] = result.blocks_.size() << Count::kBlockShift;
    result.blocks_.push_back(blocks_[number]);
  }
  std::erase_if(counts_, [](const Count& count) { return count.key == 0; });
  for (Count& count : counts_) count.key = keys[count.block()] | (count.key & 0xffff'ffff);
  counts_.shrink_to_fit();
  std::ranges::sort(counts_, {}, &Count::key);
  result.counts_ = std::move(counts_);
  return result;
}

}  // namespace skid::locate
