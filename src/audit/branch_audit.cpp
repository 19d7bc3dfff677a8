// Judges branch records by the code of the recorded files. docs/audit.md, "Branch records", has
// the rules.
//
// Two checks judge a record. For one from 0x1058 to 0x1020 whose preceding target is 0x1050:
//
//   0x1050  mov (%rdi), %rax    run() decodes the code from the preceding target on. An instruction
//   0x1053  add $8, %rdi        must begin at 0x1058, and none before it may branch away without a
//   0x1057  nop                 condition, because that branch would have a record
//   0x1058  jne 0x1020          branch() decodes the source. It must be a branch of the recorded
//                               type, and lead to 0x1020 if its target is fixed
//
// The record is impossible if either check finds a fault, and possible if one of them is decided
// and none finds a fault. If the file is missing, only addresses are compared: 0x1058 must not be
// below 0x1050.
//
// The code of the kernel and its modules is judged where its file states that it is as in memory
// (KernelCode).
#include "src/audit/branch_audit.h"

#include "analysis/share.h"
#include "src/audit/branch_counter.h"
#include "src/audit/branch_filter.h"
#include "src/audit/kernel_code.h"
#include "src/code/branches.h"
#include "src/code/code_budget.h"
#include "src/instructions/category.h"
#include "src/instructions/instruction.h"
#include "src/locate/digest.h"
#include "src/locate/mapping_name.h"
#include "src/locate/module_store.h"
#include "src/locate/visit_records.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/profile.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"
#include "src/symbols/disassembler.h"
#include "src/symbols/location.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/module.h"
#include "src/symbols/region.h"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <linux/perf_event.h>

namespace skid::audit {
namespace {

using instructions::Category;
using instructions::Flow;
using instructions::Instruction;
using instructions::kLongestInstruction;

template <typename Value>
std::size_t index_of(Value value) {
  return static_cast<std::size_t>(value);
}

/// Returns the type that the kernel gives a branch: branch_map in arch/x86/events/utils.c,
/// brbe_type_to_perf_type_map in drivers/perf/arm_brbe.c. 0: the type is not certain.
unsigned type_of(const Instruction& instruction) {
  if (!instruction.categories.contains(Category::branch)) return 0;
  if (instruction.categories.contains(Category::other)) return 0;  // far branches
  if (instruction.flow == Flow::call && !instruction.target) return PERF_BR_IND_CALL;
  constexpr std::array<unsigned, 6> kTypes{0,           PERF_BR_COND, PERF_BR_UNCOND,
                                           PERF_BR_IND, PERF_BR_CALL, PERF_BR_RET};  // by Flow
  return kTypes.at(index_of(instruction.flow));
}

/// Whether code cannot run past an instruction without a branch that is recorded. A jump or call to
/// the next instruction is not relied on: call-stack modes leave it out.
bool branches_away(const Instruction& instruction, std::uint64_t address) {
  if (instruction.flow == Flow::jump || instruction.flow == Flow::call) {
    return instruction.target != address + instruction.length;
  }
  return instruction.flow == Flow::indirect_jump || code::returns(instruction);
}

/// The result of one check: nothing wrong, a fault, or the reason why it cannot be decided. Also
/// the verdict on a record.
struct BranchVerdict {
  BranchFault fault = BranchFault::none;
  BranchUnjudged unjudged = BranchUnjudged::none;  ///< none: it is judged
  /// Why only addresses were compared; none: the code was.
  BranchUnjudged by_addresses = BranchUnjudged::none;
  /// The file whose code would be needed; kNoFile: none.
  symbols::FileIndex missing = symbols::Region::kNoFile;
};

constexpr BranchVerdict kUndecided{.unjudged = BranchUnjudged::undecided};

/// Judges the records of a recording by the code of its files.
class BranchJudge {
 public:
  explicit BranchJudge(const measure::Profile& profile)
      : spaces_(profile.digest.spaces),
        modules_(profile.modules),
        arch_(profile.arch()),
        fuses_(arch_ == Arch::x86_64 && profile.machine().cpu.vendor != "GenuineIntel") {}

