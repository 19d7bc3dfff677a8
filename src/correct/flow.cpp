#include "src/correct/flow.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <span>

namespace skid::correct {
namespace {

using analysis::NotJudged;
using audit::FunctionCode;
using audit::Step;
using instructions::Category;
using instructions::falls_through;
using instructions::Instruction;
using instructions::Flow::call;
using instructions::Flow::conditional;
using instructions::Flow::indirect_jump;
using instructions::Flow::jump;
using instructions::Flow::leaves;
using instructions::Flow::next;

bool is_return(const Step& step) {
  return step.flow == leaves && step.categories.contains(Category::branch);
}

/// Instructions that lead from unknown places to others: RET, `jmp *(%rax)`, `call *(%rax)`. A jump
/// or call through a register does nothing that these do not do.
enum class Unknown { ret, computed_jump, computed_call };

void add_unknown(Unknown kind, Predecessors& predecessors) {
  constexpr std::array kRet{std::byte{0xc3}};
  constexpr std::array kJump{std::byte{0xff}, std::byte{0x20}};
  constexpr std::array kCall{std::byte{0xff}, std::byte{0x10}};
  std::span<const std::byte> code(kRet);
  if (kind == Unknown::computed_jump) code = kJump;
  if (kind == Unknown::computed_call) code = kCall;
  if (auto instruction = instructions::classify(Arch::x86_64, code, 0)) {
    predecessors.unknown.push_back(std::move(*instruction));
  }
}

void keep_each_once(std::vector<Predecessor>& known) {
  const auto key = [](const Predecessor& one) { return std::pair(one.address, one.tie); };
  std::stable_sort(known.begin(), known.end(),
                   [&](const Predecessor& a, const Predecessor& b) { return key(a) < key(b); });
  const auto same = [](const Predecessor& a, const Predecessor& b) {
    return a.address == b.address;
  };
  known.erase(std::unique(known.begin(), known.end(), same), known.end());
}

}  // namespace

Flow::Flow(const symbols::Module& module, Arch arch, std::optional<AddressRange> loop)
    : module_(module), arch_(arch), loop_(loop), starts_(module.function_starts()) {}

AddressRange Flow::range_of(const symbols::Function& function, std::uint64_t address) const {
  return loop_ && loop_->contains(address) ? *loop_ : function.range;
}

AddressRange Flow::function_around(std::uint64_t address) const {
  const auto function = module_.function_at(address);
  return function ? range_of(*function, address) : AddressRange{address, address + 1};
}

const Flow::Code* Flow::code_at(std::uint64_t address) {
  const auto function = module_.function_at(address);
  if (!function) return nullptr;
  const AddressRange range = range_of(*function, address);
  if (range.size() > FunctionCode::kLargest) return nullptr;
  const std::pair key(range.begin, range.end);
  const auto known = codes_.find(key);
  if (known != codes_.end()) return &known->second;
  FunctionCode steps(arch_, range.begin, module_.code(range));
  kept_ += steps.steps().size();
  Code code{function->name, range, std::move(steps), {}};
  decode_inside(code);
  kept_ += code.inside_before.size();
  return &codes_.emplace(key, std::move(code)).first->second;
}

void Flow::decode_inside(Code& code) {
  std::set<std::uint64_t> decoded;
  for (const auto& branch : branches().branches_into(code.range)) {
    if (!code.range.contains(branch.from)) continue;
    std::uint64_t at = branch.to;
    while (code.range.contains(at) && !code.steps.find(at) && decoded.insert(at).second) {
      const auto instruction = instruction_at(at);
      if (!instruction) break;
      if (!falls_through(instruction->flow) && instruction->flow != call) break;
      code.inside_before.emplace(at + instruction->length, at);
      at += instruction->length;
    }
  }
}

const audit::Branches& Flow::branches() {
  if (!branches_) branches_.emplace(module_, arch_);
  return *branches_;
}

bool Flow::is_labelled(std::uint64_t address) {
  return !(loop_ && loop_->contains(address)) && branches().is_labelled(address);
}

std::optional<Instruction> Flow::instruction_at(std::uint64_t address) const {
  return instructions::classify(
      arch_, module_.code({address, address + instructions::kLongestInstruction}), address);
}

NotJudged Flow::problem_at(std::uint64_t address) {
  const Code* code = code_at(address);
  return code == nullptr ? NotJudged::no_function : code->steps.problem_at(address);
}

bool Flow::only_nops(AddressRange range) const {
  const auto bytes = module_.code(range);
  const FunctionCode code(arch_, range.begin, bytes);
  return bytes.size() == range.size() &&
         std::all_of(code.steps().begin(), code.steps().end(),
                     [](const Step& step) { return step.decodes && step.is_nop(); });
}

const Flow::Code* Flow::code_before(std::uint64_t function) {
  const auto after = std::lower_bound(starts_.begin(), starts_.end(), function);
  return after == starts_.begin() ? nullptr : code_at(*(after - 1));
}

std::optional<std::uint64_t> Flow::address_before(const Code& code, std::size_t index) {
  if (index > 0) {
    if (!code.steps.decodes_until(index)) return std::nullopt;
    return code.steps.address_of(index - 1);
  }
  const std::uint64_t address = code.range.begin;
  const Code* before = code_before(address);
  constexpr std::uint64_t kMostPadding = 4096;
  if (before == nullptr || before->range.end > address || before->steps.steps().empty() ||
      address - before->range.end > kMostPadding) {
    return std::nullopt;
  }
  const std::size_t last = before->steps.steps().size() - 1;
  if (!before->steps.decodes_until(last + 1)) return std::nullopt;
  if (!only_nops({before->range.end, address})) return std::nullopt;
  return before->steps.address_of(last);
}

bool Flow::runs_into(const Code& code, std::size_t index) {
  if (code.steps.computes_jumps() || branches().computes_jumps(code.function)) return true;
  for (std::size_t i = index; i-- > 0;) {
    const auto flow = code.steps.steps()[i].flow;
    if (!falls_through(flow) && flow != call) return false;
    const std::uint64_t address = code.steps.address_of(i);
    if (branches().may_enter(address) || is_labelled(address)) return true;
  }
  return true;
}

std::vector<std::uint64_t> Flow::all_before(const Code& code, std::size_t index) {
  if (index == 0) {
    const Code* overlaps = code_before(code.range.begin);
    const auto inside = overlaps == nullptr ? std::nullopt : overlaps->steps.find(code.range.begin);
    if (inside && *inside > 0) return all_before(*overlaps, *inside);
  }
  const auto before = address_before(code, index);
  if (!before) return {};
  const auto [first, last] = code.inside_before.equal_range(code.steps.address_of(index));
  if (first == last) return {*before};
  std::vector<std::uint64_t> found;
  for (auto inside = first; inside != last; ++inside) found.push_back(inside->second);
  if (runs_into(code, index)) found.push_back(*before);
  return found;
}

/// Whether the instruction before the one at `index` can have been executed: not if it is padding.
bool Flow::falls_into(const Code& code, std::size_t index) {
  const auto& steps = code.steps.steps();
  for (std::size_t i = index; i-- > 0;) {
    if (!falls_through(steps[i].flow)) return false;
    if (!steps[i].is_nop() || branches().may_enter(code.steps.address_of(i))) return true;
  }
  return true;
}

Flow::Returns Flow::find_returns(std::uint64_t function) {
  if (!std::binary_search(starts_.begin(), starts_.end(), function)) return std::nullopt;
  const Code* code = code_at(function);
  if (code == nullptr || code->range.begin != function) return std::nullopt;
  const auto& steps = code->steps.steps();
  if (steps.empty() || !code->steps.decodes_until(steps.size()) || code->steps.computes_jumps() ||
      branches().computes_jumps(code->function) || falls_through(steps.back().flow) ||
      !code->inside_before.empty()) {
    return std::nullopt;
  }
  std::vector<std::uint64_t> found;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::uint64_t address = code->steps.address_of(i);
    if (is_return(steps[i])) found.push_back(address);
    if (steps[i].flow != jump && steps[i].flow != conditional) continue;
    const auto instruction = instruction_at(address);
    if (!instruction || !instruction->target || !code->range.contains(*instruction->target)) {
      return std::nullopt;
    }
  }
  if (found.empty()) return std::nullopt;  // what comes after the call is entered otherwise
  return found;
}

