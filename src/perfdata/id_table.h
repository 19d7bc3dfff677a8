// The table of sample ids and the events that they belong to.
#pragma once

#include "src/support/hash.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace skid::perfdata {

/// A hash table from sample ids to attribute indices, with open addressing: one lookup per sample.
class IdTable {
 public:
  /// Adds an id. If it is in the table already, the first attribute stays.
  void add(std::uint64_t id, std::uint32_t attribute) {
    if ((used_ + 1) * 2 > slots_.size()) {
      constexpr unsigned kFirstBits = 4;  // log2 of the slots to begin with
      shift_ = slots_.empty() ? 64 - kFirstBits : shift_ - 1;
      const auto old = std::exchange(slots_, std::vector<Slot>(std::size_t{1} << (64 - shift_)));
      used_ = 0;
      for (const Slot& slot : old) {
        if (slot.attribute != kFree) insert(slot);
      }
    }
    insert({id, attribute});
  }

  /// Returns the index of the attribute; nullopt for unknown ids.
  std::optional<std::uint32_t> find(std::uint64_t id) const noexcept {
    if (slots_.empty()) return std::nullopt;
    for (std::size_t at = start_of(id);; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.attribute == kFree) return std::nullopt;
      if (slot.id == id) return slot.attribute;
    }
  }
  bool empty() const noexcept { return used_ == 0; }

 private:
  static constexpr std::uint32_t kFree = 0xffff'ffff;
  struct Slot {
    std::uint64_t id = 0;
    std::uint32_t attribute = kFree;
  };

  std::size_t start_of(std::uint64_t id) const noexcept { return hashed(id, seed_) >> shift_; }
  void insert(Slot slot) {
    std::size_t at = start_of(slot.id);
    for (; slots_[at].attribute != kFree; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].id == slot.id) return;
    }
    slots_[at] = slot;
    ++used_;
  }

  std::uint64_t seed_ = random_seed();
  std::vector<Slot> slots_;  ///< a power of two of slots, at most half of them used
  unsigned shift_ = 64;      ///< 64 - log2(slots)
  std::size_t used_ = 0;
};

}  // namespace skid::perfdata
