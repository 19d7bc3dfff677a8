// Finds what can enter an instruction other than the instruction before it: direct branches, and
// jumps whose destination is computed.
//
// Each executable section is decoded once, function by function. The destinations of computed
// jumps are not known. They are taken to stay in the function that jumps, so it is enough to know
// which functions compute jumps. There are three ways:
//
//   f:       jmp *table(,%rax,8)   f itself computes the jump: it may lead anywhere in f
//   f.cold:  jmp f+0x20            f.cold is a part of f by its name, so f's jump may lead into it,
//                                  too; in a stripped file because it jumps into the middle of f
//   g:       jmp thunk             g jumps through a retpoline
//   thunk:   call 1f
//         0: pause
//            jmp 0b
//         1: mov %rax, (%rsp)      replaces the return address (Instruction::sets_return)
//            ret                   so this RET is a computed jump
//
// scan() collects direct branches and code that computes jumps; spread_computed_jumps() adds the
// last two ways. docs/audit.md, "The only predecessor", has what follows from this for samples.
#include "src/code/branches.h"

#include "src/code/code_budget.h"
#include "src/instructions/category.h"
#include "src/instructions/instruction.h"
#include "src/symbols/location.h"
#include "src/symbols/module.h"

#include <optional>

#include <fmt/format.h>

namespace skid::code {

using instructions::Flow;

namespace {

/// Returns what the parts of a function have in common.
std::string base_name(const std::string& function, std::uint64_t begin) {
  if (function.empty()) return fmt::format("{:#x}", begin);
  return function.substr(0, function.find('.', 1));
}

}  // namespace

bool returns(const instructions::Instruction& instruction) {
  return instruction.flow == Flow::leaves &&
         instruction.categories.contains(instructions::Category::branch);
}

Branches::Branches(const symbols::Module& module, Arch arch, CodeBudget& budget)
    : labels_(module.symbol_values()), arch_(arch), budget_(budget) {
  const std::vector<std::uint64_t> starts = module.function_starts();
  std::uint64_t begin = 0;  // ranges of a damaged file overlap; each byte is decoded once
  for (const AddressRange& range : module.executable_ranges()) {
    begin = std::max(begin, range.begin);
    auto start = std::ranges::upper_bound(starts, begin);
    while (begin < range.end) {
      const std::uint64_t end = start == starts.end() ? range.end : std::min(*start, range.end);
      const auto function = module.function_range_at(begin);
      const std::uint64_t middle = function ? std::clamp(function->end, begin, end) : begin;
      scan(module, begin, middle);
      if (middle < end) gaps_.push_back(middle);
      scan(module, middle, end);
      begin = end;
      if (start != starts.end()) ++start;
    }
  }
  std::ranges::sort(branches_);
  join(slots_);
  spread_computed_jumps(module);
}

void Branches::add_slots(const instructions::Instruction& instruction, std::uint64_t address) {
  constexpr std::uint64_t kCost = 16;  // in units of the budget; 16 bytes are kept
  const bool is_indirect = instruction.flow == Flow::indirect_jump ||
                           (instruction.flow == Flow::call && !instruction.target);
  if (!is_indirect) return;
  for (const instructions::MemoryOperand& operand : instruction.memory) {
    if (!operand.formula || !operand.formula->from_instruction) continue;
    budget_.take(kCost);
    slots_.push_back(
        AddressRange::of_size(address + operand.formula->displacement, operand.formula->bytes));
  }
}

void Branches::spread_computed_jumps(const symbols::Module& module) {
  std::ranges::sort(thunks_);
  std::ranges::sort(computing_code_);
  for (const std::uint64_t begin : computing_code_) add_computing(module, begin);
  const auto computes = [&](std::uint64_t address) {
    return std::ranges::binary_search(computing_code_, begin_of_part(module, address));
  };
  for (const Branch& branch : branches_) {
    if (branch.kind != Kind::jump_from_elsewhere) continue;
    if (is_labelled(branch.to)) {
      if (std::ranges::binary_search(thunks_, branch.to)) add_computing(module, branch.from);
    } else {
      if (computes(branch.from)) add_computing(module, branch.to);
      if (computes(branch.to)) add_computing(module, branch.from);
    }
  }
  computing_code_ = {};
}

std::uint64_t Branches::begin_of_part(const symbols::Module& module, std::uint64_t address) const {
  if (const auto function = module.function_range_at(address)) return function->begin;
  const auto after = std::ranges::upper_bound(gaps_, address);
  return after == gaps_.begin() ? 0 : *(after - 1);
}

void Branches::scan(const symbols::Module& module, std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint64_t kBlock = std::uint64_t{1} << 20;
  const AddressRange range{begin, end};
  bool stored = false;  // whether the preceding instruction wrote the return address
  while (begin < end) {
    if (left_ == 0 || budget_.is_exhausted() || branches_.size() >= kMostBranches) {
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
    std::uint64_t offset = 0, decoded = 0;
    for (; offset < last; ++decoded) {
      const auto instruction = instructions::classify(arch_, code.subspan(offset), begin + offset);
      if (!instruction) {
        offset += instructions::step_without_instruction(arch_);
        stored = false;
        continue;
      }
      if (instruction->target) {
        Kind kind = Kind::call;
        if (instruction->flow != Flow::call) {
          const bool is_within = range.contains(*instruction->target);
          kind = is_within ? Kind::jump_within : Kind::jump_from_elsewhere;
        }
        branches_.push_back({*instruction->target, kind, begin + offset});
      }
      add_slots(*instruction, begin + offset);
      const bool returns_to_stored = stored && returns(*instruction);
      if (returns_to_stored && (thunks_.empty() || thunks_.back() != range.begin)) {
        thunks_.push_back(range.begin);
      }
      stored = instruction->sets_return;
      if (instruction->flow == Flow::indirect_jump || returns_to_stored) {
        const std::uint64_t part = begin_of_part(module, begin + offset);
        if (computing_code_.empty() || computing_code_.back() != part) {
          computing_code_.push_back(part);
        }
      }
      offset += instruction->length;
    }
    begin += offset;
    left_ -= std::min(left_, offset);
    budget_.take(decoded);
    if (code.size() < block_end - (begin - offset)) return;  // the file ends before
  }
}

void Branches::add_computing(const symbols::Module& module, std::uint64_t address) {
  const auto range = module.function_range_at(address);
  if (!range) return;
  const auto function = module.function_at(address);
  const std::string name = function ? function->name : "";
  budget_.take(name.size());  // a damaged file can have long names
  computing_.insert(base_name(name, range->begin));
}

std::span<const Branches::Branch> Branches::branches_to(std::uint64_t address) const {
  const auto first = std::ranges::lower_bound(branches_, Branch{address});
  const auto after =
      std::upper_bound(first, branches_.end(), Branch{address, Kind::jump_within, UINT64_MAX});
  return {first, after};
}

std::span<const Branches::Branch> Branches::branches_into(AddressRange range) const {
  const auto first = std::ranges::lower_bound(branches_, Branch{range.begin});
  const auto after = std::lower_bound(first, branches_.end(), Branch{range.end});
  return {first, after};
}

bool Branches::may_enter_from_elsewhere(std::uint64_t address) const {
  const auto branches = branches_to(address);
  return !is_whole_ || (!branches.empty() && branches.front().kind != Kind::jump_within);
}

bool Branches::computes_jumps(const std::string& function, std::uint64_t begin) const {
  return computing_.contains(base_name(function, begin));
}

}  // namespace skid::code
