#include "src/audit/branch_judge.h"

#include "src/locate/mapping_name.h"
#include "src/perfdata/branch_stack.h"

#include <algorithm>

namespace skid::audit {
namespace {

using instructions::Category;
using instructions::Flow;
using instructions::Instruction;
using instructions::kLongestInstruction;

/// The type that the kernel gives a branch: branch_map in arch/x86/events/utils.c,
/// brbe_type_to_perf_type_map in drivers/perf/arm_brbe.c. 0: none that is certain.
unsigned type_of(const Instruction& instruction) {
  if (!instruction.categories.contains(Category::branch)) return 0;
  if (instruction.categories.contains(Category::other)) return 0;  // far ones
  switch (instruction.flow) {
    case Flow::conditional:
      return PERF_BR_COND;
    case Flow::jump:
      return PERF_BR_UNCOND;
    case Flow::indirect_jump:
      return PERF_BR_IND;
    case Flow::call:
      return instruction.target ? PERF_BR_CALL : PERF_BR_IND_CALL;
    case Flow::leaves:
      return PERF_BR_RET;
    default:
      return 0;
  }
}

/// Whether code cannot run past an instruction without a branch that is recorded. A jump or call to
/// the next instruction is not relied on: call-stack modes leave it out.
bool branches_away(const Instruction& instruction, std::uint64_t address) {
  switch (instruction.flow) {
    case Flow::jump:
    case Flow::call:
      return instruction.target != address + instruction.length;
    case Flow::indirect_jump:
      return true;
    default:
      return returns(instruction);
  }
}

}  // namespace

const BranchJudge::File& BranchJudge::file(symbols::FileIndex index) {
  const auto known = files_.find(index);
  if (known != files_.end()) return known->second;
  File found;
  const symbols::MappedFile& mapped = spaces_.file(index);
  if (mapped.build_id.empty()) {
    // Code of another build would accuse all of its records: only the recorded one is used.
    found.problem =
        locate::is_pseudo_file(mapped.path) ? BranchUnjudged::unmapped : BranchUnjudged::unverified;
    return files_.emplace(index, found).first->second;
  }
  const symbols::Module* module = modules_.find(mapped).module;
  if (module == nullptr || !module->has_code()) {
    found.problem = BranchUnjudged::no_file;
  } else if (!module->arch() || module->arch() != arch_) {
    found.problem = BranchUnjudged::machine;
  } else {
    found.module = module;
  }
  return files_.emplace(index, found).first->second;
}

BranchJudge::Code BranchJudge::code_at(const BranchPlace& place) {
  if (place.file == symbols::Region::kNoFile) return {.problem = BranchUnjudged::unmapped};
  const File& holder = file(place.file);
  if (holder.module == nullptr) return {.problem = holder.problem};
  const auto address = holder.module->address_at(place.offset);
  if (!address) return {.problem = BranchUnjudged::no_file};
  return {holder.module, *address, BranchUnjudged::none};
}

/// The code from an address on, at least one instruction's bytes unless the file ends before.
std::span<const std::byte> BranchJudge::bytes_at(const symbols::Module& module,
                                                 std::uint64_t address) {
  constexpr std::uint64_t kBytes = 4096;
  const bool is_in = window_.module == &module && window_.begin <= address &&
                     address - window_.begin + kLongestInstruction <= window_.bytes.size();
  if (!is_in) {
    window_.module = &module;
    window_.begin = address;
    const std::uint64_t end = address + std::min(kBytes, UINT64_MAX - address);
    window_.bytes = module.code({address, end});
  }
  return std::span<const std::byte>(window_.bytes).subspan(address - window_.begin);
}

std::optional<Instruction> BranchJudge::instruction_at(const symbols::Module& module,
                                                       std::uint64_t address) {
  return instructions::classify(*arch_, bytes_at(module, address), address);
}

/// Whether the instruction before a place is a call, as far as any decoding of the bytes before it
/// gives one.
bool BranchJudge::follows_call(const Code& code) {
  constexpr std::uint64_t kLongestCall = 10;  // with prefixes, ModRM, SIB and displacement
  const bool is_x86 = arch_ == Arch::x86_64;
  const std::uint64_t first = is_x86 ? 2 : 4, last = is_x86 ? kLongestCall : 4;
  for (std::uint64_t length = first; length <= std::min(last, code.address); ++length) {
    const auto before = instruction_at(*code.module, code.address - length);
    if (before && before->length == length && before->flow == Flow::call) return true;
  }
  return false;
}

/// A record whose `from` is an instruction that is no branch.
BranchJudge::Finding BranchJudge::no_branch(const CountedBranch& branch, const Code& code,
                                            const Instruction& instruction) {
  // The kernel replaces NOPs at uprobes by calls (arch/x86/kernel/uprobes.c), tracers do, too.
  if (instruction.enters_system || instruction.categories.contains(Category::nop))
    return kUndecided;
  if (!fuses_) return {.fault = BranchFault::not_a_branch};
  // get_branch_type() looks for the branch in the 15 bytes from `from` on.
  std::uint64_t offset = instruction.length;
  while (offset < kLongestInstruction) {
    const auto next = instruction_at(*code.module, code.address + offset);
    if (!next) return kUndecided;
    if (next->flow != Flow::next) {
      CountedBranch shifted = branch;
      shifted.distance -= offset;
      const Finding found = transfer(shifted, *next, code.address + offset);
      if (found.fault != BranchFault::none) break;
      return kUndecided;
    }
    offset += next->length;
  }
  return {.fault = BranchFault::not_a_branch};
}

/// Whether a branch can lead to the recorded target.
BranchJudge::Finding BranchJudge::transfer(const CountedBranch& branch,
                                           const Instruction& instruction, std::uint64_t address) {
  if (instruction.target) {
    // XBEGIN: its target is that of aborts.
    if (!instruction.categories.contains(Category::branch)) return kUndecided;
    const bool is_right = *instruction.target - address == branch.distance;
    return {.fault = is_right ? BranchFault::none : BranchFault::wrong_target};
  }
  if (instruction.flow == Flow::leaves && !returns(instruction)) return kUndecided;
  if (!returns(instruction)) return {};
  // Other returns are jumps: retpolines, unwinding, switches between coroutines.
  const Code after = code_at(branch.to);
  if (after.module == nullptr) return {.unknown = after.problem};
  if (follows_call(after)) return {};
  return kUndecided;
}

BranchJudge::Finding BranchJudge::branch(const CountedBranch& branch) {
  const Code code = code_at(branch.from);
  if (code.module == nullptr) return {.unknown = code.problem};
  const auto instruction = instruction_at(*code.module, code.address);
  if (!instruction) return kUndecided;
  if (instruction->flow == Flow::next) return no_branch(branch, code, *instruction);
  const Finding found = transfer(branch, *instruction, code.address);
  if (found.fault != BranchFault::none) return found;
  const unsigned type = type_of(*instruction);
  const bool is_recorded = branch.type >= PERF_BR_COND && branch.type <= PERF_BR_RET;
  if (is_recorded && type != 0 && type != branch.type) return {.fault = BranchFault::wrong_type};
  return found;
}

/// Whether code runs straight from the preceding target to `from`.
BranchJudge::Finding BranchJudge::run(const CountedBranch& branch) {
  constexpr std::uint64_t kLongestRun = std::uint64_t{1} << 20;
  if (branch.run_kind == CountedBranch::Run::none) return kUndecided;
  if (branch.run_kind == CountedBranch::Run::backward) return {.fault = BranchFault::backward};
  const Code code = code_at(branch.before);
  if (code.module == nullptr) return {.unknown = code.problem};
  std::uint64_t offset = 0;
  while (offset < branch.run) {
    if (offset > kLongestRun || budget_.is_exhausted()) return kUndecided;
    const std::uint64_t address = code.address + offset;
    const auto instruction = instruction_at(*code.module, address);
    if (!instruction) return kUndecided;
    if (branches_away(*instruction, address)) return {.fault = BranchFault::leaves};
    // Traps end in the kernel, which may continue after them.
    if (instruction->flow == Flow::leaves) return kUndecided;
    offset += instruction->length;
    budget_.take(1);
  }
  return {.fault = offset == branch.run ? BranchFault::none : BranchFault::inside_instruction};
}

BranchVerdict BranchJudge::judge(const CountedBranch& record) {
  if (record.both_outcomes) return {.fault = BranchFault::both_outcomes};
  const Finding of_branch = branch(record);
  if (of_branch.fault != BranchFault::none) return {.fault = of_branch.fault};
  const Finding of_run = run(record);
  const BranchUnjudged reason = of_branch.unknown;
  BranchVerdict verdict{.fault = of_run.fault};
  const bool has_file = record.from.file != symbols::Region::kNoFile;
  if (has_file && file(record.from.file).problem == BranchUnjudged::no_file) {
    verdict.missing = record.from.file;
  }
  if (verdict.fault != BranchFault::none) {
    verdict.by_addresses = reason != BranchUnjudged::none && verdict.fault == BranchFault::backward;
    return verdict;
  }
  if (reason == BranchUnjudged::none || of_run.unknown == BranchUnjudged::none) return verdict;
  verdict.by_addresses =
      reason != BranchUnjudged::undecided && record.run_kind == CountedBranch::Run::mapped;
  if (!verdict.by_addresses) verdict.unjudged = reason;
  return verdict;
}

}  // namespace skid::audit
