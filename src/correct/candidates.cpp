// Traces samples back by the skid of their event to the instructions that can have caused it.
//
// Example: an event that stores cause, with a skid of 2 instructions. A sample is at 401016:
//
//   401000  movl $1, x(%rip)    2 steps before the sample, if the jump was taken
//   40100a  je 401016           1 step if it was taken, 2 steps if it was not
//   40100c  movl $2, y(%rip)    1 step before the sample
//   401016  ...                 sampled
//
// Two steps back are 401000 and 40100a (ControlFlow::predecessors(), twice). A conditional jump
// does not store (events::verdict_on() is `never`), so 401000 is the only candidate: the sample
// moves there. Its `leads_from` is 40100a, the last step of its path, which the branch record of a
// sample shows (splits.cpp). If there are several candidates, the sample is split between them.
//
// A breakpoint on data has a skid of 1: x86 traps after the access (Intel SDM Vol. 3, "Debug
// Exceptions"). Its candidates are the instructions that can have accessed the watched bytes.
// Operands at fixed addresses are compared with these; operands with registers can be anywhere.
#include "src/correct/candidates.h"

#include "src/code/control_flow.h"
#include "src/events/causes.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/instructions/instruction.h"
#include "src/support/address.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

namespace skid::correct {
namespace {

using instructions::Access;
using instructions::Category;
using instructions::Instruction;
using instructions::MemoryOperand;

/// The most candidates; if there are more, they count as unknown.
constexpr std::size_t kMostCandidates = 64;

bool is_in_parts(const Instruction& instruction) {
  return instruction.repeats ||
         std::ranges::any_of(instruction.memory, [](const MemoryOperand& operand) {
           return operand.vector_of_addresses;
         });
}

/// Whether an instruction jumps through a table of constants, which does not contain the watched
/// bytes.
bool jumps_by_constants(const Instruction& instruction, const Suspicion& suspicion) {
  return instruction.flow == instructions::Flow::indirect_jump &&
         std::ranges::any_of(instruction.memory, [&](const MemoryOperand& operand) {
           const auto& formula = operand.formula;
           return formula && formula->index && !formula->base && !formula->from_instruction &&
                  std::ranges::any_of(suspicion.read_only, [&](const AddressRange& range) {
                    return range.contains(formula->displacement);
                  });
         });
}

bool can_touch(const MemoryOperand& operand, const Suspicion& suspicion) {
  const bool writes = operand.access == Access::write || operand.access == Access::read_write;
  if (suspicion.writes_only ? !writes : operand.access == Access::none) return false;
  if (operand.on_stack) return !suspicion.stack_is_elsewhere;
  if (!operand.fixed) return true;
  // These addresses are modulo 2^64, like the difference between the addresses of the file and
  // those in the process.
  const std::uint64_t begin =
      operand.fixed->begin - (operand.formula->from_instruction ? 0 : suspicion.bias);
  return begin - suspicion.watched < suspicion.length ||
         suspicion.watched - begin < operand.fixed->size();
}

/// Addresses that may have been executed some steps before the sample, each with the last steps of
/// the paths from there to the sample.
using Reached = std::map<std::uint64_t, std::set<std::uint64_t>>;

/// Adds the branches through the watched datum, in any function: they can lead to every place that
/// computed calls and jumps enter.
void add_branches_through_datum(code::ControlFlow& flow, const Suspicion& suspicion,
                                Reached& known) {
  const AddressRange watched{suspicion.watched, suspicion.watched + suspicion.length};
  for (const std::uint64_t from : flow.branches_through(watched)) {
    const auto instruction = flow.instruction_at(from);
    if (instruction && suspicion.allows(*instruction)) known[from].insert(from);
  }
}

}  // namespace

bool Suspicion::allows(const Instruction& instruction) const {
  if (!is_breakpoint) {
    return causes.empty() ||
           events::verdict_on(causes, instruction.categories) != instructions::Verdict::never;
  }
  if (jumps_by_constants(instruction, *this)) return false;
  // Flushes of cache lines access memory without an operand. Instructions that enter the system do
  // so too, but in the kernel.
  return instruction.categories.contains(Category::flush) ||
         std::ranges::any_of(instruction.memory, [&](const MemoryOperand& operand) {
           return can_touch(operand, *this);
         });
}

bool Suspicion::counts(const code::Predecessor& one) const {
  const bool is_fused = unfused == nullptr || !unfused->contains(one.leads_from);
  if (one.tie == code::Tie::none) return true;
  if (one.tie == code::Tie::late_traps) return is_breakpoint;
  return is_fused && (one.tie == code::Tie::fused || (is_breakpoint && !fuses_as_intel));
}

Candidates candidates_of(code::ControlFlow& flow, std::uint64_t address,
                         const Suspicion& suspicion) {
  Candidates result;
  Reached known;
  const auto sampled = flow.instruction_at(address);
  result.sampled_allowed = sampled && suspicion.allows(*sampled);
  if (result.sampled_allowed && suspicion.skid == 1 && is_in_parts(*sampled)) {
    known[address].insert(address);
  }
  Reached reached{{address, {address}}};
  for (unsigned step = 1; step <= suspicion.skid; ++step) {
    Reached before;
    for (const auto& entry : reached) {
      const std::set<std::uint64_t>& lasts = entry.second;
      const code::Predecessors predecessors = flow.predecessors(entry.first);
      const bool is_last = step == suspicion.skid;
      result.unknown |= predecessors.anything;
      for (const Instruction& unknown : predecessors.unknown) {
        result.unknown |= !is_last || suspicion.allows(unknown);
      }
      if (suspicion.is_breakpoint && predecessors.computed) {
        add_branches_through_datum(flow, suspicion, known);
      }
      predecessors.for_each([&](const code::Predecessor& one) {
        auto& found = is_last ? known : before;
        if (found.size() > kMostCandidates || !suspicion.counts(one)) return;
        if (is_last && !suspicion.allows(one.instruction)) return;
        auto& leads_from = found[one.address];
        if (step == 1) {
          leads_from.insert(one.leads_from);
        } else {
          leads_from.insert(lasts.begin(), lasts.end());
        }
      });
    }
    if (before.size() > kMostCandidates) {
      result.unknown = true;
      break;
    }
    reached = std::move(before);
  }
  for (auto& [found, leads_from] : known) result.known.push_back({found, std::move(leads_from)});
  if (result.known.size() > kMostCandidates) {
    result.known.clear();
    result.unknown = true;
  }
  return result;
}

}  // namespace skid::correct