  BranchVerdict judge(const CountedBranch& record) {
    if (record.fault != BranchFault::none) return {.fault = record.fault};
    if (record.crossing != CountedBranch::Crossing::none) return crossing(record);
    const BranchVerdict of_branch = branch(record);
    if (of_branch.fault != BranchFault::none) return {.fault = of_branch.fault};
    const BranchVerdict of_run = run(record);
    const BranchUnjudged reason = of_branch.unjudged;
    BranchVerdict verdict{.fault = of_run.fault, .missing = of_branch.missing};
    if (verdict.fault != BranchFault::none) {
      if (verdict.fault == BranchFault::backward) verdict.by_addresses = reason;
      return verdict;
    }
    if (reason == BranchUnjudged::none || of_run.unjudged == BranchUnjudged::none) return {};
    const bool by_addresses =
        reason != BranchUnjudged::undecided && record.run_kind == CountedBranch::Run::mapped;
    (by_addresses ? verdict.by_addresses : verdict.unjudged) = reason;
    return verdict;
  }

  /// A place in a module whose code can be used, or the reason why it cannot.
  struct Code {
    const symbols::Module* module = nullptr;  ///< null: see `problem`
    std::uint64_t address = 0;                ///< link-time
    const KernelCode* kernel = nullptr;       ///< what a file of the kernel states of its code
    BranchUnjudged problem = BranchUnjudged::none;
  };
  Code code_at(const symbols::FileLocation& place) {
    if (place.file == symbols::Region::kNoFile) return {.problem = BranchUnjudged::unmapped};
    Code code = file(place.file);
    if (code.module == nullptr) return code;
    if (code.kernel != nullptr && !code.module->is_kernel_module()) {
      code.address = code.kernel->link_address(place.offset);
      return code;
    }
    const auto address = code.module->address_at(place.offset);
    if (!address) return {.problem = BranchUnjudged::no_file};
    code.address = *address;
    return code;
  }

 private:
  /// Returns the module of a file, without an address.
  const Code& file(symbols::FileIndex index) {
    const auto [entry, is_new] = files_.try_emplace(index);
    Code& found = entry->second;
    if (!is_new) return found;
    const symbols::MappedFile& mapped = spaces_.file(index);
    if (mapped.build_id.empty()) {
      // All records would contradict the code of another build: only the recorded one is used.
      const bool is_file = !locate::is_pseudo_file(mapped.path) && mapped.symbol_size == 0;
      found.problem = is_file || mapped.path == locate::kKernelName ? BranchUnjudged::unverified
                                                                    : BranchUnjudged::unmapped;
      return found;
    }
    const symbols::Module* module = modules_.find(mapped).module;
    if (module == nullptr || !module->has_code()) {
      found.problem = BranchUnjudged::no_file;
    } else if (!module->arch() || module->arch() != arch_) {
      found.problem = BranchUnjudged::machine;
    } else {
      found.module = module;
    }
    const bool is_kernel = mapped.path == locate::kKernelName;
    if (found.module == nullptr || (!is_kernel && !module->is_kernel_module())) return found;
    const auto& reference = spaces_.kernel_reference();
    auto kernel = module->is_kernel_module() ? KernelCode::read_module(*module)
                  : reference                ? KernelCode::read(*module, *reference)
                                             : std::nullopt;
    if (kernel) {
      found.kernel = &kernels_.emplace_back(std::move(*kernel));
    } else {
      found = {.problem = BranchUnjudged::patched};
    }
    return found;
  }

  /// Whether an instruction may be one that writes to registers of the system.
  bool writes_system_register(const Instruction& instruction) const {
    // Hints, such as PACIASP, are not; all others of their group enter the system.
    return instruction.categories.contains(Category::other) &&
           (arch_ != Arch::aarch64 || instruction.enters_system);
  }

