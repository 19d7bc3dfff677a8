// Traces samples back by one instruction to those that can have caused their event.
//
// Example: an event that loads cause. A sample is at 40100c:
//
//   401000  cmp (%rdi), %rax
//   401003  je 40100c           one operation with the CMP
//   401005  mov 8(%rsi), %rcx
//   40100c  ...                 sampled
//
// The load at 401005 is executed directly before it, or the fused pair, of which the CMP loads: two
// candidates (ControlFlow::predecessors()). From the CMP a branch at 401003 leads to the sample,
// which a branch record of the sample shows. It accessed 8 bytes at RDI, and the MOV 8 bytes at RSI
// + 8, which the data address and the registers of the sample show (evidence.h).
//
// A breakpoint on data is sampled after the access (Intel SDM Vol. 3, "Debug Exceptions"). Its
// candidates are the instructions that can have accessed the watched bytes.
#include "src/correct/candidates.h"

#include "src/code/control_flow.h"
#include "src/events/causes.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/instructions/instruction.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace skid::correct {
namespace {

using instructions::Access;
using instructions::Category;
using instructions::Instruction;
using instructions::MemoryOperand;

/// Whether an instruction may have accessed the bytes that a breakpoint watches. Removes its
/// accesses of the stack if these are elsewhere.
bool may_touch(witness::Accesses& accesses, const Suspicion& suspicion) {
  if (suspicion.stack_is_elsewhere) {
    std::erase_if(accesses.known, [](const auto& one) {
      return one.base && one.base->from == instructions::kStackPointer;
    });
  }
  return witness::judge(accesses, *suspicion.watched).verdict != witness::Verdict::contradicted;
}

}  // namespace

bool Suspicion::allows(const Instruction& instruction) const {
  if (!watched) {
    return causes.empty() ||
           events::verdict_on(causes, instruction.categories) != instructions::Verdict::never;
  }
  // Flushes of cache lines access memory without an operand. Instructions that enter the system do
  // so too, but in the kernel.
  return instruction.categories.contains(Category::flush) ||
         std::ranges::any_of(instruction.memory, [&](const MemoryOperand& operand) {
           const bool writes =
               operand.access == Access::write || operand.access == Access::read_write;
           return !(operand.on_stack && stack_is_elsewhere) &&
                  (writes_only ? writes : operand.access != Access::none);
         });
}

bool Suspicion::counts(const code::Predecessor& one) const {
  const bool is_fused = unfused == nullptr || !unfused->contains(one.leads_from);
  if (one.tie == code::Tie::none) return true;
  if (one.tie == code::Tie::late_traps) return watched.has_value();
  return is_fused && (one.tie == code::Tie::fused || (watched && !fuses_as_intel));
}

Candidates find_candidates(code::ControlFlow& flow, witness::FileAccesses& accesses,
                           std::uint64_t address, const Suspicion& suspicion) {
  Candidates result;
  std::map<std::uint64_t, Candidate> known;
  const auto sampled = flow.instruction_at(address);
  result.sampled_allowed = sampled && suspicion.allows(*sampled);
  if (result.sampled_allowed && instructions::is_in_parts(*sampled)) {
    known[address] = {
        .address = address, .branches = {}, .accesses = {{}, witness::Unknown::operand}};
  }
  const code::Predecessors predecessors = flow.predecessors(address);
  result.unknown = predecessors.anything ||
                   std::ranges::any_of(predecessors.unknown, [&](const Instruction& unknown) {
                     return suspicion.allows(unknown);
                   });
  predecessors.for_each([&](const code::Predecessor& one) {
    if (known.size() > kMostCandidates || !suspicion.counts(one)) return;
    if (!suspicion.allows(one.instruction)) return;
    witness::Accesses accessed = accesses.of_predecessor(one, address);
    if (suspicion.watched && !may_touch(accessed, suspicion)) return;
    const auto [entry, is_new] = known.try_emplace(one.address);
    Candidate& candidate = entry->second;
    if (is_new) {
      candidate.address = one.address;
      candidate.accesses = std::move(accessed);
    } else if (one.address == address) {
      return;
    }
    const auto last = flow.instruction_at(one.leads_from);
    if (!last) return;
    const bool falls =
        instructions::falls_through(last->flow) && one.leads_from + last->length == address;
    candidate.falls_through |= falls;
    if (!falls || last->target == address) candidate.branches.push_back(one.leads_from);
  });
  if (known.size() > kMostCandidates) {
    known.clear();
    result.unknown = true;
  }
  for (auto& [at, candidate] : known) result.known.push_back(std::move(candidate));
  return result;
}

}  // namespace skid::correct
