#include "src/perfdata/sample_counts.h"

#include <algorithm>
#include <new>
#include <random>

namespace skid::perfdata {
namespace {

constexpr unsigned kFirstSlotBits = 10;
constexpr unsigned kLargestSlotBits = 31;
constexpr std::size_t kFirstContextSlots = 64;
/// At most this share of the slots is used, in tenths.
constexpr std::size_t kMostUsed = 7;
/// How many samples are looked at together.
constexpr std::size_t kTogether = 64;
constexpr std::uint64_t kCarry = std::uint64_t{1} << 16;

/// The seed makes it impossible to write a recording whose addresses all meet in one slot.
std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

/// Two words mixed by the high and low half of their product (as in wyhash, by Wang Yi).
std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15ULL;

}  // namespace

SampleCounts::SampleCounts() : seed_(random_seed()) {}

std::uint64_t SampleCounts::hash(std::uint64_t ip, std::uint32_t context) const noexcept {
  return mix(ip ^ seed_, (std::uint64_t{context} + 1) * kOdd | 1);
}

std::uint64_t SampleCounts::count_of(std::size_t row, std::uint32_t column) const {
  const std::uint64_t own = row_at(row).counts[column];
  if (carries_.empty()) return own;
  const auto carried = carries_.find(row * kColumns + column);
  return carried == carries_.end() ? own : own + carried->second;
}

void SampleCounts::carry(std::size_t row, std::uint32_t column, std::uint64_t samples) {
  carries_[row * kColumns + column] += samples;
}

SampleCount SampleCounts::describe(const Row& row, std::uint32_t column,
                                   std::uint64_t samples) const {
  const std::uint64_t context = contexts_[row.context];
  const auto kind_and_group = static_cast<std::uint32_t>(context);
  SampleCount count;
  count.of.ip = row.ip;
  count.of.address_space = static_cast<std::int32_t>(context >> 32);
  count.of.attribute = (kind_and_group >> SampleKind::kBits) * kColumns + column;
  count.of.kind = SampleKind::of_bits(kind_and_group & ((1u << SampleKind::kBits) - 1));
  count.samples = samples;
  count.first = slices_.first(row.first);
  count.last = slices_.last(row.last);
  count.end = slices_.end(row.last);
  return count;
}

std::uint32_t SampleCounts::context_of(const SampleKey& key) {
  return context_of(std::uint64_t{static_cast<std::uint32_t>(key.address_space)} << 32 |
                    (key.attribute / kColumns) << SampleKind::kBits | key.kind.bits());
}

std::uint32_t SampleCounts::context_of(std::uint64_t key) {
  if (contexts_.size() * 2 >= context_slots_.size()) grow_contexts();
  const std::size_t mask = context_slots_.size() - 1;
  std::size_t at = mix(key ^ seed_, kOdd) & mask;
  for (; context_slots_[at].number != 0; at = (at + 1) & mask) {
    if (context_slots_[at].key == key) return context_slots_[at].number - 1;
  }
  contexts_.push_back(key);
  context_slots_[at] = {key, static_cast<std::uint32_t>(contexts_.size())};
  return context_slots_[at].number - 1;
}

void SampleCounts::grow_contexts() {
  const std::size_t size = context_slots_.empty() ? kFirstContextSlots : context_slots_.size() * 2;
  context_slots_.assign(size, {});
  for (std::size_t index = 0; index < contexts_.size(); ++index) {
    const std::uint64_t key = contexts_[index];
    std::size_t at = mix(key ^ seed_, kOdd) & (size - 1);
    while (context_slots_[at].number != 0) at = (at + 1) & (size - 1);
    context_slots_[at] = {key, static_cast<std::uint32_t>(index + 1)};
  }
}

void SampleCounts::make_room(std::size_t rows) {
  while ((rows_used_ + rows) * 10 > slots_.size() * kMostUsed) grow();
}

void SampleCounts::grow() {
  if (slot_bits_ == kLargestSlotBits) throw std::bad_alloc();
  slot_bits_ = slot_bits_ == 0 ? kFirstSlotBits : slot_bits_ + 1;
  slots_ = {};  // free the old slots before allocating the new ones
  slots_.resize(std::size_t{1} << slot_bits_);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t index = 0; index < rows_used_; ++index) {
    const Row& row = row_at(index);
    const std::uint64_t mixed = hash(row.ip, row.context);
    std::size_t at = mixed & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    const auto tag = static_cast<std::uint32_t>(mixed >> 32) & ~static_cast<std::uint32_t>(mask);
    slots_[at] = tag | static_cast<std::uint32_t>(index + 1);
  }
}

/// The number of the first row whose hash looks like `mixed`; 0 when there is none.
std::uint32_t SampleCounts::probable_row(std::uint64_t mixed) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  const auto number_mask = static_cast<std::uint32_t>(mask);
  const auto tag = static_cast<std::uint32_t>(mixed >> 32) & ~number_mask;
  std::size_t at = mixed & mask;
  while (slots_[at] != 0 && (slots_[at] & ~number_mask) != tag) at = (at + 1) & mask;
  return slots_[at] & number_mask;
}

