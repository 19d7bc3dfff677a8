// Which instructions can have executed directly before another one? docs/correct.md, "Which
// instruction", lists the cases.
//
//   401000  f:  test %rdi, %rdi       401020  g:  cmp %rsi, %rdi
//   401003      je 40100d             401023      jg 401026
//   401005      call g                401025      ret
//   40100a      mov (%rax), %rdx      401026      xor %eax, %eax
//   40100d      add $1, %rdx          401028      ret
//
//   before 40100a   the RETs of g at 401025 and 401028, because g cannot return in another way
//                   (find_returns()); an unknown RET, if the callee is not known
//   before 40100d   MOV, which falls through; JE, which jumps there; and TEST, because it is one
//                   operation with JE (Tie::fused)
//   before 401000   calls of f in this file; unknown calls, jumps and RETs, because other files
//                   can enter f, too (add_computed())
//
// An indirect jump may lead to any instruction of its own function. If a direct branch leads into
// the middle of an instruction (past a LOCK prefix), the code from there is decoded a second time,
// until both decodings meet (decode_inside()). An instruction after that point has two that can
// precede it (all_before()).
//
// The code of a function is decoded once and kept, up to a limit. Work is limited by
// CodeBudget; when it ends, predecessors may be missing (FileCode::is_cut()).
#include "src/code/control_flow.h"

#include "src/code/branches.h"
#include "src/code/code_budget.h"
#include "src/code/function_code.h"
#include "src/instructions/category.h"
#include "src/support/address.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <array>
#include <span>

namespace skid::code {
namespace {

using analysis::NotJudged;
using instructions::Category;
using instructions::falls_through;
using instructions::Instruction;
using enum instructions::Flow;

/// The cost of reading a single instruction, and that of finding paths and blocks for each
/// instruction of a function. The unit is that of CodeBudget: decoding an instruction in the
/// middle of a function.
constexpr std::uint64_t kCostOfReading = 16;
constexpr std::uint64_t kCostOfPaths = 2;

bool is_return(const Step& step) {
  return step.flow == leaves && step.categories.contains(Category::branch);
}

/// The forms of instructions that can lead to a place from an unknown one: RET, `jmp *(%rax)`,
/// `call *(%rax)`. Jumps and calls through a register need no form of their own: whatever they do,
/// these do as well.
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
  std::ranges::stable_sort(
      known, [&](const Predecessor& a, const Predecessor& b) { return key(a) < key(b); });
  const auto same = [](const Predecessor& a, const Predecessor& b) {
    return a.address == b.address;
  };
  known.erase(std::unique(known.begin(), known.end(), same), known.end());
}

}  // namespace

ControlFlow::ControlFlow(const symbols::Module& module, std::optional<AddressRange> loop,
                         CodeBudget& budget)
    : file_(module, Arch::x86_64, loop, budget), starts_(module.function_starts()) {}

ControlFlow::CodePointer ControlFlow::code_at(std::uint64_t address) {
  constexpr std::size_t kMostKept = std::size_t{1} << 22;
  const AddressRange range = file_.range_around(address);
  const std::pair key(range.begin, range.end);
  const auto known = codes_.find(key);
  if (known != codes_.end()) return known->second;
  auto function = file_.function_at(address).function;
  if (!function) return nullptr;
  const auto code = std::make_shared<Code>();
  code->paths = file_.paths_of(*function);
  code->function = std::move(function);
  file_.budget().take(kCostOfPaths * code->steps().steps().size());
  decode_inside(*code);
  find_runs(*code);
  if (kept_ > kMostKept) {
    codes_.clear();
    kept_ = 0;
  }
  kept_ += code->steps().steps().size() + code->inside_before.size();
  return codes_.emplace(key, code).first->second;
}

void ControlFlow::decode_inside(Code& code) {
  const AddressRange range = code.function->range;
  std::vector<bool> decoded;
  for (const auto& branch : file_.branches().branches_into(range)) {
    if (!range.contains(branch.from)) continue;
    std::uint64_t at = branch.to;
    while (range.contains(at) && !code.steps().find(at)) {
      decoded.resize(range.size());
      if (decoded[at - range.begin]) break;
      decoded[at - range.begin] = true;
      const auto instruction = instruction_at(at);
      if (!instruction) break;
      if (!falls_through(instruction->flow) && instruction->flow != call) break;
      code.inside_before.emplace_back(at + instruction->length, at);
      at += instruction->length;
    }
  }
  file_.budget().take(kCostOfReading * code.inside_before.size());
  std::ranges::sort(code.inside_before);
}

