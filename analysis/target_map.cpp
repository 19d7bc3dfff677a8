#include "analysis/target_map.h"

#include "analysis/sample_class.h"
#include "src/support/error.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace skid::analysis {
namespace {

/// A runway of n instructions ends with n / 20 censored ones, rounded down: the last 5%, and none
/// of fewer than 20 (docs/method.md, "The sample breakdown").
constexpr std::size_t kCensoredDivisor = 20;

/// The class of an address inside an instruction. No event has such an address, and it has no
/// distance.
constexpr Classified kInsideInstruction{SampleClass::loop, std::nullopt, std::nullopt, true};

/// Checks that a region begins with an instruction and has its instructions in order, because they
/// are looked up by bisection.
void check(const CodeRegion& region, const char* name) {
  if (region.range.begin > region.range.end) {
    throw Error("{}: ends at 0x{:x}, before it begins at 0x{:x}", name, region.range.end,
                region.range.begin);
  }
  const bool covered = region.range.empty()
                           ? region.starts.empty()
                           : !region.starts.empty() && region.starts.front() == region.range.begin;
  const bool in_order =
      std::ranges::adjacent_find(region.starts, std::greater_equal<>()) == region.starts.end();
  if (!covered || !in_order ||
      (!region.starts.empty() && region.starts.back() >= region.range.end)) {
    throw Error("{}: 0x{:x} to 0x{:x} could not be decoded into instructions", name,
                region.range.begin, region.range.end);
  }
}

/// Returns the index of the instruction that contains `address`, which is in the region.
std::size_t instruction_at(const CodeRegion& region, std::uint64_t address) {
  const auto after = std::ranges::upper_bound(region.starts, address);
  return static_cast<std::size_t>(after - region.starts.begin()) - 1;
}

/// Returns to - from. Addresses of one file are far less than 2^63 apart.
std::int64_t distance(std::uint64_t from, std::uint64_t to) {
  return static_cast<std::int64_t>(to - from);
}

std::int64_t count(const CodeRegion& region) {
  return static_cast<std::int64_t>(region.starts.size());
}

/// Returns the index of the first censored instruction of a runway, or the number of its
/// instructions if none is censored.
std::size_t first_censored(const CodeRegion& runway) {
  return runway.starts.size() - runway.starts.size() / kCensoredDivisor;
}

}  // namespace

TargetMap TargetMap::of_target(CodeRegion lead_in, std::vector<TriggerBlock> trigger_blocks,
                               AddressRange loop, std::vector<AddressRange> other_triggers,
                               std::vector<std::uint64_t> successors) {
  check(lead_in, "lead-in");
  if (trigger_blocks.empty()) throw Error("target: has no trigger");
  TargetMap map;
  for (const TriggerBlock& block : trigger_blocks) {
    const CodeRegion& trigger = block.trigger;
    check(trigger, "trigger");
    check(block.runway, "runway");
    if (trigger.starts.size() != 1) {
      throw Error("trigger: 0x{:x} to 0x{:x} holds {} instructions, not one", trigger.range.begin,
                  trigger.range.end, trigger.starts.size());
    }
  }
  map.blocks_ = std::move(trigger_blocks);
  map.lead_in_ = std::move(lead_in);
  map.loop_ = loop;
  map.other_triggers_ = std::move(other_triggers);
  map.successors_ = std::move(successors);
  return map;
}

TargetMap TargetMap::of_functions(AddressRange hit, CodeRegion runway) {
  check(runway, "runway");
  TargetMap map;
  map.blocks_.push_back({{hit, {}}, std::move(runway)});
  map.by_function_ = true;
  return map;
}

std::optional<Classified> TargetMap::classify_in(std::size_t number, std::uint64_t address) const {
  const auto& [trigger, runway, setup] = blocks_[number];
  if (trigger.range.contains(address)) {
    if (!by_function_ && address != trigger.range.begin) return kInsideInstruction;
    return Classified{SampleClass::hit, Offset{0, 0}, number};
  }
  if (!runway.range.contains(address)) return std::nullopt;
  const std::size_t index = instruction_at(runway, address);
  if (runway.starts[index] != address) return kInsideInstruction;
  const bool censored = !by_function_ && index >= first_censored(runway);
  const std::uint64_t origin = by_function_ ? runway.range.begin : trigger.range.begin;
  return Classified{censored ? SampleClass::censored : SampleClass::skid,
                    Offset{static_cast<std::int64_t>(index) + 1, distance(origin, address)},
                    number};
}

