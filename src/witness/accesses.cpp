// Which addresses can the instructions before a sample have accessed, in the registers of its
// record?
//
//   401000  mov 8(%rdi), %rax
//   401004  add $16, %rdi
//   401008  push %rax
//   401009  xor %eax, %eax      sampled
//
// With the registers that the record has after 401009 (Moment::after), the instructions before it
// were executed with
//
//   before 401009   RAX lost: XOR wrote it
//   before 401008   RSP is that of the record plus 8, because PUSH subtracted 8
//   before 401004   RDI is that of the record less 16
//   before 401000   RAX lost
//
// so PUSH accessed 8 bytes at RSP, and the load at 401000 accessed 8 bytes at RDI - 8. A sample of
// that load whose IP is late by 3 instructions has that address, and XOR has none: the IP is wrong,
// and the cause is found. What an instruction computed from a register is undone
// (RegisterEffects::computed); a register that was overwritten otherwise is lost, unless a register
// that an earlier instruction computed from it is left:
//
//   402000  mov %edx, %eax
//   402002  add %r9, %rax
//   402005  and $0x7fff, %edx
//   40200b  movzwl (%r11,%rdx,2), %edx    sampled
//
// The load overwrote RDX, but with the registers after it
//
//   before 40200b   RDX is wanted
//   before 402005   the low 15 bits of RDX are wanted
//   before 402002   RAX is that of the record less R9
//   before 402000   the low 32 bits of RDX are those of RAX less R9
//
// so it accessed 2 bytes at R11 + 2 * (RAX - R9 & 0x7fff). So does a load to which every path leads
// past such a computation (lost_values()). All of this is arithmetic: on a path where it holds the
// instruction accessed no other address.
//
// The walk is by place, not by sample: a sample then costs a few additions (judge() in
// judgement.h).
#include "src/witness/accesses.h"

#include "analysis/not_judged.h"
#include "src/code/branches.h"
#include "src/code/code_budget.h"
#include "src/code/control_flow.h"
#include "src/code/file_code.h"
#include "src/instructions/category.h"
#include "src/support/address.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>
#include <utility>