  /// Whether the kernel may have replaced an instruction, or one that it may be fused with.
  bool may_be_patched(const Code& code, const Instruction& instruction) const {
    const bool may_follow = fuses_ && instruction.flow == Flow::next;
    const std::uint64_t length = may_follow ? kLongestInstruction : instruction.length;
    const AddressRange range{code.address, code.address + length};
    return code.kernel != nullptr &&
           (code.kernel->is_patched(range) || code.kernel->is_unresolved(range));
  }

  /// Returns the code from an address on: at least the bytes of the longest instruction, unless the
  /// code ends before them.
  std::span<const std::byte> bytes_at(const symbols::Module& module, std::uint64_t address) {
    constexpr std::uint64_t kBytes = 4096;
    const bool is_in = window_of_ == &module && window_begin_ <= address &&
                       address - window_begin_ + kLongestInstruction <= window_.size();
    if (!is_in) {
      window_of_ = &module;
      window_begin_ = address;
      window_ = module.code({address, address + std::min(kBytes, UINT64_MAX - address)});
    }
    return std::span<const std::byte>(window_).subspan(address - window_begin_);
  }

  std::optional<Instruction> instruction_at(const symbols::Module& module, std::uint64_t address) {
    return instructions::classify(*arch_, bytes_at(module, address), address);
  }

  /// Whether the instruction before a place is a call, in any decoding of the bytes before the
  /// place.
  bool follows_call(const Code& code) {
    constexpr std::uint64_t kLongestCall = 10;  // with prefixes, ModRM, SIB and displacement
    const bool is_x86 = arch_ == Arch::x86_64;
    const std::uint64_t first = is_x86 ? 2 : 4, last = is_x86 ? kLongestCall : 4;
    for (std::uint64_t length = first; length <= std::min(last, code.address); ++length) {
      const auto before = instruction_at(*code.module, code.address - length);
      if (before && before->length == length && before->flow == Flow::call) return true;
    }
    return false;
  }

  /// Judges a record whose `from` is an instruction that is not a branch.
  BranchVerdict no_branch(const CountedBranch& branch, const Code& code,
                          const Instruction& instruction) {
    // The kernel replaces NOPs at uprobes by calls (arch/x86/kernel/uprobes.c), and so do tracers.
    if (instruction.enters_system || instruction.categories.contains(Category::nop))
      return kUndecided;
    if (!fuses_) return {.fault = BranchFault::not_a_branch};
    // get_branch_type() of the kernel looks for the branch in the 15 bytes from `from` on.
    std::uint64_t offset = instruction.length;
    while (offset < kLongestInstruction) {
      const auto next = instruction_at(*code.module, code.address + offset);
      if (!next) return kUndecided;
      if (next->flow != Flow::next) {
        CountedBranch shifted = branch;
        shifted.distance -= offset;
        const BranchVerdict found = transfer(shifted, *next, code.address + offset);
        if (found.fault != BranchFault::none) break;
        return kUndecided;
      }
      offset += next->length;
    }
    return {.fault = BranchFault::not_a_branch};
  }

  /// Whether a branch can lead to the recorded target.
  BranchVerdict transfer(const CountedBranch& branch, const Instruction& instruction,
                         std::uint64_t address) {
    if (instruction.target) {
      // The target of XBEGIN is that of aborts.
      if (!instruction.categories.contains(Category::branch)) return kUndecided;
      const bool is_right = *instruction.target - address == branch.distance;
      return {.fault = is_right ? BranchFault::none : BranchFault::wrong_target};
    }
    if (instruction.flow == Flow::leaves && !code::returns(instruction)) return kUndecided;
    if (!code::returns(instruction)) return {};
    // A return to another place than after a call is used as a jump: by retpolines, unwinding, and
    // switches between coroutines.
    const Code after = code_at(branch.to);
    if (after.module == nullptr) return {.unjudged = after.problem};
    if (follows_call(after)) return {};
    return kUndecided;
  }

