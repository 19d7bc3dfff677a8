#include "src/synth/loop_path.h"

#include "runway/kinds/kind.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "src/instructions/counted.h"
#include "src/instructions/instruction.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/text.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace skid::synth {
namespace {

using analysis::SampleClass;

/// docs/method.md: the last 5% of a runway's instructions are censored, rounded down.
constexpr std::int64_t kCensoredDivisor = 20;

/// Finds the cause in an other trigger: its last branch, which is declared together with the
/// instructions that it fuses with or returns to; without a branch its last instruction.
OtherCause cause_in(AddressRange other, Arch arch, std::span<const std::byte> code,
                    const std::vector<std::uint64_t>& starts) {
  OtherCause cause;
  bool is_branch = false;
  for (const std::uint64_t start : starts) {
    if (!other.contains(start)) continue;
    const auto decoded = instructions::classify(arch, code.subspan(start - starts.front()), start);
    const bool branches = decoded && decoded->flow != instructions::Flow::next;
    if (is_branch && !branches) continue;
    is_branch = branches;
    cause = {start, decoded && !decoded->memory.empty()};
  }
  return cause;
}

/// Returns the data that a target's trigger accesses. `source` encodes where the access was served
/// as include/uapi/linux/perf_event.h does: the bits that apply of mem_op, mem_lvl, mem_snoop,
/// mem_lock and mem_dtlb.
TriggerData data_of(const runway::TargetDescription& target) {
  constexpr std::uint64_t kLoad = 2, kStore = 4, kHit = 2U << 5, kNoSnoop = 2U << 19,
                          kNoLock = 1U << 24, kTlbHit = (2U | 8U) << 26;
  struct Served {
    std::uint64_t level;    ///< PERF_MEM_LVL_*
    std::uint64_t latency;  ///< cycles, the order of magnitude of current CPUs
  };
  constexpr Served kL1{8U << 5, 5};
  // The order is that of runway::MemoryLevel: the level 2 and 3 caches, memory.
  constexpr std::array kLevels{Served{0x20U << 5, 15}, Served{0x40U << 5, 60},
                               Served{0x80U << 5, 300}};
  const runway::Kind& kind = runway::kind_of(target.specification.trigger);
  TriggerData data;
  if (!kind.touches_datum) return data;
  data.datum = target.layout.datum;
  data.elements = runway::elements_of(target.specification);
  data.stride = runway::chase_stride(target.specification.trigger);
  const Served served = kind.chase ? kLevels.at(static_cast<std::size_t>(kind.chase->level)) : kL1;
  const bool loads = kind.causes(instructions::Counted::loads);
  const bool stores = kind.causes(instructions::Counted::stores);
  data.source = (loads ? kLoad : 0) | (stores ? kStore : 0) | kHit | served.level | kNoSnoop |
                kNoLock | kTlbHit;
  data.latency = served.latency;
  return data;
}

}  // namespace

LoopPath::LoopPath(const LoopParts& parts) : data_(parts.data) {
  for (const std::uint64_t address : parts.starts) steps_.push_back({.address = address});
  // Calls `visit(step, index, count)` for each of the `count` steps in a range.
  const auto each = [this](AddressRange range, const auto& visit) {
    const auto begin = std::ranges::lower_bound(steps_, range.begin, {}, &Step::address);
    const auto end = std::ranges::lower_bound(steps_, range.end, {}, &Step::address);
    for (auto step = begin; step < end; ++step) visit(*step, step - begin, end - begin);
  };
  const auto index_at = [this](std::uint64_t address, std::string_view what) {
    const Step* found = find_by(steps_, &Step::address, address);
    if (found == nullptr) throw Error("target: no instruction begins at {}{:#x}", what, address);
    return static_cast<std::size_t>(found - steps_.data());
  };
  for (const AddressRange& other : parts.other_triggers) {
    each(other, [](Step& step, std::int64_t, std::int64_t) {
      step.sample_class = SampleClass::other_trigger;
    });
  }
  each(parts.lead_in, [](Step& step, std::int64_t index, std::int64_t count) {
    step.sample_class = SampleClass::before;
    step.offset = index - count;
  });
  for (std::size_t number = 0; number < parts.trigger_blocks.size(); ++number) {
    const auto& [trigger, runway] = parts.trigger_blocks[number];
    each(runway, [&](Step& step, std::int64_t index, std::int64_t count) {
      const std::int64_t censored = count / kCensoredDivisor;
      step.sample_class = index >= count - censored ? SampleClass::censored : SampleClass::skid;
      step.offset = index + 1;
      step.trigger = number;
    });
    each(trigger, [&](Step& step, std::int64_t, std::int64_t) {
      step.sample_class = SampleClass::hit;
      step.offset = 0;
      step.trigger = number;
    });
    triggers_.push_back(index_at(trigger.begin, "its trigger, "));
  }
  if (triggers_.empty()) throw Error("target: has no trigger");
  for (const std::size_t trigger : triggers_) steps_[trigger].accesses_memory = data_.datum != 0;
  for (const OtherCause& cause : parts.other_causes) {
    other_causes_.push_back(index_at(cause.address, ""));
    steps_[other_causes_.back()].accesses_memory = cause.accesses_memory;
  }
}

std::vector<Step> LoopPath::steps_of_interrupts() const {
  const auto is_cause = [](const Step& step) {
    return step.sample_class == SampleClass::hit || step.sample_class == SampleClass::other_trigger;
  };
  const auto end_of_runway = std::ranges::find_if(
      steps_.rbegin(), steps_.rend(), [&](const Step& step) { return step.trigger.has_value(); });
  std::vector<Step> steps = steps_;
  // The loop is executed over and over: its last cause precedes its first instruction.
  SampleClass cause = std::ranges::find_if(steps_.rbegin(), steps_.rend(), is_cause)->sample_class;
  for (Step& step : steps) {
    if (is_cause(step)) cause = step.sample_class;
    const bool is_before = step.sample_class == SampleClass::before;
    if (!is_before && step.sample_class != SampleClass::loop) continue;
    Step counted{.address = step.address};
    if (cause == SampleClass::other_trigger) {
      counted.sample_class = cause;
    } else if (is_before && end_of_runway->sample_class == SampleClass::censored) {
      counted = *end_of_runway;
      counted.address = step.address;
    }
    step = counted;
  }
  return steps;
}

LoopPath::Landing LoopPath::from(std::size_t step, std::int64_t offset) const {
  const auto length = static_cast<std::int64_t>(steps_.size());
  const std::int64_t there = static_cast<std::int64_t>(step) + offset;
  const std::int64_t within = (there % length + length) % length;
  return {&steps_[static_cast<std::size_t>(within)], within != there};
}

LoopParts parts_of(const runway::TargetDescription& target, const symbols::Module& module) {
  const runway::Layout& layout = target.layout;
  const auto code = module.code(layout.loop);
  if (code.size() != layout.loop.size() || code.empty()) {
    throw Error("target: contains {} bytes of its loop; expected {}", code.size(),
                layout.loop.size());
  }
  LoopParts parts;
  parts.lead_in = layout.lead_in;
  parts.trigger_blocks = layout.trigger_blocks();
  parts.other_triggers = layout.other_triggers;
  const Arch arch = target.specification.arch;
  parts.starts = instructions::starts_in(arch, code, layout.loop.begin);
  for (const AddressRange& other : layout.other_triggers) {
    parts.other_causes.push_back(cause_in(other, arch, code, parts.starts));
  }
  parts.data = data_of(target);
  return parts;
}

}  // namespace skid::synth