bool TargetMap::is_other_trigger(std::uint64_t address, Landing landing) const {
  return std::ranges::any_of(
             other_triggers_,
             [address](const AddressRange& range) { return range.contains(address); }) ||
         (landing == Landing::next_executed &&
          std::ranges::find(successors_, address) != successors_.end()) ||
         (landing == Landing::interrupted && follows_other_trigger(address));
}

bool TargetMap::follows_other_trigger(std::uint64_t address) const {
  if (!loop_.contains(address)) return false;
  // Bytes back to an instruction, round the loop.
  const auto back_to = [&](std::uint64_t begin) {
    return begin < address ? address - begin : address + loop_.size() - begin;
  };
  std::uint64_t own = loop_.size();
  for (const TriggerBlock& block : blocks_) own = std::min(own, back_to(block.trigger.range.begin));
  return std::ranges::any_of(other_triggers_, [&](const AddressRange& other) {
    return loop_.contains(other.begin) && back_to(other.begin) < own;
  });
}

Classified TargetMap::classify_lead_in(std::uint64_t address, Landing landing) const {
  const std::size_t index = instruction_at(lead_in_, address);
  if (lead_in_.starts[index] != address) return kInsideInstruction;
  if (landing != Landing::interrupted) {
    return {SampleClass::before, Offset{static_cast<std::int64_t>(index) - count(lead_in_),
                                        distance(trigger_address(0), address)}};
  }
  if (follows_other_trigger(address)) return {SampleClass::other_trigger};
  const CodeRegion& runway = blocks_.back().runway;
  const bool has_censored = first_censored(runway) < runway.starts.size();
  if (has_censored) return *classify_in(blocks_.size() - 1, runway.starts.back());
  return {SampleClass::loop};
}

bool TargetMap::is_ambiguous(std::uint64_t address) const {
  for (std::size_t i = 1; i < blocks_.size(); ++i) {
    const bool follows = blocks_[i - 1].runway.starts.empty() && blocks_[i - 1].setup == 0;
    if (follows && trigger_address(i) == address) return true;
  }
  return false;
}

Classified TargetMap::classify(std::uint64_t address, Landing landing) const {
  if (landing == Landing::next_executed && is_ambiguous(address)) {
    return {SampleClass::other_trigger};
  }
  for (std::size_t number = 0; number < blocks_.size(); ++number) {
    if (const auto found = classify_in(number, address)) return *found;
  }
  if (lead_in_.range.contains(address)) return classify_lead_in(address, landing);
  if (is_other_trigger(address, landing)) return {SampleClass::other_trigger};
  return {loop_.contains(address) ? SampleClass::loop : SampleClass::other_user};
}

Geometry TargetMap::geometry() const {
  const auto lower = [](std::int64_t offset, std::optional<std::int64_t>& least) {
    least = std::min(least.value_or(offset), offset);
  };
  Geometry geometry;
  geometry.lowest_offset = -count(lead_in_);
  std::int64_t instructions = count(lead_in_);
  for (const auto& [trigger, runway, setup] : blocks_) {
    const std::uint64_t address = trigger.range.begin;
    geometry.trigger_addresses.push_back(address);
    geometry.highest_offset = std::max(geometry.highest_offset, count(runway));
    instructions += count(trigger) + count(runway);
    if (by_function_) continue;
    geometry.trigger_distances.push_back(trigger.starts.size() + runway.starts.size() + setup);
    const std::size_t first = first_censored(runway);
    if (first == runway.starts.size()) continue;
    lower(static_cast<std::int64_t>(first) + 1, geometry.censored_from);
    lower(distance(address, runway.starts[first]), geometry.censored_from_bytes);
  }
  if (!by_function_) {
    geometry.trigger_distances.back() += lead_in_.starts.size();
    geometry.even_hit_share = static_cast<double>(triggers()) / static_cast<double>(instructions);
  }
  return geometry;
}

}  // namespace skid::analysis