  /// Judges a record between user mode and the kernel by the code of the kernel.
  BranchVerdict crossing(const CountedBranch& record) {
    constexpr BranchVerdict kNotKnown{.unjudged = BranchUnjudged::kernel};
    const bool enters = record.crossing == CountedBranch::Crossing::enters_kernel;
    const Code code = code_at(enters ? record.to : record.from);
    if (code.kernel == nullptr || !code.kernel->is_code(code.address)) return kNotKnown;
    // Guests, whose addresses can look like those of user mode, enter and leave in modules.
    if (code.module->is_kernel_module()) return kNotKnown;
    if (enters) {
      const bool is_right = code.kernel->is_entry(code.address);
      return {.fault = is_right ? BranchFault::none : BranchFault::wrong_entry};
    }
    const auto instruction = instruction_at(*code.module, code.address);
    if (!instruction || may_be_patched(code, *instruction)) return kNotKnown;
    const bool is_far = code::returns(*instruction)
                            ? instruction->categories.contains(Category::other)
                            : instruction->enters_system;
    if (instruction->flow == Flow::leaves && is_far) return {};  // IRET, SYSRET, ERET
    const BranchVerdict found = instruction->flow == Flow::next
                                    ? no_branch(record, code, *instruction)
                                    : transfer(record, *instruction, code.address);
    return found.fault == BranchFault::none ? kNotKnown : found;
  }

  /// The verdict on a record that is not judged because the code at a place cannot be used.
  BranchVerdict without_code(const Code& code, const symbols::FileLocation& place) {
    const bool is_missing = place.file != symbols::Region::kNoFile &&
                            file(place.file).problem == BranchUnjudged::no_file;
    return {.unjudged = code.problem,
            .missing = is_missing ? place.file : symbols::Region::kNoFile};
  }

  BranchVerdict branch(const CountedBranch& branch) {
    const Code code = code_at(branch.from);
    if (code.module == nullptr) return without_code(code, branch.from);
    const auto instruction = instruction_at(*code.module, code.address);
    if (!instruction) return kUndecided;
    if (may_be_patched(code, *instruction)) {
      return {.unjudged = BranchUnjudged::patched};
    }
    const Code to = code_at(branch.to);
    if (code.module->is_kernel_module() && to.kernel == nullptr) {
      // An exception may occur at any instruction. Where it enters is in the file of the kernel.
      const bool leads_anywhere =
          instruction->flow == Flow::indirect_jump ||
          (instruction->flow == Flow::call && !instruction->target.has_value());
      return leads_anywhere ? BranchVerdict() : without_code(to, branch.to);
    }
    if (to.kernel != nullptr && to.kernel->is_entry(to.address)) return kUndecided;
    if (instruction->flow == Flow::next) return no_branch(branch, code, *instruction);
    const BranchVerdict found = transfer(branch, *instruction, code.address);
    if (found.fault != BranchFault::none) return found;
    const unsigned type = type_of(*instruction);
    const bool is_recorded = branch.type >= PERF_BR_COND && branch.type <= PERF_BR_RET;
    if (is_recorded && type != 0 && type != branch.type) return {.fault = BranchFault::wrong_type};
    return found;
  }

