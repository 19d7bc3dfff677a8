#include "src/synth/loop_path.h"

#include "src/support/error.h"
#include "src/support/text.h"
#include "src/symbols/disassembler.h"

#include <algorithm>

#include <fmt/format.h>

namespace skid::synth {
namespace {

using analysis::SampleClass;

/// docs/method.md: the last 5% of a runway's instructions are censored, rounded down.
constexpr std::int64_t kCensoredDivisor = 20;

/// Numbers the instructions of one part of the loop.
class Numbering {
 public:
  explicit Numbering(std::vector<Step>& steps) : steps_(&steps) {}

  /// Calls `visit(step, index, how many there are)` for the steps in `range`.
  template <typename Visitor>
  void each(AddressRange range, const Visitor& visit) const {
    const auto before = [](const Step& step, std::uint64_t address) {
      return step.address < address;
    };
    const auto begin = std::lower_bound(steps_->begin(), steps_->end(), range.begin, before);
    const auto end = std::lower_bound(begin, steps_->end(), range.end, before);
    const std::int64_t count = end - begin;
    for (auto step = begin; step != end; ++step) visit(*step, step - begin, count);
  }

 private:
  std::vector<Step>* steps_;
};

}  // namespace

LoopPath::LoopPath(const LoopParts& parts) {
  for (const std::uint64_t address : parts.starts) {
    steps_.push_back({address, SampleClass::loop, std::nullopt, std::nullopt});
  }
  const Numbering numbering(steps_);
  for (const AddressRange& other : parts.other_triggers) {
    numbering.each(other, [](Step& step, std::int64_t, std::int64_t) {
      step.sample_class = SampleClass::other_trigger;
    });
  }
  numbering.each(parts.lead_in, [](Step& step, std::int64_t index, std::int64_t count) {
    step.sample_class = SampleClass::before;
    step.offset = index - count;
  });
  for (std::size_t number = 0; number < parts.trigger_blocks.size(); ++number) {
    const AddressRange trigger = parts.trigger_blocks[number].trigger;
    const AddressRange runway = parts.trigger_blocks[number].runway;
    numbering.each(runway, [&](Step& step, std::int64_t index, std::int64_t count) {
      const std::int64_t censored = count / kCensoredDivisor;
      step.sample_class = index >= count - censored ? SampleClass::censored : SampleClass::skid;
      step.offset = index + 1;
      step.trigger = number;
    });
    numbering.each(trigger, [&](Step& step, std::int64_t, std::int64_t) {
      step.sample_class = SampleClass::hit;
      step.offset = 0;
      step.trigger = number;
    });
    const Step* found = find_by(steps_, &Step::address, trigger.begin);
    if (found == nullptr) {
      throw Error(
          fmt::format("target: no instruction begins at its trigger, {:#x}", trigger.begin));
    }
    triggers_.push_back(static_cast<std::size_t>(found - steps_.data()));
  }
  if (triggers_.empty()) throw Error("target: has no trigger");
}

LoopPath::Landing LoopPath::at(std::size_t trigger, std::int64_t offset) const {
  const auto length = static_cast<std::int64_t>(steps_.size());
  const std::int64_t there = static_cast<std::int64_t>(triggers_[trigger]) + offset;
  const std::int64_t within = (there % length + length) % length;
  return {&steps_[static_cast<std::size_t>(within)], within != there};
}

LoopParts parts_of(const runway::TargetDescription& target, const symbols::Module& module) {
  const runway::Layout& layout = target.layout;
  const auto code = module.code(layout.loop);
  if (code.size() != layout.loop.size() || code.empty()) {
    throw Error(fmt::format("target: contains {} bytes of its loop; expected {}", code.size(),
                            layout.loop.size()));
  }
  LoopParts parts;
  parts.lead_in = layout.lead_in;
  parts.trigger_blocks = layout.trigger_blocks();
  parts.other_triggers = layout.other_triggers;
  parts.starts = symbols::Disassembler(target.specification.arch).starts(code, layout.loop.begin);
  return parts;
}

}  // namespace skid::synth