std::size_t SampleCounts::find_or_insert(std::uint64_t ip, std::uint32_t context,
                                         std::uint64_t mixed, Slice slice) {
  const std::size_t mask = slots_.size() - 1;
  const auto number_mask = static_cast<std::uint32_t>(mask);
  const auto tag = static_cast<std::uint32_t>(mixed >> 32) & ~number_mask;
  std::size_t at = mixed & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    if ((slots_[at] & ~number_mask) != tag) continue;
    const std::size_t index = (slots_[at] & number_mask) - 1;
    const Row& row = row_at(index);
    if (row.ip == ip && row.context == context) return index;
  }
  const std::size_t index = rows_used_++;
  if (index / kRowsABlock == blocks_.size()) {
    blocks_.push_back(std::make_unique_for_overwrite<Row[]>(kRowsABlock));
  }
  slots_[at] = tag | static_cast<std::uint32_t>(index + 1);
  row_at(index) = Row{ip, context, slice, slice, {}};
  return index;
}

void SampleCounts::add_between(Slice first, Slice last, const SampleKey& key,
                               std::uint64_t samples) {
  const std::size_t index = row_of(key.ip, context_of(key), first);
  widen(index, first, last);
  increase(index, key.attribute % kColumns, samples);
}

std::size_t SampleCounts::row_of(std::uint64_t ip, std::uint32_t context, Slice slice) {
  make_room(1);
  return find_or_insert(ip, context, hash(ip, context), slice);
}

void SampleCounts::widen(std::size_t index, Slice first, Slice last) noexcept {
  Row& row = row_at(index);
  row.first = std::min(row.first, first);
  row.last = std::max(row.last, last);
}

void SampleCounts::increase(std::size_t index, std::uint32_t column, std::uint64_t samples) {
  auto& count = row_at(index).counts[column];
  const std::uint64_t total = count + samples;
  count = static_cast<std::uint16_t>(total);
  if (total >= kCarry) carry(index, column, total / kCarry * kCarry);
}

void SampleCounts::merge(SampleCounts& other) {
  std::vector<std::uint32_t> contexts;  // here, by their number there
  contexts.reserve(other.contexts_.size());
  for (const std::uint64_t key : other.contexts_) contexts.push_back(context_of(key));
  for (std::size_t theirs = 0; theirs < other.rows_used_; ++theirs) {
    const Row& row = other.row_at(theirs);
    const std::size_t index = row_of(row.ip, contexts[row.context], row.first);
    widen(index, row.first, row.last);
    for (std::uint32_t column = 0; column < kColumns; ++column) {
      const std::uint64_t samples = other.count_of(theirs, column);
      if (samples > 0) increase(index, column, samples);
    }
  }
  slices_.merge(other.slices_);
  other = SampleCounts();
}

void SampleCounts::add(std::span<const SampleKey> keys, Slice slice) {
  std::array<std::uint32_t, kTogether> contexts, numbers;
  std::array<std::uint64_t, kTogether> hashes;
  while (!keys.empty()) {
    const auto batch = keys.first(std::min(keys.size(), kTogether));
    keys = keys.subspan(batch.size());
    make_room(batch.size());
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      contexts[i] = context_of(batch[i]);
      hashes[i] = hash(batch[i].ip, contexts[i]);
      __builtin_prefetch(&slots_[hashes[i] & mask]);
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      numbers[i] = probable_row(hashes[i]);
      if (numbers[i] != 0) __builtin_prefetch(&row_at(numbers[i] - 1), 1);
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::size_t index = std::size_t{numbers[i]} - 1;
      if (numbers[i] == 0 || row_at(index).ip != batch[i].ip ||
          row_at(index).context != contexts[i]) {
        index = find_or_insert(batch[i].ip, contexts[i], hashes[i], slice);
      }
      Row& row = row_at(index);
      row.last = slice;
      const std::uint32_t column = batch[i].attribute % kColumns;
      if (++row.counts[column] == 0) carry(index, column, kCarry);
    }
  }
}

void SampleCounts::move_row(std::size_t from, std::size_t to) {
  if (from == to) return;
  auto& block = blocks_[to / kRowsABlock];
  if (!block) block = std::make_unique_for_overwrite<Row[]>(kRowsABlock);
  row_at(to) = row_at(from);
  if (carries_.empty()) return;
  for (std::uint32_t column = 0; column < kColumns; ++column) {
    auto carried = carries_.extract(from * kColumns + column);
    if (carried.empty()) continue;
    carried.key() = to * kColumns + column;
    carries_.insert(std::move(carried));
  }
}

void SampleCounts::drop_carries(std::size_t row) {
  if (carries_.empty()) return;
  for (std::uint32_t column = 0; column < kColumns; ++column) {
    carries_.erase(row * kColumns + column);
  }
}

/// A block whose rows were all moved up or dropped, unless one of the `kept` first rows is in it.
void SampleCounts::free_block(std::size_t block, std::size_t kept) {
  if (block * kRowsABlock >= kept) blocks_[block].reset();
}

void SampleCounts::truncate(std::size_t rows) {
  rows_used_ = rows;
  blocks_.resize((rows + kRowsABlock - 1) / kRowsABlock);
}

void SampleCounts::seal() {
  slots_ = {};
  slot_bits_ = 0;
  context_slots_ = {};
  slices_.seal();
}

}  // namespace skid::perfdata