  /// Whether code runs straight from the preceding target to `from`.
  BranchVerdict run(const CountedBranch& branch) {
    constexpr std::uint64_t kLongestRun = std::uint64_t{1} << 20;
    if (branch.run_kind == CountedBranch::Run::none) return kUndecided;
    if (branch.run_kind == CountedBranch::Run::backward) return {.fault = BranchFault::backward};
    const Code code = code_at(branch.before);
    if (code.module == nullptr) return {.unjudged = code.problem};
    // What the kernel leaves out may be between: see branch_counter.cpp. It does not begin and end
    // in one function, but around instructions that write to registers of the system.
    const bool is_kernel = code.kernel != nullptr;
    const auto function = is_kernel ? code.module->function_range_at(code.address) : std::nullopt;
    if (is_kernel && !(function && branch.run < function->end - code.address)) return kUndecided;
    std::uint64_t offset = 0;
    while (offset < branch.run) {
      if (offset > kLongestRun || budget_.is_exhausted()) return kUndecided;
      const std::uint64_t address = code.address + offset;
      const auto instruction = instruction_at(*code.module, address);
      if (!instruction) return kUndecided;
      if (is_kernel && code.kernel->is_patched({address, address + instruction->length})) {
        return {.unjudged = BranchUnjudged::patched};
      }
      if (is_kernel && writes_system_register(*instruction)) return kUndecided;
      if (branches_away(*instruction, address)) return {.fault = BranchFault::leaves};
      // A trap enters the kernel, which may continue after the instruction.
      if (instruction->flow == Flow::leaves) return kUndecided;
      offset += instruction->length;
      budget_.take(1);
    }
    return {.fault = offset == branch.run ? BranchFault::none : BranchFault::inside_instruction};
  }

  const symbols::AddressSpaces& spaces_;
  locate::ModuleStore& modules_;
  std::optional<Arch> arch_;
  /// Whether `from` may be an instruction before the branch that it is fused with, as the LBR of
  /// AMD records it (get_branch_type() in arch/x86/events/utils.c).
  bool fuses_;
  std::map<symbols::FileIndex, Code> files_;
  std::deque<KernelCode> kernels_;  ///< of the kernel and its modules
  /// The code that was read last, and where it is.
  const symbols::Module* window_of_ = nullptr;
  std::uint64_t window_begin_ = 0;
  std::vector<std::byte> window_;
  code::CodeBudget budget_;  ///< limits the instructions of runs that are decoded
};

/// The worst places of an event.
class Places {
 public:
  void add(CountedBranch branch, BranchFault fault) {
    const bool by_run = fault == BranchFault::backward || fault == BranchFault::leaves ||
                        fault == BranchFault::inside_instruction;
    if (!by_run) branch.before = CountedBranch{}.before;
    branch.fault = fault;
    const auto [known, is_new] =
        found_.try_emplace({fault, branch.from, branch.to, branch.before}, branch);
    if (!is_new) known->second.records += branch.records;
  }
  std::size_t size() const { return found_.size(); }

  std::vector<ImpossibleBranch> worst(BranchJudge& judge, const locate::Digest& digest,
                                      std::size_t top) const {
    std::vector<const CountedBranch*> order;
    for (const auto& [key, branch] : found_) order.push_back(&branch);
    std::ranges::stable_sort(order, std::greater{}, &CountedBranch::records);
    if (order.size() > top) order.resize(top);
    std::vector<ImpossibleBranch> described;
    for (const CountedBranch* branch : order) described.push_back(describe(*branch, judge, digest));
    return described;
  }

 private:
  using Key =
      std::tuple<BranchFault, symbols::FileLocation, symbols::FileLocation, symbols::FileLocation>;

  static ImpossibleBranch describe(const CountedBranch& branch, BranchJudge& judge,
                                   const locate::Digest& digest) {
    const auto address_of = [&](const symbols::FileLocation& place) {
      const auto code = judge.code_at(place);
      return code.module == nullptr ? place.offset : code.address;
    };
    ImpossibleBranch one;
    one.fault = branch.fault;
    one.records = branch.records;
    one.from = address_of(branch.from);
    one.to = address_of(branch.to);
    const bool has_before =
        branch.before.file != symbols::Region::kNoFile || branch.fault == BranchFault::backward;
    if (has_before) one.preceding_to = address_of(branch.before);
    one.offset = one.from;
    if (branch.from.file != symbols::Region::kNoFile) {
      one.module = digest.spaces.file(branch.from.file).path;
    }
    const auto code = judge.code_at(branch.from);
    if (code.module == nullptr) return one;
    if (auto function = code.module->function_at(code.address)) {
      one.function = std::move(function->name);
      one.offset = code.address - function->range.begin;
    }
    const auto bytes = code.module->code({code.address, code.address + kLongestInstruction});
    for (const auto& line :
         symbols::Disassembler(*code.module->arch()).decode(bytes, code.address, 1)) {
      one.text = line.text;
    }
    return one;
  }