const Flow::Returns& Flow::returns_of(std::uint64_t function) {
  const auto known = returns_.find(function);
  if (known != returns_.end()) return known->second;
  return returns_.emplace(function, find_returns(function)).first->second;
}

void Flow::add(std::uint64_t address, Predecessors& predecessors) {
  auto instruction = instruction_at(address);
  if (!instruction) {
    predecessors.anything = true;
    return;
  }
  const bool is_conditional = instruction->flow == conditional;
  const auto fusion = instruction->fusion;
  predecessors.known.push_back({address, address, Tie::none, std::move(*instruction)});
  const Code* code = code_at(address);
  const auto index = code == nullptr ? std::nullopt : code->steps.find(address);
  const auto before = index ? all_before(*code, *index) : std::vector<std::uint64_t>();
  if (before.empty() && is_conditional) predecessors.anything = true;  // half of a pair
  for (const std::uint64_t first : before) {
    auto partner = instruction_at(first);
    if (!partner || !falls_through(partner->flow)) continue;
    Tie tie = Tie::none;
    if (is_conditional && partner->may_fuse) {
      tie = instructions::fuses(partner->fusion, fusion) ? Tie::fused : Tie::may_fuse;
    } else if (partner->delays_traps) {
      tie = Tie::late_traps;
    }
    if (tie == Tie::none) continue;
    predecessors.known.push_back({first, address, tie, std::move(*partner)});
  }
}

