#include "src/audit/branches.h"

#include <algorithm>
#include <span>

namespace skid::audit {
namespace {

using instructions::falls_through;
using instructions::Flow;

std::string base_name(const std::string& function) {
  return function.substr(0, function.find('.', 1));
}

}  // namespace

bool returns(const instructions::Instruction& instruction) {
  return instruction.flow == Flow::leaves &&
         instruction.categories.contains(instructions::Category::branch);
}

Branches::Branches(const symbols::Module& module, Arch arch)
    : labels_(module.symbol_values()), arch_(arch) {
  const std::vector<std::uint64_t> starts = module.function_starts();
  std::uint64_t begin = 0;  // ranges of a damaged file overlap; each byte is decoded once
  for (const AddressRange& range : module.executable_ranges()) {
    begin = std::max(begin, range.begin);
    auto start = std::upper_bound(starts.begin(), starts.end(), begin);
    while (begin < range.end) {
      const std::uint64_t end = start == starts.end() ? range.end : std::min(*start, range.end);
      const auto function = module.function_at(begin);
      const std::uint64_t middle = function ? std::clamp(function->range.end, begin, end) : begin;
      scan(module, begin, middle);
      if (middle < end) gaps_.push_back(middle);
      scan(module, middle, end);
      begin = end;
      if (start != starts.end()) ++start;
    }
  }
  std::sort(branches_.begin(), branches_.end());
  std::sort(through_memory_.begin(), through_memory_.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.begin, a.second) < std::pair(b.first.begin, b.second);
  });
  std::sort(elsewhere_.begin(), elsewhere_.end());
  elsewhere_.erase(std::unique(elsewhere_.begin(), elsewhere_.end()), elsewhere_.end());
  spread_computed_jumps(module);
}

void Branches::spread_computed_jumps(const symbols::Module& module) {
  std::sort(thunks_.begin(), thunks_.end());
  std::sort(computing_code_.begin(), computing_code_.end());
  const auto computes = [&](std::uint64_t address) {
    return std::binary_search(computing_code_.begin(), computing_code_.end(),
                              begin_of_part(module, address));
  };
  const auto add = [&](std::uint64_t address) {
    if (const auto function = module.function_at(address)) {
      computing_.insert(base_name(function->name));
    }
  };
  for (const Departure& departure : departures_) {
    if (is_labelled(departure.to)) {
      if (std::binary_search(thunks_.begin(), thunks_.end(), departure.to)) add(departure.from);
    } else {
      if (computes(departure.from)) add(departure.to);
      if (computes(departure.to)) add(departure.from);
    }
  }
  departures_ = {};
  computing_code_ = {};
}

std::uint64_t Branches::begin_of_part(const symbols::Module& module, std::uint64_t address) const {
  if (const auto function = module.function_at(address)) return function->range.begin;
  const auto after = std::upper_bound(gaps_.begin(), gaps_.end(), address);
  return after == gaps_.begin() ? 0 : *(after - 1);
}

