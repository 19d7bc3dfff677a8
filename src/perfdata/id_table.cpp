#include "src/perfdata/id_table.h"

#include <utility>

namespace skid::perfdata {
namespace {

constexpr unsigned kFirstBits = 4;  // log2 of the slots to begin with

}  // namespace

void IdTable::insert(Slot slot) {
  std::size_t at = start_of(slot.id);
  while (slots_[at].attribute != kFree) {
    if (slots_[at].id == slot.id) return;
    at = (at + 1) & (slots_.size() - 1);
  }
  slots_[at] = slot;
  ++used_;
}

void IdTable::add(std::uint64_t id, std::uint32_t attribute) {
  if ((used_ + 1) * 2 > slots_.size()) {
    const unsigned bits = slots_.empty() ? kFirstBits : 64 - shift_ + 1;
    shift_ = 64 - bits;
    const auto old = std::exchange(slots_, std::vector<Slot>(std::size_t{1} << bits));
    used_ = 0;
    for (const Slot& slot : old) {
      if (slot.attribute != kFree) insert(slot);
    }
  }
  insert({id, attribute});
}

}  // namespace skid::perfdata
