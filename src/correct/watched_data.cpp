#include "src/correct/watched_data.h"

#include "src/perfdata/format.h"

#include <algorithm>
#include <utility>

namespace skid::correct {

void WatchedData::add_mappings(const symbols::Module& module, std::span<const Sampled> samples) {
  for (const Sampled& one : samples) {
    const auto address = module.address_at(one.offset);
    if (address && one.ip != 0) biases_[one.file].insert(one.ip - *address);
  }
}

/// Whether the watched bytes are data of a file: of the one at hand, or of another one that all
/// processes mapped at the same address.
bool WatchedData::is_data_of_file(std::uint64_t watched, symbols::FileIndex file,
                                  std::uint64_t bias) {
  const auto contains = [&](symbols::FileIndex other, std::uint64_t at) {
    const auto* module = modules_.find(spaces_.file(other)).module;
    if (module == nullptr) return false;
    const auto ranges = module->loaded_ranges();
    return std::ranges::any_of(
        ranges, [&](const AddressRange& range) { return range.contains(watched - at); });
  };
  if (contains(file, bias)) return true;
  return std::ranges::any_of(biases_, [&](const auto& other) {
    return other.second.size() == 1 && contains(other.first, *other.second.begin());
  });
}

std::vector<AddressRange> WatchedData::read_only(std::uint64_t watched, symbols::FileIndex file,
                                                 std::uint64_t bias) {
  const auto* module = modules_.find(spaces_.file(file)).module;
  if (module == nullptr || bias != 0) return {};
  auto ranges = module->read_only_ranges();
  const bool is_constant =
      std::ranges::any_of(ranges, [&](const AddressRange& one) { return one.contains(watched); });
  return is_constant ? std::vector<AddressRange>() : std::move(ranges);
}

Suspicion WatchedData::suspicion_of(const CorrectedEvent& event, const Sampled& one,
                                    std::uint64_t address) {
  Suspicion suspicion;
  suspicion.skid = event.correction.skid.instructions.value_or(1);
  suspicion.causes = event.causes;
  suspicion.is_breakpoint = event.attribute.type == PERF_TYPE_BREAKPOINT;
  if (!suspicion.is_breakpoint) return suspicion;
  constexpr std::uint32_t kWrite = 2;  // HW_BREAKPOINT_W
  const std::uint64_t bias = one.ip - address;
  suspicion.writes_only = event.attribute.bp_type == kWrite;
  suspicion.watched = event.attribute.config1 - bias;
  suspicion.bias = bias;
  suspicion.length = std::max<std::uint64_t>(event.attribute.config2, 1);
  const std::tuple key(one.attribute, one.file, bias);
  const auto [known, is_new] = places_.try_emplace(key);
  Place& place = known->second;
  if (is_new) {
    place.stack_is_elsewhere = is_data_of_file(event.attribute.config1, one.file, bias);
    place.read_only = read_only(event.attribute.config1, one.file, bias);
  }
  suspicion.stack_is_elsewhere = place.stack_is_elsewhere;
  suspicion.read_only = place.read_only;
  return suspicion;
}

}  // namespace skid::correct