void Branches::scan(const symbols::Module& module, std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint64_t kBlock = std::uint64_t{1} << 20;
  const AddressRange range{begin, end};
  bool stored = false;  // by the preceding instruction
  while (begin < end) {
    if (left_ == 0) {
      is_whole_ = false;
      return;
    }
    const std::uint64_t block_end = end - begin > kBlock ? begin + kBlock : end;
    const auto bytes = module.code({begin, block_end});
    if (bytes.empty()) return;
    const std::span<const std::byte> code(bytes);
    // An instruction may reach into the next block, which begins with it.
    const std::uint64_t last =
        block_end == end ? code.size()
                         : code.size() - std::min<std::size_t>(code.size() - 1,
                                                               instructions::kLongestInstruction);
    std::uint64_t offset = 0;
    while (offset < last) {
      const auto instruction = instructions::classify(arch_, code.subspan(offset), begin + offset);
      if (!instruction) {
        offset += instructions::step_without_instruction(arch_);
        stored = false;
        continue;
      }
      if (instruction->target) {
        branches_.push_back({*instruction->target, begin + offset});
        const bool leaves = !range.contains(*instruction->target);
        const bool calls = instruction->flow == Flow::call;
        if (leaves || calls) elsewhere_.push_back(*instruction->target);
        if (leaves && !calls) {
          departures_.push_back({begin + offset, *instruction->target});
        }
      }
      const bool is_computed = instruction->flow == Flow::indirect_jump ||
                               (instruction->flow == Flow::call && !instruction->target);
      for (const auto& operand : instruction->memory) {
        if (is_computed && operand.fixed) {
          through_memory_.emplace_back(*operand.fixed, begin + offset);
        }
      }
      const bool returns_to_stored = stored && returns(*instruction);
      if (returns_to_stored) thunks_.push_back(range.begin);
      stored = instruction->sets_return;
      if (instruction->flow == Flow::indirect_jump || returns_to_stored) {
        computing_code_.push_back(begin_of_part(module, begin + offset));
        if (const auto function = module.function_at(begin + offset)) {
          computing_.insert(base_name(function->name));
        }
      }
      offset += instruction->length;
    }
    begin += offset;
    left_ -= std::min(left_, offset);
    if (code.size() < block_end - (begin - offset)) return;  // the file ends before
  }
}

bool Branches::may_enter(std::uint64_t address) const {
  return !is_whole_ || !branches_to(address).empty();
}

std::span<const Branches::Branch> Branches::branches_to(std::uint64_t address) const {
  const auto first = std::lower_bound(branches_.begin(), branches_.end(), Branch{address, 0});
  const auto after = std::upper_bound(first, branches_.end(), Branch{address, UINT64_MAX});
  return {first, after};
}

std::span<const Branches::Branch> Branches::branches_into(AddressRange range) const {
  const auto first = std::lower_bound(branches_.begin(), branches_.end(), Branch{range.begin, 0});
  const auto after = std::lower_bound(first, branches_.end(), Branch{range.end, 0});
  return {first, after};
}

std::vector<std::uint64_t> Branches::branches_through(AddressRange bytes) const {
  std::vector<std::uint64_t> found;
  constexpr std::uint64_t kLargest = 16;  // bytes of an address with its segment: 10
  const std::uint64_t lowest = bytes.begin - std::min(bytes.begin, kLargest);
  auto at = std::lower_bound(
      through_memory_.begin(), through_memory_.end(), lowest,
      [](const auto& branch, std::uint64_t begin) { return branch.first.begin < begin; });
  for (; at != through_memory_.end() && at->first.begin < bytes.end; ++at) {
    if (bytes.begin < at->first.end) found.push_back(at->second);
  }
  return found;
}

bool Branches::may_enter_from_elsewhere(std::uint64_t address) const {
  return !is_whole_ || std::binary_search(elsewhere_.begin(), elsewhere_.end(), address);
}

bool Branches::is_labelled(std::uint64_t address) const {
  return std::binary_search(labels_.begin(), labels_.end(), address);
}

bool Branches::computes_jumps(const std::string& function) const {
  return computing_.contains(base_name(function));
}

std::optional<std::size_t> only_predecessor(const FunctionCode& code, std::size_t index,
                                            const Branches& branches, const std::string& function) {
  if (index == 0 || !code.decodes_until(index)) return std::nullopt;
  if (branches.computes_jumps(function) || branches.may_enter(code.address_of(index))) {
    return std::nullopt;
  }
  const auto& steps = code.steps();
  if (!falls_through(steps[index - 1].flow)) return std::nullopt;
  for (std::size_t i = index; i-- > 0;) {
    const Step& step = steps[i];
    if (!falls_through(step.flow)) return std::nullopt;
    if (!step.is_nop() || branches.may_enter(code.address_of(i))) break;
  }
  return index - 1;
}

}  // namespace skid::audit