namespace skid::witness {
namespace {

using instructions::Access;
using instructions::AddressFormula;
using instructions::Category;
using instructions::Instruction;
using instructions::MemoryOperand;

constexpr std::uint64_t kCostOfStep = 4;  // in units of the budget: instructions decoded

void note(Unknown reason, Accesses& accesses) {
  if (accesses.unknown == Unknown::none) accesses.unknown = reason;
}

/// Returns `value` plus `scale` times `second`, in the bits of both; nullopt: it is of more than
/// two registers.
std::optional<Value> sum(Value value, int scale, const Value& second) {
  if (value.scale != 0 || second.scale != 0) return std::nullopt;
  value.second = second.from;
  value.scale = static_cast<std::int8_t>(scale);
  value.addend += static_cast<std::uint64_t>(scale) * second.addend;
  value.bits = std::min(value.bits, second.bits);
  return value;
}

bool is_whole(const std::optional<Value>& value) {
  return value && value->bits == Value{}.bits;
}

bool accesses_without_operand(const Instruction& instruction) {
  return instruction.enters_system ||
         std::ranges::any_of(std::array{Category::other, Category::flush, Category::prefetch},
                             [&](Category one) { return instruction.categories.contains(one); });
}

}  // namespace

FileAccesses::Registers FileAccesses::recorded() {
  Registers registers;
  for (std::uint8_t number = 0; number < kRegisters; ++number) registers[number] = Value{number};
  return registers;
}

FileAccesses::Registers FileAccesses::undo(const instructions::RegisterEffects& effects,
                                           Registers registers) {
  std::optional<Value> restored;
  if (const auto& computed = effects.computed) {
    restored = registers[computed->of];
    if (restored && computed->scale != 0) {
      const auto& second = registers[computed->second];
      const bool is_known = second && !effects.writes(computed->second);
      restored = is_known ? sum(*restored, -computed->scale, *second) : std::nullopt;
    }
    if (restored) {
      restored->addend -= computed->addend;
      restored->bits = std::min(restored->bits, computed->bits);
    }
  }
  for (std::uint8_t number = 0; number < kRegisters; ++number) {
    if (effects.writes(number)) registers[number].reset();
  }
  if (restored) {
    std::optional<Value>& from = registers[effects.computed->from];
    if (!from || from->bits < restored->bits) from = restored;
  }
  return registers;
}

std::optional<Value> FileAccesses::value_before(const Value& wanted,
                                                const instructions::RegisterEffects& effects,
                                                const Registers& before) {
  const auto& computed = effects.computed;
  if (!computed || computed->of != wanted.from) {
    return effects.writes(wanted.from) ? std::nullopt : std::optional(wanted);
  }
  Value earlier = wanted;
  earlier.from = computed->from;
  if (wanted.bits > computed->bits) {
    const bool is_alone = wanted.scale == 0 && wanted.addend == 0;
    if (!is_alone || computed->repeats_sign) return std::nullopt;
    earlier.bits = computed->bits;
  }
  earlier.addend += computed->addend;
  if (computed->scale == 0) return earlier;
  const auto& second = before[computed->second];
  if (!second || second->bits < earlier.bits) return std::nullopt;
  return sum(earlier, computed->scale, *second);
}

std::optional<Value> FileAccesses::resolve(const Value& wanted, const Registers& registers) {
  std::optional<Value> found = registers[wanted.from];
  if (!found || found->bits < wanted.bits) return std::nullopt;
  if (wanted.scale != 0) found = sum(*found, wanted.scale, {wanted.second});
  if (!found) return std::nullopt;
  found->addend += wanted.addend;
  found->bits = wanted.bits;
  return found;
}

FileAccesses::LostValues FileAccesses::lost_values(std::uint8_t number, std::uint64_t address,
                                                   const Registers& registers) {
  // What it could follow from.
  const auto is_known = [](const auto& value) { return value.has_value(); };
  if (std::ranges::none_of(registers, is_known)) return {{}, false};
  constexpr std::size_t kMostSteps = 32;
  /// A point on a path to `address`, and the value there.
  struct Point {
    std::uint64_t next = 0;  ///< address of the instruction executed next
    Registers registers;
    Value wanted;
  };
  std::deque<Point> queue{{address, registers, {number}}};
  std::set<std::tuple<std::uint64_t, Registers, Value>> seen;
  LostValues found;
  while (!queue.empty()) {
    const Point point = queue.front();
    queue.pop_front();
    const Predecessors& predecessors = predecessors_of(point.next);
    const std::size_t steps = seen.size() + predecessors.known.size();
    const bool is_open = predecessors.anything || !predecessors.unknown.empty() ||
                         steps > kMostSteps || flow_.file().budget().is_exhausted();
    if (is_open) {
      found.is_complete = false;
      continue;
    }
    for (const std::uint64_t one : predecessors.known) {
      const Step& step = step_at(one);
      flow_.file().budget().take(kCostOfStep);
      const bool is_of_function = step.instruction &&
                                  step.instruction->flow != instructions::Flow::call &&
                                  !code::returns(*step.instruction);
      const Registers registers_before = undo(step.effects, point.registers);
      const auto wanted = is_of_function
                              ? value_before(point.wanted, step.effects, registers_before)
                              : std::nullopt;
      const auto value = wanted ? resolve(*wanted, registers_before) : std::nullopt;
      if (value) {
        if (std::ranges::count(found.known, *value) == 0) found.known.push_back(*value);
      } else if (!wanted) {
        found.is_complete = false;
      } else if (seen.emplace(one, registers_before, *wanted).second) {
        queue.push_back({one, registers_before, *wanted});
      }
    }
  }
  if (found.known.empty()) found.is_complete = false;
  return found;
}

void FileAccesses::add(std::uint64_t address, const Registers& registers, std::uint64_t ip,
                       Accesses& accesses) {
  const Instruction& instruction = *step_at(address).instruction;
  if (accesses_without_operand(instruction)) note(Unknown::instruction, accesses);
  for (const MemoryOperand& operand : instruction.memory) {
    if (operand.access == Access::none) continue;
    if (!operand.formula) {
      note(operand.in_segment ? Unknown::segment : Unknown::operand, accesses);
      continue;
    }
    const AddressFormula& formula = *operand.formula;
    const auto is_lost = [&](const auto& number) {
      return number && !is_whole(registers[*number]);
    };
    const bool base_is_lost = is_lost(formula.base);
    const bool index_is_lost = is_lost(formula.index);
    LostValues lost{{Value{}}};
    if (base_is_lost && index_is_lost) {
      lost = {{}, false};
    } else if (base_is_lost || index_is_lost) {
      lost = lost_values(base_is_lost ? *formula.base : *formula.index, address, registers);
    }
    if (!lost.is_complete) note(Unknown::overwritten, accesses);
    for (const Value& value : lost.known) {
      const auto value_of = [&](const auto& number) {
        if (!number) return std::optional<Value>();
        return is_lost(number) ? value : registers[*number];
      };
      accesses.known.push_back(
          {.base = value_of(formula.base),
           .index = value_of(formula.index),
           .scale = formula.scale,
           .from_instruction = formula.from_instruction,
           .displacement = formula.displacement + (formula.from_instruction ? address - ip : 0),
           .bytes = formula.bytes});
    }
  }
}

void FileAccesses::add_by_registers_after(std::uint64_t address, const Registers& registers,
                                          std::uint64_t ip, Accesses& accesses) {
  const Step& step = step_at(address);
  Registers before = undo(step.effects, registers);
  if (step.effects.string_step == 0) {
    add(address, before, ip, accesses);
    return;
  }
  // The parts before the last one accessed other addresses.
  if (instructions::is_in_parts(*step.instruction)) note(Unknown::operand, accesses);
  const std::uint64_t bytes = step.effects.string_step;
  for (const std::uint64_t addend : {0 - bytes, bytes}) {
    for (const std::uint8_t number : {instructions::kRsi, instructions::kRdi}) {
      if (!step.effects.writes(number) || !registers[number]) continue;
      before[number] = registers[number];
      before[number]->addend += addend;
    }
    add(address, before, ip, accesses);
  }
}

void FileAccesses::add_unknown(const std::vector<Instruction>& unknown, const Registers& registers,
                               Accesses& accesses) {
  constexpr std::uint64_t kSlot = 8;
  if (!unknown.empty()) note(Unknown::predecessor, accesses);
  for (const Instruction& instruction : unknown) {
    for (const MemoryOperand& operand : instruction.memory) {
      const auto& value = registers[instructions::kStackPointer];
      if (!operand.on_stack || !is_whole(value)) continue;
      // A call wrote the return address to where RSP is now, a RET read it below.
      const bool is_call = operand.access == Access::write;
      accesses.known.push_back(
          {.base = value, .displacement = is_call ? 0 : 0 - kSlot, .bytes = kSlot});
    }
  }
}

void FileAccesses::bound_steps() {
  constexpr std::size_t kMostKept = std::size_t{1} << 18;  // some 250 bytes each
  if (steps_.size() > kMostKept) steps_.clear();
}

FileAccesses::Step& FileAccesses::step_at(std::uint64_t address) {
  const auto [entry, is_new] = steps_.try_emplace(address);
  Step& step = entry->second;
  if (!is_new) return step;
  const auto code =
      flow_.file().module().code({address, address + instructions::kLongestInstruction});
  step.instruction = instructions::classify(Arch::x86_64, code, address);
  if (const auto effects = instructions::register_effects(code)) step.effects = *effects;
  return step;
}

const FileAccesses::Predecessors& FileAccesses::predecessors_of(std::uint64_t address) {
  Step& step = step_at(address);
  if (step.predecessors) return *step.predecessors;
  Predecessors& found = step.predecessors.emplace();
  if (flow_.problem_at(address) != analysis::NotJudged::none) {
    found.anything = true;
    return found;
  }
  code::Predecessors known = flow_.predecessors(address);
  known.for_each([&](const code::Predecessor& one) {
    (one.tie == code::Tie::none ? found.known : found.fused).push_back(one.address);
  });
  found.unknown = std::move(known.unknown);
  // So many are those of a jump table; each sample would be compared with all of them.
  constexpr std::size_t kMostPredecessors = 256;
  const bool are_too_many = found.known.size() + found.fused.size() > kMostPredecessors;
  if (are_too_many) found.known = found.fused = {};
  found.anything = known.anything || flow_.file().is_cut() || are_too_many;
  return found;
}

Accesses FileAccesses::of_sample(std::uint64_t address, Moment moment) {
  bound_steps();
  Accesses accesses;
  const Step& step = step_at(address);
  if (!step.instruction) return {{}, Unknown::no_code};
  const Instruction& instruction = *step.instruction;
  if (moment == Moment::successor) {
    const Predecessors& predecessors = predecessors_of(address);
    for (const auto* some : {&predecessors.known, &predecessors.fused}) {
      for (const std::uint64_t one : *some) {
        const Step& before = step_at(one);
        if (!before.instruction) continue;
        add_by_registers_after(one, recorded(), address, accesses);
      }
    }
    add_unknown(predecessors.unknown, recorded(), accesses);
    if (predecessors.anything) note(Unknown::predecessor, accesses);
    // A string instruction can be interrupted between two parts; the next instruction is then
    // itself.
    if (instructions::is_in_parts(instruction)) {
      add_by_registers_after(address, recorded(), address, accesses);
    }
    return accesses;
  }
  const Registers after = moment == Moment::unrelated ? Registers{} : recorded();
  if (moment == Moment::before) {
    accesses.known.push_back({.from_instruction = true, .bytes = instruction.length});
    // With a shadow stack they can fault there, too (Intel SDM Vol. 1, "Shadow Stacks").
    if (instruction.flow == instructions::Flow::call || code::returns(instruction)) {
      note(Unknown::instruction, accesses);
    }
    add(address, recorded(), address, accesses);
  } else {
    add_by_registers_after(address, after, address, accesses);
  }
  if (moment == Moment::unrelated && accesses.unknown == Unknown::overwritten) {
    accesses.unknown = Unknown::not_recorded;
  }
  // A fault of a pair is that of its first instruction, and there.
  const bool may_be_pair =
      instruction.flow == instructions::Flow::conditional && moment != Moment::before;
  if (!may_be_pair) return accesses;
  // It may be fused with an instruction that is not known.
  const Predecessors& predecessors = predecessors_of(address);
  if (predecessors.anything || !predecessors.unknown.empty()) {
    note(Unknown::predecessor, accesses);
  }
  for (const std::uint64_t before : predecessors.known) {
    const Step& first = step_at(before);
    const bool may_be_fused = first.instruction && first.instruction->may_fuse &&
                              before + first.instruction->length == address;
    if (may_be_fused) add_by_registers_after(before, after, address, accesses);
  }
  return accesses;
}

Accesses FileAccesses::of_predecessor(const code::Predecessor& predecessor, std::uint64_t address) {
  constexpr std::uint64_t kCost = 32;  // in units of the budget; some 150 bytes may be kept
  flow_.file().budget().take(kCost);
  bound_steps();
  Accesses accesses;
  Registers registers = recorded();
  if (predecessor.leads_from != predecessor.address) {
    registers = undo(step_at(predecessor.leads_from).effects, registers);
  }
  add_by_registers_after(predecessor.address, registers, address, accesses);
  return accesses;
}

std::vector<Candidate> FileAccesses::before(std::uint64_t address, Moment moment) {
  constexpr std::size_t kMostSteps = 256;
  bound_steps();
  struct Reached {
    std::uint64_t address = 0;  ///< of the instruction executed next
    Registers registers;        ///< those before that instruction
    unsigned distance = 0;      ///< instructions from it to the one at the IP
  };
  std::deque<Reached> queue{{address, recorded(), 0}};
  // The registers of a late record may be those before the sampled instruction, too.
  if (moment == Moment::after)
    queue.push_back({address, undo(step_at(address).effects, recorded()), 0});
  std::vector<Candidate> found;
  std::set<std::tuple<std::uint64_t, unsigned, Registers>> seen;
  while (!queue.empty() && seen.size() < kMostSteps && !flow_.file().budget().is_exhausted()) {
    const Reached reached = queue.front();
    queue.pop_front();
    const unsigned distance = reached.distance + 1;
    const Predecessors& predecessors = predecessors_of(reached.address);
    Candidate caller{.address = {}, .distance = distance, .accesses = {}};
    add_unknown(predecessors.unknown, reached.registers, caller.accesses);
    if (!caller.accesses.known.empty()) found.push_back(std::move(caller));
    for (const std::uint64_t one : predecessors.known) {
      const Step& step = step_at(one);
      if (!step.instruction) continue;
      const Reached next{one, undo(step.effects, reached.registers), distance};
      flow_.file().budget().take(kCostOfStep);
      if (!seen.emplace(one, distance, next.registers).second) continue;
      Candidate candidate{.address = one, .distance = distance, .accesses = {}};
      add_by_registers_after(one, reached.registers, address, candidate.accesses);
      if (!candidate.accesses.none()) found.push_back(std::move(candidate));
      if (distance < kLongest) queue.push_back(next);
    }
  }
  return found;
}

}  // namespace skid::witness