void ControlFlow::find_runs(Code& code) {
  const auto& steps = code.steps().steps();
  bool runs = true;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::uint64_t address = code.steps().address_of(i);
    const bool is_entered = file_.branches().may_enter(address) || file_.is_labelled(address);
    code.runs_into.push_back(runs || code.paths.computes_jumps);
    if (!falls_through(steps[i].flow) && steps[i].flow != call) {
      runs = false;
    } else if (is_entered) {
      runs = true;
    }
  }
}

std::optional<Instruction> ControlFlow::instruction_at(std::uint64_t address) const {
  const AddressRange range{address, address + instructions::kLongestInstruction};
  return instructions::classify(file_.arch(), file_.module().code(range), address);
}

NotJudged ControlFlow::problem_at(std::uint64_t address) {
  file_.branches();
  if (file_.is_cut()) return NotJudged::too_much_code;
  const auto code = code_at(address);
  return code ? code->steps().problem_at(address) : file_.function_at(address).problem;
}

bool ControlFlow::only_nops(AddressRange range) const {
  const auto bytes = file_.module().code(range);
  const FunctionCode code(file_.arch(), range.begin, bytes);
  return bytes.size() == range.size() && std::ranges::all_of(code.steps(), [](const Step& step) {
           return step.decodes && step.is_nop();
         });
}

ControlFlow::CodePointer ControlFlow::code_before(std::uint64_t function) {
  const auto after = std::ranges::lower_bound(starts_, function);
  return after == starts_.begin() ? nullptr : code_at(*(after - 1));
}

std::optional<std::uint64_t> ControlFlow::address_before(const Code& code, std::size_t index) {
  if (index > 0) {
    if (!code.steps().decodes_until(index)) return std::nullopt;
    return code.steps().address_of(index - 1);
  }
  const std::uint64_t address = code.function->range.begin;
  const auto before = code_before(address);
  constexpr std::uint64_t kMostPadding = 4096;
  const std::uint64_t end = before ? before->function->range.end : 0;
  if (!before || end > address || before->steps().steps().empty() || address - end > kMostPadding) {
    return std::nullopt;
  }
  const std::size_t last = before->steps().steps().size() - 1;
  if (!before->steps().decodes_until(last + 1)) return std::nullopt;
  if (!only_nops({end, address})) return std::nullopt;
  return before->steps().address_of(last);
}

std::vector<std::uint64_t> ControlFlow::all_before(const Code& code, std::size_t index) {
  if (index == 0) {
    const std::uint64_t begin = code.function->range.begin;
    const auto overlaps = code_before(begin);
    const auto inside = overlaps ? overlaps->steps().find(begin) : std::nullopt;
    if (inside && *inside > 0) return all_before(*overlaps, *inside);
  }
  const auto before = address_before(code, index);
  if (!before) return {};
  const std::pair first(code.steps().address_of(index), std::uint64_t{0});
  auto inside = std::ranges::lower_bound(code.inside_before, first);
  std::vector<std::uint64_t> found;
  for (; inside != code.inside_before.end() && inside->first == first.first; ++inside) {
    found.push_back(inside->second);
  }
  if (found.empty() || code.runs_into[index]) found.push_back(*before);
  return found;
}

ControlFlow::Returns ControlFlow::find_returns(std::uint64_t function) {
  if (!std::ranges::binary_search(starts_, function)) return std::nullopt;
  const auto code = code_at(function);
  if (!code || code->function->range.begin != function) return std::nullopt;
  const auto& steps = code->steps().steps();
  if (steps.empty() || !code->steps().decodes_until(steps.size()) || code->paths.computes_jumps ||
      falls_through(steps.back().flow) || !code->inside_before.empty()) {
    return std::nullopt;
  }
  std::vector<std::uint64_t> found;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (is_return(steps[i])) found.push_back(code->steps().address_of(i));
    if (steps[i].flow != jump && steps[i].flow != conditional) continue;
    const auto target = code->steps().target_of(i);
    if (!target || !code->function->range.contains(*target)) return std::nullopt;
  }
  // A function without a RET does not return: what follows the call is entered in another way.
  if (found.empty() || found.size() > kMostPredecessors) return std::nullopt;
  return found;
}

