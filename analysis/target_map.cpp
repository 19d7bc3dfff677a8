#include "analysis/target_map.h"

#include "src/support/error.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace skid::analysis {
namespace {

/// METHOD: the last 5% of the runway are censored.
constexpr std::size_t kCensoredDivisor = 20;

/// Later code looks instructions up by bisection, so each region must start with one and hold them
/// in order.
void check(const CodeRegion& region, const char* name) {
  if (region.range.begin > region.range.end) {
    throw Error(fmt::format("{}: ends at 0x{:x}, before it begins at 0x{:x}", name,
                            region.range.end, region.range.begin));
  }
  const bool covered = region.range.empty()
                           ? region.starts.empty()
                           : !region.starts.empty() && region.starts.front() == region.range.begin;
  const bool in_order = std::adjacent_find(region.starts.begin(), region.starts.end(),
                                           std::greater_equal<>()) == region.starts.end();
  if (!covered || !in_order ||
      (!region.starts.empty() && region.starts.back() >= region.range.end)) {
    throw Error(fmt::format("{}: 0x{:x} to 0x{:x} could not be decoded into instructions", name,
                            region.range.begin, region.range.end));
  }
}

/// Index of the instruction that holds `address`, which lies in the region.
std::size_t instruction_at(const CodeRegion& region, std::uint64_t address) {
  const auto after = std::upper_bound(region.starts.begin(), region.starts.end(), address);
  return static_cast<std::size_t>(after - region.starts.begin()) - 1;
}

/// to - from; addresses of one file lie far closer than 2^63.
std::int64_t distance(std::uint64_t from, std::uint64_t to) {
  return static_cast<std::int64_t>(to - from);
}

std::int64_t count(const CodeRegion& region) {
  return static_cast<std::int64_t>(region.starts.size());
}

}  // namespace

TargetMap TargetMap::of_target(CodeRegion lead_in, CodeRegion trigger, CodeRegion runway,
                               AddressRange loop, std::vector<AddressRange> other_triggers) {
  check(lead_in, "lead-in");
  check(trigger, "trigger");
  check(runway, "runway");
  if (trigger.starts.size() != 1) {
    throw Error(fmt::format("trigger: 0x{:x} to 0x{:x} holds {} instructions, not one",
                            trigger.range.begin, trigger.range.end, trigger.starts.size()));
  }
  TargetMap map;
  if (!runway.starts.empty()) {
    const std::size_t censored = std::max<std::size_t>(1, runway.starts.size() / kCensoredDivisor);
    map.censored_index_ = runway.starts.size() - censored;
  }
  map.lead_in_ = std::move(lead_in);
  map.trigger_ = std::move(trigger);
  map.runway_ = std::move(runway);
  map.loop_ = loop;
  map.other_triggers_ = std::move(other_triggers);
  return map;
}

TargetMap TargetMap::of_functions(AddressRange hit, CodeRegion runway) {
  check(runway, "runway");
  TargetMap map;
  map.trigger_.range = hit;
  map.runway_ = std::move(runway);
  map.by_function_ = true;
  return map;
}

Classified TargetMap::classify(std::uint64_t address) const {
  const auto starts_at = [address](const CodeRegion& region, std::size_t index) {
    return region.starts[index] == address;
  };

  Classified result;
  if (trigger_.range.contains(address)) {
    result.sample_class = SampleClass::hit;
    result.offset = Offset{0, by_function_ ? 0 : distance(trigger_.range.begin, address)};
    result.inside_instruction = !by_function_ && address != trigger_.range.begin;
  } else if (runway_.range.contains(address)) {
    const std::size_t index = instruction_at(runway_, address);
    const bool censored = censored_index_ && index >= *censored_index_;
    const std::uint64_t origin = by_function_ ? runway_.range.begin : trigger_.range.begin;
    result.sample_class = censored ? SampleClass::censored : SampleClass::skid;
    result.offset = Offset{static_cast<std::int64_t>(index) + 1, distance(origin, address)};
    result.inside_instruction = !starts_at(runway_, index);
  } else if (lead_in_.range.contains(address)) {
    const std::size_t index = instruction_at(lead_in_, address);
    result.sample_class = SampleClass::before;
    result.offset = Offset{static_cast<std::int64_t>(index) - count(lead_in_),
                           distance(trigger_.range.begin, address)};
    result.inside_instruction = !starts_at(lead_in_, index);
  } else if (std::any_of(
                 other_triggers_.begin(), other_triggers_.end(),
                 [address](const AddressRange& range) { return range.contains(address); })) {
    result.sample_class = SampleClass::other_trigger;
  } else if (loop_.contains(address)) {
    result.sample_class = SampleClass::loop;
  }
  return result;
}

std::int64_t TargetMap::lowest_offset() const {
  return -count(lead_in_);
}

std::int64_t TargetMap::highest_offset() const {
  return count(runway_);
}

std::optional<std::int64_t> TargetMap::censored_from() const {
  if (!censored_index_) return std::nullopt;
  return static_cast<std::int64_t>(*censored_index_) + 1;
}

std::optional<std::int64_t> TargetMap::censored_from_bytes() const {
  if (!censored_index_) return std::nullopt;
  return distance(trigger_.range.begin, runway_.starts[*censored_index_]);
}

std::int64_t TargetMap::instructions() const {
  return count(lead_in_) + count(trigger_) + count(runway_);
}

std::optional<double> TargetMap::even_hit_share() const {
  if (by_function_) return std::nullopt;
  return 1.0 / static_cast<double>(instructions());
}

}  // namespace skid::analysis