  std::map<Key, CountedBranch> found_;  ///< with their faults, and the records of all alike
};

/// Counts the records of all events that have branch stacks.
class BranchReader {
 public:
  explicit BranchReader(const measure::Profile& profile)
      : recording_(profile.recording), counter_(profile.digest.spaces, profile.arch()) {
    for (const auto& event : profile.events) {
      if (!event.attribute.has(PERF_SAMPLE_BRANCH_STACK)) continue;
      filters_[event.index] = branch_filter(event.attribute, profile.arch());
      audit.events[event.index].no_contiguity = filters_[event.index].no_contiguity;
    }
  }

  void add(const locate::VisitedRecord& visited) {
    if (visited.sample == nullptr) return;
    const auto event = audit.events.find(visited.sample->attribute);
    if (event == audit.events.end()) return;
    const auto& decoder = recording_.decoder();
    const auto details = decoder.details(visited.record, *visited.sample);
    if (!details) {
      ++event->second.damaged_stacks;
      return;
    }
    counter_.count(*visited.sample, filters_.at(event->first), details->branch_stack,
                   decoder.order(), decoder.time_of(visited.record, *visited.sample),
                   event->second);
  }

  std::vector<CountedBranch> take() { return counter_.take(); }

  BranchAudit audit;  ///< what needs no code

 private:
  const perfdata::Recording& recording_;
  std::map<std::uint32_t, BranchFilter> filters_;
  BranchCounter counter_;
};

/// Judges the branch records that were counted.
BranchAudit judge_branches(const measure::Profile& profile, std::size_t top, BranchReader& reader) {
  BranchAudit& audit = reader.audit;
  auto branches = reader.take();
  // Sorted by file and offset, so that the code is read from front to back, and in the same order
  // each time.
  std::ranges::sort(branches, {}, [](const CountedBranch& one) {
    return std::tuple(one.from, one.to, one.before, one.attribute, one.type, one.run);
  });
  BranchJudge judge(profile);
  std::map<std::uint32_t, Places> places;
  for (const CountedBranch& branch : branches) {
    BranchRecords& event = audit.events.at(branch.attribute);
    const BranchVerdict verdict = judge.judge(branch);
    if (verdict.missing != symbols::Region::kNoFile)
      audit.missing[verdict.missing] += branch.records;
    if (verdict.unjudged != BranchUnjudged::none) {
      event.not_judged[index_of(verdict.unjudged)] += branch.records;
      continue;
    }
    event.judged += branch.records;
    event.by_addresses[index_of(verdict.by_addresses)] += branch.records;
    event.faults[index_of(verdict.fault)] += branch.records;
    if (verdict.fault != BranchFault::none) places[branch.attribute].add(branch, verdict.fault);
  }
  for (auto& [attribute, event] : audit.events) {
    std::uint64_t impossible = 0;
    for (std::size_t i = 1; i < kBranchFaults; ++i) impossible += event.faults[i];
    event.impossible = analysis::wilson_interval(impossible, event.judged);
    event.impossible_places = places[attribute].size();
    event.worst = places[attribute].worst(judge, profile.digest, top);
  }
  return std::move(audit);
}

}  // namespace

locate::RecordCheck<BranchAudit> audit_branch_records(const measure::Profile& profile,
                                                      std::size_t top) {
  const auto reader = std::make_shared<BranchReader>(profile);
  return {reader->audit.events.empty()
              ? locate::Visitor()
              : [reader](const locate::VisitedRecord& visited) { reader->add(visited); },
          [&profile, top, reader] { return judge_branches(profile, top, *reader); }};
}

}  // namespace skid::audit