void Flow::add_returns_to(std::uint64_t call, Predecessors& predecessors) {
  const auto instruction = instruction_at(call);
  if (instruction && instruction->target) {
    if (const Returns& returns = returns_of(*instruction->target)) {
      for (const std::uint64_t address : *returns) add(address, predecessors);
      return;
    }
  }
  add_unknown(Unknown::ret, predecessors);
}

void Flow::add_preceding(const Code& code, std::size_t index, Predecessors& predecessors) {
  const auto before = all_before(code, index);
  if (before.empty()) {
    if (index > 0) predecessors.anything = true;  // what does not decode precedes it
    return;
  }
  bool falls = false;
  for (const std::uint64_t address : before) {
    const Code* there = code_at(address);
    const bool is_inside = there != nullptr && !there->steps.find(address);
    const auto instruction = instruction_at(address);
    if (instruction && instruction->flow == call) {
      add_returns_to(address, predecessors);
      falls = true;
    } else if (instruction && falls_through(instruction->flow) &&
               (is_inside || falls_into(code, index))) {
      add(address, predecessors);
      falls = true;
    }
  }
  if (!falls && index > 0 && branches().branches_to(code.steps.address_of(index)).empty()) {
    add_unknown(Unknown::ret, predecessors);  // an exception handler; a jump table's are below
  }
}

void Flow::add_computed(const Code& code, std::size_t index, Predecessors& predecessors) {
  const std::uint64_t address = code.steps.address_of(index);
  const bool in_loop = loop_ && loop_->contains(address);
  if (!in_loop && (index == 0 || is_labelled(address))) {
    add_unknown(Unknown::computed_call, predecessors);
    add_unknown(Unknown::computed_jump, predecessors);
    add_unknown(Unknown::ret, predecessors);
    predecessors.computed = true;
  }
  if (code.steps.computes_jumps()) {
    const auto& steps = code.steps.steps();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].decodes && steps[i].flow == indirect_jump) {
        add(code.steps.address_of(i), predecessors);
      }
    }
  } else if (branches().computes_jumps(code.function)) {
    add_unknown(Unknown::computed_jump, predecessors);
    add_unknown(Unknown::ret, predecessors);
  }
}

Predecessors Flow::predecessors(std::uint64_t address) {
  constexpr std::size_t kMostKept = std::size_t{1} << 20;
  if (kept_ > kMostKept) {
    const std::uint64_t function = function_around(address).begin;
    if (function != crowded_by_) {  // a single function may be that large
      codes_.clear();
      kept_ = 0;
      crowded_by_ = function;
    }
  }
  Predecessors found;
  const Code* code = code_at(address);
  const auto index = code == nullptr ? std::nullopt : code->steps.find(address);
  found.anything = !index || !branches().is_whole();
  if (!index) return found;
  add_preceding(*code, *index, found);
  for (const auto& branch : branches().branches_to(address)) add(branch.from, found);
  add_computed(*code, *index, found);
  keep_each_once(found.known);
  return found;
}

AddressRange Flow::block_at(std::uint64_t address) {
  const Code* code = code_at(address);
  const auto found = code == nullptr ? std::nullopt : code->steps.find(address);
  const bool is_known = found && code->steps.decodes_until(*found) && code->inside_before.empty();
  if (!is_known) return {address, address + 1};
  const auto& steps = code->steps.steps();
  const auto continues_at = [&](std::size_t index) {
    const std::uint64_t begin = code->steps.address_of(index);
    return steps[index].decodes && steps[index - 1].flow == next && !branches().may_enter(begin) &&
           !is_labelled(begin);
  };
  std::size_t first = *found, last = *found;
  while (first > 0 && continues_at(first)) --first;
  while (last + 1 < steps.size() && continues_at(last + 1)) ++last;
  return {code->steps.address_of(first), code->steps.address_of(last) + steps[last].length};
}

}  // namespace skid::correct
