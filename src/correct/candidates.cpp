#include "src/correct/candidates.h"

#include <algorithm>
#include <map>

namespace skid::correct {
namespace {

using instructions::Access;
using instructions::Category;
using instructions::Instruction;
using instructions::MemoryOperand;

/// More are as good as unknown.
constexpr std::size_t kMostCandidates = 64;

bool is_in_parts(const Instruction& instruction) {
  return instruction.repeats ||
         std::any_of(instruction.memory.begin(), instruction.memory.end(),
                     [](const MemoryOperand& operand) { return operand.vector_of_addresses; });
}

/// Whether it jumps by a table of constants.
bool jumps_by_constants(const Instruction& instruction, const Suspicion& suspicion) {
  return instruction.flow == instructions::Flow::indirect_jump &&
         std::any_of(instruction.memory.begin(), instruction.memory.end(),
                     [&](const MemoryOperand& operand) {
                       return operand.indexed_from &&
                              std::any_of(suspicion.read_only.begin(), suspicion.read_only.end(),
                                          [&](const AddressRange& range) {
                                            return range.contains(*operand.indexed_from);
                                          });
                     });
}

bool can_touch(const MemoryOperand& operand, const Suspicion& suspicion) {
  const bool writes = operand.access == Access::write || operand.access == Access::read_write;
  if (suspicion.writes_only ? !writes : operand.access == Access::none) return false;
  if (operand.on_stack) return !suspicion.stack_is_elsewhere;
  if (!operand.fixed) return true;
  // Modulo 2^64, as the difference between the addresses of the file and those in the process.
  return operand.fixed->begin - suspicion.watched < suspicion.length ||
         suspicion.watched - operand.fixed->begin < operand.fixed->size();
}

/// Addresses that may have been executed some steps before the sample, each with the last step.
using Reached = std::map<std::uint64_t, std::uint64_t>;

/// Branches of any function whose target is the watched datum can lead to all that is entered so.
void add_branches_through_datum(Flow& flow, const Suspicion& suspicion, Candidates& candidates) {
  const AddressRange watched{suspicion.watched, suspicion.watched + suspicion.length};
  for (const std::uint64_t from : flow.branches_through(watched)) {
    const auto instruction = flow.instruction_at(from);
    if (instruction && suspicion.allows(*instruction)) candidates.known.push_back({from, from});
  }
}

}  // namespace

bool Suspicion::allows(const Instruction& instruction) const {
  if (!is_breakpoint) {
    return causes.empty() ||
           events::verdict_on(causes, instruction.categories) != events::Verdict::never;
  }
  if (jumps_by_constants(instruction, *this)) return false;
  // System instructions and flushes of cache lines access memory without an operand.
  const auto& categories = instruction.categories;
  const bool has_none = instruction.memory.empty() && categories.contains(Category::other);
  return has_none || categories.contains(Category::flush) ||
         std::any_of(instruction.memory.begin(), instruction.memory.end(),
                     [&](const MemoryOperand& operand) { return can_touch(operand, *this); });
}

bool Suspicion::takes_always(const Instruction& instruction) const {
  if (!is_breakpoint) {
    return !causes.empty() &&
           events::verdict_on(causes, instruction.categories) == events::Verdict::can;
  }
  return !is_in_parts(instruction) &&
         std::any_of(instruction.memory.begin(), instruction.memory.end(),
                     [&](const MemoryOperand& operand) {
                       return operand.fixed && can_touch(operand, *this);
                     });
}

bool Suspicion::counts(const Predecessor& one) const {
  const bool is_fused = unfused == nullptr || !unfused->contains(one.leads_from);
  switch (one.tie) {
    case Tie::fused:
      return is_fused;
    case Tie::may_fuse:
      return is_fused && is_breakpoint && !fuses_as_intel;
    case Tie::late_traps:
      return is_breakpoint;
    case Tie::none:
      break;
  }
  return true;
}

Candidates candidates_of(Flow& flow, std::uint64_t address, const Suspicion& suspicion) {
  Candidates result;
  const auto sampled = flow.instruction_at(address);
  result.sampled_allowed = sampled && suspicion.allows(*sampled);
  if (result.sampled_allowed && suspicion.skid == 1 && is_in_parts(*sampled)) {
    result.known.push_back({address, address});
  }
  Reached reached{{address, address}};
  for (unsigned step = 1; step <= suspicion.skid; ++step) {
    Reached before;
    for (const auto& [from, last] : reached) {
      const Predecessors predecessors = flow.predecessors(from);
      const bool is_last = step == suspicion.skid;
      result.unknown |= predecessors.anything;
      for (const Instruction& unknown : predecessors.unknown) {
        result.unknown |= !is_last || suspicion.allows(unknown);
      }
      if (suspicion.is_breakpoint && predecessors.computed) {
        add_branches_through_datum(flow, suspicion, result);
      }
      for (const Predecessor& one : predecessors.known) {
        if (!suspicion.counts(one)) continue;
        const std::uint64_t leads_from = step == 1 ? one.leads_from : last;
        if (!is_last) {
          before.emplace(one.address, leads_from);
        } else if (suspicion.allows(one.instruction)) {
          result.known.push_back({one.address, leads_from});
        }
      }
    }
    if (before.size() > kMostCandidates) {
      result.unknown = true;
      break;
    }
    reached = std::move(before);
  }
  std::sort(result.known.begin(), result.known.end());
  const auto same = [](const Candidate& a, const Candidate& b) { return a.address == b.address; };
  result.known.erase(std::unique(result.known.begin(), result.known.end(), same),
                     result.known.end());
  if (result.known.size() > kMostCandidates) {
    result.known.clear();
    result.unknown = true;
  }
  return result;
}

}  // namespace skid::correct
