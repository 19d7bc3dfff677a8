#include "src/code/function_code.h"

#include <algorithm>

namespace skid::code {

using analysis::NotJudged;
using instructions::Access;

Step step_of(Arch arch, const std::optional<instructions::Instruction>& instruction) {
  Step step;
  step.length = static_cast<std::uint8_t>(instructions::step_without_instruction(arch));
  if (!instruction) return step;
  step.categories = instruction->categories;
  step.length = static_cast<std::uint8_t>(instruction->length);
  step.flow = instruction->flow;
  step.fusion = instruction->fusion;
  step.decodes = true;
  step.is_in_parts = instruction->repeats;
  for (const instructions::MemoryOperand& operand : instruction->memory) {
    step.is_in_parts |= operand.vector_of_addresses;
    step.is_conditional |= operand.is_conditional;
    step.loads |= operand.access == Access::read || operand.access == Access::read_write;
    step.stores |= operand.access == Access::write || operand.access == Access::read_write;
  }
  step.delays_traps = instruction->delays_traps;
  step.calls_kernel = instruction->calls_kernel;
  return step;
}

FunctionCode::FunctionCode(Arch arch, std::uint64_t begin, std::span<const std::byte> code)
    : begin_(begin) {
  std::optional<std::size_t> undecoded;
  const auto add = [&](std::uint64_t address, const auto& instruction) {
    const Step step = step_of(arch, instruction);
    if (!step.decodes && !undecoded) undecoded = steps_.size();
    computes_jumps_ |= step.decodes && step.flow == instructions::Flow::indirect_jump;
    if (instruction && instruction->target)
      targets_.emplace_back(steps_.size(), *instruction->target);
    steps_.push_back(step);
    offsets_.push_back(static_cast<std::uint32_t>(address - begin));
  };
  instructions::for_each_instruction(arch, code, begin, add);
  first_undecoded_ = undecoded.value_or(steps_.size());
}

std::optional<std::uint64_t> FunctionCode::target_of(std::size_t index) const {
  const auto found =
      std::ranges::lower_bound(targets_, index, {}, [](const auto& one) { return one.first; });
  if (found == targets_.end() || found->first != index) return std::nullopt;
  return found->second;
}

std::optional<std::size_t> FunctionCode::find(std::uint64_t address) const {
  if (address < begin_) return std::nullopt;
  const auto found = std::ranges::lower_bound(offsets_, address - begin_);
  if (found == offsets_.end() || *found != address - begin_) return std::nullopt;
  return static_cast<std::size_t>(found - offsets_.begin());
}

Suspects FunctionCode::fused_with(std::size_t index) const {
  const auto fuses = [this](std::size_t first) {
    return instructions::fuses(steps_[first].fusion, steps_[first + 1].fusion);
  };
  Suspects suspects{index, index};
  if (index > 0 && fuses(index - 1)) suspects.first = index - 1;
  if (index + 1 < steps_.size() && fuses(index)) suspects.last = index + 1;
  return suspects;
}

instructions::Categories FunctionCode::categories_of(Suspects suspects) const {
  instructions::Categories categories;
  for (std::size_t i = suspects.first; i <= suspects.last; ++i) categories |= steps_[i].categories;
  return categories;
}

std::optional<events::Verdict> FunctionCode::verdict_on(std::span<const events::Cause> causes,
                                                        std::size_t index) const {
  const events::Verdict verdict = events::verdict_on(causes, categories_of(fused_with(index)));
  const bool may_be_second = index == 0 && instructions::can_be_second(steps_[index].fusion);
  if (may_be_second && verdict == events::Verdict::never) return std::nullopt;
  return verdict;
}

NotJudged FunctionCode::problem_at(std::uint64_t address) const {
  if (steps_.empty() || address >= address_of(steps_.size() - 1) + steps_.back().length) {
    return NotJudged::no_code;
  }
  const auto index = find(address);
  if (!index) return NotJudged::inside_instruction;
  return steps_[*index].decodes ? NotJudged::none : NotJudged::not_decoded;
}

}  // namespace skid::code