const ControlFlow::Returns& ControlFlow::returns_of(std::uint64_t function) {
  const auto known = returns_.find(function);
  if (known != returns_.end()) return known->second;
  return returns_.emplace(function, find_returns(function)).first->second;
}

void ControlFlow::add(std::uint64_t address, Predecessors& predecessors) {
  file_.budget().take(kCostOfReading);
  auto instruction = instruction_at(address);
  if (!instruction) {
    predecessors.anything = true;
    return;
  }
  const bool is_conditional = instruction->flow == conditional;
  const auto fusion = instruction->fusion;
  predecessors.known.push_back({address, address, Tie::none, std::move(*instruction)});
  const auto code = code_at(address);
  const auto index = code ? code->steps().find(address) : std::nullopt;
  const auto before = index ? all_before(*code, *index) : std::vector<std::uint64_t>();
  if (before.empty() && is_conditional) predecessors.anything = true;  // may be half of a pair
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

void ControlFlow::add_returns_to(std::uint64_t call, Predecessors& predecessors) {
  const auto instruction = instruction_at(call);
  if (instruction && instruction->target) {
    if (const Returns& returns = returns_of(*instruction->target)) {
      for (const std::uint64_t address : *returns) add(address, predecessors);
      return;
    }
  }
  add_unknown(Unknown::ret, predecessors);
}

void ControlFlow::add_preceding(const Code& code, std::size_t index, Predecessors& predecessors) {
  const auto before = all_before(code, index);
  if (before.empty()) {
    if (index > 0) predecessors.anything = true;  // bytes before it do not decode
    return;
  }
  bool falls = false;
  for (const std::uint64_t address : before) {
    const auto there = code_at(address);
    const bool is_inside = there && !there->steps().find(address);
    const auto instruction = instruction_at(address);
    if (instruction && instruction->flow == call) {
      add_returns_to(address, predecessors);
      falls = true;
    } else if (instruction && falls_through(instruction->flow) &&
               (is_inside || code.paths.falls_into[index])) {
      add(address, predecessors);
      falls = true;
    }
  }
  if (!falls && index > 0 && file_.branches().branches_to(code.steps().address_of(index)).empty()) {
    add_unknown(Unknown::ret, predecessors);  // it may begin an exception handler
  }
}

void ControlFlow::find_indirect_jumps(Code& code) {
  Predecessors found;
  const auto& steps = code.steps().steps();
  for (std::size_t i = 0; i < steps.size() && found.known.size() <= kMostPredecessors; ++i) {
    if (steps[i].decodes && steps[i].flow == indirect_jump) add(code.steps().address_of(i), found);
  }
  keep_each_once(found.known);
  code.indirect_jumps = std::make_shared<const std::vector<Predecessor>>(std::move(found.known));
}

void ControlFlow::add_computed(Code& code, std::size_t index, Predecessors& predecessors) {
  const std::uint64_t address = code.steps().address_of(index);
  const bool is_entry = index == 0 && !file_.is_in_loop(address);
  if (is_entry || file_.is_labelled(address)) {
    add_unknown(Unknown::computed_call, predecessors);
    add_unknown(Unknown::computed_jump, predecessors);
    add_unknown(Unknown::ret, predecessors);
  }
  if (code.steps().computes_jumps()) {
    if (!code.indirect_jumps) find_indirect_jumps(code);
    predecessors.indirect_jumps = code.indirect_jumps;
    file_.budget().take(code.indirect_jumps->size());
    predecessors.anything |= code.indirect_jumps->size() > kMostPredecessors;
  } else if (code.paths.computes_jumps) {
    add_unknown(Unknown::computed_jump, predecessors);
    add_unknown(Unknown::ret, predecessors);
  }
}

Predecessors ControlFlow::predecessors(std::uint64_t address) {
  Predecessors found;
  const auto code = code_at(address);
  const auto index = code ? code->steps().find(address) : std::nullopt;
  found.anything = !index || !file_.branches().is_whole();
  if (!index) return found;
  add_preceding(*code, *index, found);
  const auto branches = file_.branches().branches_to(address);
  if (branches.size() > kMostPredecessors) {
    found.anything = true;
  } else {
    for (const auto& branch : branches) add(branch.from, found);
  }
  add_computed(*code, *index, found);
  keep_each_once(found.known);
  return found;
}

}  // namespace skid::code
