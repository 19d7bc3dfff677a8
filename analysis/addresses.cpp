#include "analysis/addresses.h"

#include "analysis/classified.h"
#include "analysis/sample_class.h"

#include <optional>

namespace skid::analysis {

bool is_data_address(std::uint64_t address) {
  constexpr unsigned kSignificant = 57;
  const std::uint64_t above = address >> (kSignificant - 1);  // bit 56 and those that repeat it
  return address != 0 && (above == 0 || above == UINT64_MAX >> (kSignificant - 1));
}

void OwnerCounts::add(std::uint64_t address, const std::vector<DeclaredData>& data) {
  if (!is_data_address(address)) {
    ++none;
    return;
  }
  bool is_of_other_trigger = false;
  for (const DeclaredData& declared : data) {
    if (!declared.range.contains(address)) continue;
    if (declared.of_trigger) {
      ++trigger;
      return;
    }
    is_of_other_trigger = true;
  }
  ++(is_of_other_trigger ? other_trigger : other);
}

OwnerCounts& OwnerCounts::operator+=(const OwnerCounts& more) {
  trigger += more.trigger;
  other_trigger += more.other_trigger;
  other += more.other;
  none += more.none;
  return *this;
}

OwnerCounts& AddressTable::at(const Classified& place) {
  if (!is_judged(place.sample_class)) return not_judged;
  if (place.sample_class == SampleClass::hit) return trigger;
  return place.offset && place.offset->instructions == 1 ? successor : elsewhere;
}

OwnerCounts AddressTable::judged() const {
  OwnerCounts sum = trigger;
  sum += successor;
  return sum += elsewhere;
}

AddressTable& AddressTable::operator+=(const AddressTable& more) {
  trigger += more.trigger;
  successor += more.successor;
  elsewhere += more.elsewhere;
  not_judged += more.not_judged;
  return *this;
}

}  // namespace skid::analysis
