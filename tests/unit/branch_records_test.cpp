// Which branch records an audit accuses: those of random walks through a program, which are what a
// CPU would have recorded, and the same with faults.
#include "src/audit/branch_records.h"

#include "src/audit/audit.h"
#include "src/perfdata/branch_entry.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/format.h"
#include "src/perfdata/sample.h"
#include "src/support/address.h"
#include "src/symbols/disassembler.h"
#include "src/symbols/module.h"
#include "tests/support/prelude.h"
#include "tests/support/recorded_program.h"
#include "tests/unit/audited_program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace skid::audit {
namespace {

using namespace perfdata;

constexpr const char* kX86 = R"(
  .globl _start
_start:
  movl $3, %ecx
outer:
  call leaf
  call *%rdx
  testl %eax, %eax
  je skip
  addl $2, %eax
skip:
  leaq 1(%rax), %rbx
  jmp *%rbx
case_a:
  incl %eax
  jmp join
case_b:
  decl %ecx
  cmpl $4, %ecx
  jne case_a
case_c:
  xorl %edx, %edx
join:
  nop
  decl %ecx
  jne outer
  jmp _start
middle:
  pushq %rbp
  call leaf
  popq %rbp
  ret
leaf:
  cmpq %rax, %rbx
  jbe leaf_end
  addq %rax, %rbx
  jmp leaf
leaf_end:
  ret
trap:
  ud2
  ret
)";

constexpr const char* kAarch64 = R"(
  .globl _start
_start:
  mov w1, #3
outer:
  bl leaf
  blr x2
  cbz w0, skip
  add w0, w0, #2
skip:
  add x3, x3, #1
  br x3
case_a:
  add w0, w0, #1
  b join
case_b:
  subs w1, w1, #1
  b.ne case_a
case_c:
  mov w2, wzr
join:
  nop
  tbnz w1, #0, outer
  b _start
middle:
  stp x29, x30, [sp, #-16]!
  bl leaf
  ldp x29, x30, [sp], #16
  ret
leaf:
  cmp x0, x1
  b.ls leaf_end
  add x1, x1, x0
  b leaf
leaf_end:
  ret
)";

constexpr std::uint64_t kPredicted = 2, kMispredicted = 1, kAborted = 8, kWrongPath = 1u << 24;
constexpr std::uint64_t kTypeShift = 20;
constexpr std::uint64_t kKernelText = 0xffff'ffff'8100'0000;

using Entry = test::BranchToBuild;
using Stack = std::vector<Entry>;  ///< the newest first

/// A recorded machine and its code.
struct Machine {
  const char* arch;
  const char* cpuid;
  Arch code;
};
constexpr Machine kSkylake{"x86_64", "GenuineIntel,6,94,3", Arch::x86_64};
constexpr Machine kZen4{"x86_64", "AuthenticAMD,25,97,2", Arch::x86_64};
constexpr Machine kArm{"aarch64", "0x00000000410fd4f0", Arch::aarch64};

enum class Way { on, call, jump, choice, ret };

/// By mnemonic where instructions lead; the others lead on.
const std::map<std::string, Way> kWays{
    {"call", Way::call},   {"bl", Way::call},     {"blr", Way::call},    {"jmp", Way::jump},
    {"b", Way::jump},      {"br", Way::jump},     {"je", Way::choice},   {"jne", Way::choice},
    {"jbe", Way::choice},  {"b.ne", Way::choice}, {"b.ls", Way::choice}, {"cbz", Way::choice},
    {"tbnz", Way::choice}, {"ret", Way::ret}};

/// An instruction and where it leads, by Capstone's text.
struct Step {
  explicit Step(const symbols::Instruction& one)
      : size(one.size), mnemonic(one.text.substr(0, one.text.find(' '))) {
    if (const auto found = kWays.find(mnemonic); found != kWays.end()) way = found->second;
    const auto digits = one.text.rfind("0x");
    if (way != Way::on && digits != std::string::npos) {
      target = std::stoull(one.text.substr(digits), nullptr, 16);
    }
  }

  unsigned size;
  std::string mnemonic;
  Way way = Way::on;
  std::optional<std::uint64_t> target;  ///< nullopt: computed, or no branch
};

/// What differs between recordings.
struct Recorded {
  std::uint64_t branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
  bool has_build_id = true;
  std::uint16_t mode = PERF_RECORD_MISC_USER;
  std::string path = {};         ///< of the program; empty: where it is
  std::uint32_t protection = 5;  ///< PROT_READ | PROT_EXEC
};

class BranchRecordsTest : public AuditedProgram {
 protected:
  /// Builds the program of a machine.
  void build(const Machine& machine) {
    on_ = machine;
    const char* assembly = machine.code == Arch::x86_64 ? kX86 : kAarch64;
    AuditedProgram::build(assembly, machine.code, {"-nostdlib", "-static"});
    const symbols::Module& module = assembled_->module();
    const AddressRange range = module.executable_ranges().front();
    code_.clear();
    for (const auto& one : symbols::Disassembler(machine.code)
                               .decode(module.code(range), range.begin, range.size())) {
      code_.emplace(one.address, one);
    }
  }
  std::uint64_t at(const char* symbol) const { return assembled_->value_of(symbol); }

  /// The branches taken on a random way through the program, oldest first.
  std::vector<Entry> walk(std::size_t branches, unsigned seed = 1) const {
    std::mt19937 random(seed);
    const auto choose = [&](std::initializer_list<const char*> symbols) {
      return at(*(symbols.begin() + random() % symbols.size()));
    };
    std::vector<Entry> taken;
    std::vector<std::uint64_t> returns;
    std::uint64_t from = at("_start");
    while (taken.size() < branches) {
      const Step& step = code_.at(from);
      const std::uint64_t next = from + step.size;
      std::optional<std::uint64_t> to;  // nullopt: no branch is taken
      if (step.way == Way::call) {
        returns.push_back(next);
        to = step.target ? *step.target : choose({"leaf", "middle"});
      } else if (step.way == Way::jump) {
        to = step.target ? *step.target : choose({"case_a", "case_b", "case_c"});
      } else if (step.way == Way::ret) {
        to = returns.back();
        returns.pop_back();
      } else if (step.way == Way::choice && random() % 2 == 0) {
        to = *step.target;
      }
      if (to) taken.push_back({from, *to});
      from = to.value_or(next);
    }
    return taken;
  }

  /// Whether code runs straight from one address to another, by Capstone.
  bool runs(std::uint64_t from, std::uint64_t to) const {
    for (; from < to; from += code_.at(from).size) {
      const Way way = code_.at(from).way;
      if (way != Way::on && way != Way::choice) return false;
    }
    return from == to;
  }

  static std::vector<Stack> stacks_of(const std::vector<Entry>& taken, std::size_t depth = 32) {
    std::vector<Stack> stacks;
    for (std::size_t end = depth; end <= taken.size(); end += depth) {
      stacks.emplace_back(taken.rend() - static_cast<std::ptrdiff_t>(end),
                          taken.rend() - static_cast<std::ptrdiff_t>(end - depth));
    }
    return stacks;
  }

  BranchRecords audited(const std::vector<Stack>& stacks, const Recorded& recorded = {}) {
    test::RecordingBuilder builder;
    test::EventToBuild event;
    event.sample_type |= PERF_SAMPLE_BRANCH_STACK;
    event.branch_sample_type = recorded.branch_sample_type;
    builder.event(event);
    test::map_program(assembled_->module(),
                      {.file = recorded.path.empty() ? program_.string() : recorded.path,
                       .has_build_id = recorded.has_build_id,
                       .protection = recorded.protection},
                      builder);
    test::SampleToBuild sample{.ip = at("_start"), .misc = recorded.mode, .time = 100};
    for (const Stack& stack : stacks) {
      sample.branches = stack;
      ++sample.time;
      test::add_sample(sample, event, builder);
    }
    test::name_machine(on_.arch, on_.cpuid, builder);
    builder.write(recording_);
    const Audit audit = audit_recording();
    EXPECT_THAT(audit.events, SizeIs(1));
    missing_ = audit.missing;
    const BranchRecords records = audit.events.at(0).branch_records.value();
    const auto sum = [](const auto& counts) {
      return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    };
    EXPECT_EQ(records.judged + sum(records.not_judged), records.records);
    EXPECT_EQ(records.judged, sum(records.faults));
    EXPECT_EQ(records.impossible.total, records.judged);
    EXPECT_EQ(records.stacks, stacks.size());
    return records;
  }

  static std::uint64_t of(const BranchRecords& records, BranchFault fault) {
    return records.faults[static_cast<std::size_t>(fault)];
  }
  static std::uint64_t of(const BranchRecords& records, BranchUnjudged reason) {
    return records.not_judged[static_cast<std::size_t>(reason)];
  }

  /// The number of records that are impossible: by their branch, or by how they follow another.
  std::uint64_t broken(const std::vector<Stack>& stacks) const {
    std::uint64_t count = 0;
    for (const Stack& stack : stacks) {
      for (std::size_t i = 0; i < stack.size(); ++i) {
        const Step& step = code_.at(stack[i].from);
        const bool is_nop = step.mnemonic == "nop";  // a tracer may have replaced it
        const bool is_wrong =
            (step.way == Way::on && !is_nop) || (step.target && *step.target != stack[i].to);
        const bool joins = i + 1 == stack.size() || runs(stack[i + 1].to, stack[i].from);
        count += is_wrong || !joins ? 1 : 0;
      }
    }
    return count;
  }

  Machine on_ = kSkylake;  ///< whose recording it is
  std::map<std::uint64_t, Step> code_;
  std::vector<MissingFile> missing_;
};

#define BUILD_OR_SKIP(machine)            \
  SKIP_WITHOUT_ASSEMBLER((machine).code); \
  build(machine)

TEST_F(BranchRecordsTest, DoesNotAccuseSoundStacks) {
  constexpr std::size_t kEntries = 10'240;
  for (const Machine& machine : {kSkylake, kZen4, kArm}) {
    BUILD_OR_SKIP(machine);
    const auto stacks = stacks_of(walk(kEntries));
    const BranchRecords records = audited(stacks);
    EXPECT_EQ(records.impossible.count, 0u) << machine.cpuid;
    EXPECT_EQ(records.judged, kEntries);
    EXPECT_EQ(by_addresses_alone(records), 0u);
    EXPECT_THAT(records.worst, IsEmpty());
    EXPECT_EQ(broken(stacks), 0u);
    EXPECT_EQ(audited(stacks,
                      {.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HW_INDEX})
                  .judged,
              kEntries);
  }
}

TEST_F(BranchRecordsTest, FindsEachFault) {
  for (const Machine& machine : {kSkylake, kArm}) {
    BUILD_OR_SKIP(machine);
    const auto taken = walk(3200);
    const auto sound = stacks_of(taken);
    const auto neighbour = [&](std::uint64_t address) {
      const auto found = code_.find(address);
      return (found == code_.begin() ? std::next(found) : std::prev(found))->first;
    };
    const std::map<std::string, std::function<void(std::vector<Stack>&, std::size_t)>> faults{
        {"a wrong target",
         [&](auto& stacks, std::size_t i) { stacks[i][9].to = neighbour(stacks[i][9].to); }},
        {"a source one instruction before",
         [&](auto& stacks, std::size_t i) { stacks[i][9].from = neighbour(stacks[i][9].from); }},
        {"a dropped record",
         [&](auto& stacks, std::size_t i) { stacks[i].erase(stacks[i].begin() + 9); }},
        {"a stale tail",
         [&](auto& stacks, std::size_t i) {
           const Stack& other = sound[(i + 7) % sound.size()];
           std::copy(other.begin() + 20, other.end(), stacks[i].begin() + 20);
         }},
        {"swapped records",
         [&](auto& stacks, std::size_t i) { std::swap(stacks[i][9], stacks[i][10]); }},
        {"oldest first",
         [&](auto& stacks, std::size_t i) { std::reverse(stacks[i].begin(), stacks[i].end()); }},
    };
    for (const auto& [name, break_stack] : faults) {
      std::vector<Stack> stacks = sound;
      for (std::size_t i = 0; i < stacks.size(); ++i) break_stack(stacks, i);
      const std::uint64_t expected = broken(stacks);
      EXPECT_GT(expected, stacks.size() / 2) << name;
      EXPECT_EQ(audited(stacks).impossible.count, expected) << name << ", " << machine.arch;
    }
  }
}

TEST_F(BranchRecordsTest, ComparesFlagsWithTheInstruction) {
  for (const Machine& machine : {kSkylake, kArm}) {
    BUILD_OR_SKIP(machine);
    std::vector<Stack> stacks = stacks_of(walk(320));
    std::uint64_t calls = 0;
    for (Stack& stack : stacks) {
      for (Entry& entry : stack) {
        const auto& [size, mnemonic, way, target] = code_.at(entry.from);
        const unsigned type = way == Way::call     ? (target ? PERF_BR_CALL : PERF_BR_IND_CALL)
                              : way == Way::jump   ? (target ? PERF_BR_UNCOND : PERF_BR_IND)
                              : way == Way::choice ? PERF_BR_COND
                                                   : PERF_BR_RET;
        calls += type == PERF_BR_CALL ? 1 : 0;
        entry.flags |= std::uint64_t{type} << kTypeShift;
      }
    }
    EXPECT_EQ(audited(stacks).impossible.count, 0u);
    for (Stack& stack : stacks) {
      for (Entry& entry : stack) {
        if ((entry.flags >> kTypeShift & 15) == PERF_BR_CALL) entry.flags += 1u << kTypeShift;
      }
    }
    EXPECT_EQ(of(audited(stacks), BranchFault::wrong_type), calls);
    ASSERT_GT(calls, 0u);

    stacks = stacks_of(walk(320));
    for (Stack& stack : stacks) stack[3].flags = kPredicted | kMispredicted;
    stacks[0][5] = {kKernelText, kKernelText + 9, kPredicted | kMispredicted};
    EXPECT_EQ(of(audited(stacks), BranchFault::both_outcomes), stacks.size() + 1);
    constexpr std::uint16_t kGuest = 5;  // PERF_RECORD_MISC_GUEST_USER
    EXPECT_EQ(audited(stacks, {.mode = kGuest}).judged, 0u);
  }
}

TEST_F(BranchRecordsTest, FindsAddressesThatNoAddressSpaceHas) {
  for (const Machine& machine : {kSkylake, kArm}) {
    BUILD_OR_SKIP(machine);
    Stack stack = stacks_of(walk(32)).front();
    stack[0].to = 0x0100'0000'0000'0000;    // the lowest such address
    stack[5].from = 0xfeff'ffff'ffff'ffff;  // the highest one
    stack[10].to = 0x00ff'ffff'ffff'ffff;   // of a user with 57 bits
    stack[15].to = 0xff00'0000'0000'0000;   // of a kernel with 57 bits
    stack[20].to = 0x8000'0000'0000'0000;
    stack[20].flags |= kWrongPath;
    const std::uint64_t expected = machine.code == Arch::x86_64 ? 2 : 0;
    EXPECT_EQ(of(audited({stack}), BranchFault::not_canonical), expected) << machine.arch;
  }
}

TEST_F(BranchRecordsTest, ReadsFlagsOfBothByteOrders) {
  for (const bool big_endian : {false, true}) {
    auto writer = test::writer_of(big_endian);
    const auto bit = [&](unsigned first, unsigned width, std::uint64_t value) {
      return value << (big_endian ? 64 - first - width : first);
    };
    writer.u64(1).u64(2).u64(3).u64(0x10).u64(0x20);
    writer.u64(bit(0, 1, 1) | bit(3, 1, 1) | bit(4, 16, 0xffff) | bit(20, 4, 5) | bit(24, 2, 1));
    const auto bytes = std::as_bytes(std::span(writer.bytes()));
    const auto order = big_endian ? ByteOrder::big : ByteOrder::little;
    const BranchEntry entry = branch_entry(bytes, 1, order);
    EXPECT_EQ(std::tuple(entry.from, entry.to, entry.mispredicted, entry.predicted, entry.aborted),
              std::tuple(0x10u, 0x20u, true, false, true));
    EXPECT_EQ(entry.type, PERF_BR_IND_CALL);
    EXPECT_EQ(entry.speculation, PERF_BR_SPEC_WRONG_PATH);
  }
}

TEST_F(BranchRecordsTest, DoesNotCompareRecordsWhereOthersWereLeftOut) {
  BUILD_OR_SKIP(kSkylake);
  std::vector<Stack> stacks = stacks_of(walk(640));
  for (Stack& stack : stacks)
    std::erase_if(stack, [&](const Entry& e) { return code_.at(e.from).way != Way::call; });
  constexpr std::uint64_t kAll = PERF_SAMPLE_BRANCH_ANY, kUser = PERF_SAMPLE_BRANCH_USER;
  const auto all = static_cast<std::uint64_t>(
      std::accumulate(stacks.begin(), stacks.end(), std::size_t{0},
                      [](std::size_t sum, const Stack& stack) { return sum + stack.size(); }));
  struct Expected {
    std::uint64_t type;
    NoContiguity reason;
    std::uint64_t judged;
  };
  // Records of the first sample, and of any stack of calls, may be from before an exec.
  for (const auto& [type, reason, judged] :
       {Expected{PERF_SAMPLE_BRANCH_ANY_CALL, NoContiguity::filter, all},
        Expected{PERF_SAMPLE_BRANCH_ANY_CALL | kUser, NoContiguity::filter,
                 all - stacks.front().size()},
        Expected{kAll | PERF_SAMPLE_BRANCH_IN_TX, NoContiguity::filter,
                 all - stacks.front().size()},
        Expected{kAll | PERF_SAMPLE_BRANCH_CALL_STACK, NoContiguity::call_stack, 0}}) {
    const BranchRecords records = audited(stacks, {.branch_sample_type = type});
    EXPECT_EQ(records.no_contiguity, reason);
    EXPECT_EQ(records.impossible.count, 0u);
    EXPECT_EQ(records.judged, judged);
    EXPECT_EQ(of(records, BranchUnjudged::resumed), all - judged);
  }
  EXPECT_GT(audited(stacks).impossible.count, 0u);
}

TEST_F(BranchRecordsTest, EndsAtTheReturnFromTheKernelInUserModeAlone) {
  constexpr std::uint64_t kUser = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
  BUILD_OR_SKIP(kSkylake);
  std::vector<Stack> stacks = stacks_of(walk(320));
  // A signal handler begins: what is older is of before, or of another program.
  for (Stack& stack : stacks) {
    stack[10] = {kKernelText, stack[9].from};
    stack[15].to = stack[15].from;
  }
  const BranchRecords records = audited(stacks, {.branch_sample_type = kUser});
  EXPECT_EQ(records.impossible.count, 0u);
  EXPECT_EQ(of(records, BranchUnjudged::kernel), 10u);
  EXPECT_EQ(of(records, BranchUnjudged::resumed), 10u * 21);
  EXPECT_EQ(records.judged, 100u);
  // The stack of a sample in the kernel can be that of the program before an exec.
  constexpr std::uint16_t kKernelMode = 1;
  EXPECT_EQ(audited(stacks, {.branch_sample_type = kUser, .mode = kKernelMode}).judged, 0u);
}

TEST_F(BranchRecordsTest, DoesNotCompareRecordsWhereReturnsMayBeMissing) {
  constexpr std::uint64_t kUser = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
  for (const Machine& machine : {kArm, kSkylake}) {
    BUILD_OR_SKIP(machine);
    std::vector<Stack> stacks = stacks_of(walk(320));
    for (Stack& stack : stacks) stack.erase(stack.begin() + 9, stack.begin() + 12);
    const BranchRecords records = audited(stacks, {.branch_sample_type = kUser});
    EXPECT_EQ(records.no_contiguity, NoContiguity::mode);
    EXPECT_EQ(records.impossible.count, 0u);
    EXPECT_EQ(of(records, BranchUnjudged::resumed), 29u);  // of the first sample after the exec
    EXPECT_EQ(records.judged, 9u * 29);
    stacks[5][3].from = stacks[5][3].to = at("_start");
    EXPECT_EQ(audited(stacks, {.branch_sample_type = kUser}).impossible.count, 1u);
  }
}

TEST_F(BranchRecordsTest, ComparesRecordsFromTheFirstReturnOn) {
  constexpr std::uint64_t kUser = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
  for (const Machine& machine : {kArm, kSkylake}) {
    BUILD_OR_SKIP(machine);
    std::vector<Stack> stacks = stacks_of(walk(3200));
    for (Stack& stack : stacks) stack.erase(stack.begin() + 9, stack.begin() + 12);
    constexpr std::ptrdiff_t kFirst = 40;
    stacks[kFirst].back() = {kKernelText, stacks[kFirst].end()[-2].from};
    const BranchRecords records = audited(stacks, {.branch_sample_type = kUser});
    EXPECT_EQ(records.no_contiguity, NoContiguity::none);
    const std::vector<Stack> compared(stacks.begin() + kFirst, stacks.end());
    EXPECT_GT(records.impossible.count, 0u);
    EXPECT_EQ(records.impossible.count, audited(compared).impossible.count);
  }
}

TEST_F(BranchRecordsTest, DoesNotCompareRecordsOfCodeThatTheKernelCannotRead) {
  BUILD_OR_SKIP(kSkylake);
  std::vector<Stack> stacks = stacks_of(walk(3200));
  for (Stack& stack : stacks) stack.erase(stack.begin() + 9, stack.begin() + 12);
  EXPECT_GT(audited(stacks).impossible.count, 0u);
  const BranchRecords records = audited(stacks, {.protection = 4});
  EXPECT_EQ(records.impossible.count, 0u);
  EXPECT_EQ(records.judged, 29u * stacks.size());
}

TEST_F(BranchRecordsTest, CountsWhatItDoesNotJudge) {
  BUILD_OR_SKIP(kSkylake);
  Stack stack = stacks_of(walk(32)).front();
  stack.resize(8);
  stack[1].flags |= kAborted;
  stack[1].from += 1;
  stack[3].flags |= kWrongPath;
  stack[3].to += 1;
  stack[5].from = 0;
  stack[6] = {0x7000'0000'0000, 0x7000'0000'1000};
  stack.push_back({0, 0, 0});
  const BranchRecords records = audited({stack, Stack(4, Entry{0, 0, 0}), {}});
  EXPECT_EQ(records.empty, 5u);
  EXPECT_EQ(records.empty_stacks, 2u);
  EXPECT_EQ(of(records, BranchUnjudged::not_retired), 2u);
  EXPECT_EQ(of(records, BranchUnjudged::kernel), 1u) << "of which one address was recorded";
  EXPECT_EQ(audited({stack}, {.mode = 5}).judged, 0u);  // PERF_RECORD_MISC_GUEST_USER
}

TEST_F(BranchRecordsTest, ComparesAddressesWithoutTheBinary) {
  BUILD_OR_SKIP(kSkylake);
  const std::vector<Stack> stacks = stacks_of(walk(3200));
  std::vector<Stack> broken = stacks;
  std::uint64_t backward = 0;
  for (Stack& stack : broken) {
    std::swap(stack[9], stack[10]);
    for (std::size_t i = 0; i + 1 < stack.size(); ++i) {
      backward += stack[i].from < stack[i + 1].to ? 1 : 0;
    }
  }
  ASSERT_GT(backward, stacks.size() / 4);
  // A file without a recorded build-id may be another build.
  const Recorded unverified{.has_build_id = false}, elsewhere{.path = "/nowhere/missing"};
  for (const auto& [recorded, reason] : {std::pair(unverified, BranchUnjudged::unverified),
                                         std::pair(elsewhere, BranchUnjudged::no_file)}) {
    const BranchRecords sound = audited(stacks, recorded);
    EXPECT_EQ(sound.impossible.count, 0u);
    EXPECT_EQ(by_addresses_alone(sound), sound.judged);
    EXPECT_EQ(sound.by_addresses[static_cast<std::size_t>(reason)], sound.judged);
    EXPECT_EQ(of(sound, reason), stacks.size());  // the oldest of each
    const BranchRecords found = audited(broken, recorded);
    EXPECT_EQ(found.impossible.count, backward);
    EXPECT_EQ(of(found, BranchFault::backward), backward);
  }
  ASSERT_THAT(missing_, SizeIs(1));
  EXPECT_EQ(missing_[0].file, elsewhere.path);
  EXPECT_EQ(missing_[0].build_id, symbols::Module::open(program_).build_id());
  EXPECT_EQ(missing_[0].branch_records, 3200u);
  EXPECT_EQ(missing_[0].samples, 0u);
  audited(stacks);
  EXPECT_THAT(missing_, IsEmpty());
}

TEST_F(BranchRecordsTest, AllowsFusedPairsOfOtherVendorsOnly) {
  constexpr std::uint64_t kAnyCall = PERF_SAMPLE_BRANCH_ANY_CALL;  // no runs
  for (const Machine& machine : {kSkylake, kZen4}) {
    BUILD_OR_SKIP(machine);
    Stack stack;
    for (const Entry& entry : walk(400)) {
      const auto before = std::prev(code_.find(entry.from));
      if (code_.at(entry.from).way == Way::choice && before->second.mnemonic == "cmp") {
        stack.push_back({before->first, entry.to});
      }
    }
    ASSERT_THAT(stack, ::testing::Not(IsEmpty()));
    const bool is_amd = machine.cpuid == kZen4.cpuid;
    const BranchRecords records = audited({stack}, {.branch_sample_type = kAnyCall});
    EXPECT_EQ(of(records, BranchFault::not_a_branch), is_amd ? 0 : stack.size());
    EXPECT_EQ(of(records, BranchUnjudged::undecided), is_amd ? stack.size() : 0);
    // Erratum 1452: no branch, and none after it that leads there.
    const std::uint64_t leaf = at("leaf");
    const BranchRecords bogus = audited({{{leaf, at("case_c")}}}, {.branch_sample_type = kAnyCall});
    EXPECT_EQ(of(bogus, BranchFault::not_a_branch), 1u);
  }
}

TEST_F(BranchRecordsTest, DoesNotAccuseReturnsElsewhere) {
  BUILD_OR_SKIP(kSkylake);
  Stack stack;
  for (const auto& [address, one] : code_) {
    if (one.way == Way::ret) stack.push_back({address, at("case_b")});
  }
  const BranchRecords records =
      audited({stack}, {.branch_sample_type = PERF_SAMPLE_BRANCH_ANY_RETURN});
  EXPECT_EQ(of(records, BranchUnjudged::undecided), stack.size());
  EXPECT_EQ(records.judged, 0u);
}

TEST_F(BranchRecordsTest, ComparesAddressesOnlyForWantOfCode) {
  BUILD_OR_SKIP(kSkylake);
  const auto jump = std::find_if(code_.begin(), code_.end(), [](const auto& instruction) {
    return instruction.second.way == Way::jump && !instruction.second.target;
  });
  ASSERT_NE(jump, code_.end());
  // Code before a return that leads elsewhere; the kernel may continue after the trap.
  const std::uint64_t trap = at("trap"), after_trap = std::next(code_.find(trap))->first;
  const BranchRecords records = audited({{{after_trap, at("case_b")}, {jump->first, trap}}});
  EXPECT_EQ(of(records, BranchUnjudged::undecided), 1u);
  EXPECT_EQ(by_addresses_alone(records), 0u);
  EXPECT_EQ(records.judged, 1u);
}

TEST_F(BranchRecordsTest, NamesTheWorstPlaces) {
  BUILD_OR_SKIP(kSkylake);
  const std::uint64_t start = at("_start"), leaf = at("leaf");
  Stack stack(3, Entry{start, leaf});
  stack.push_back({leaf, start});
  const BranchRecords records =
      audited({stack}, {.branch_sample_type = PERF_SAMPLE_BRANCH_ANY_CALL});
  ASSERT_THAT(records.worst, SizeIs(2));
  EXPECT_EQ(records.impossible_places, 2u);
  const ImpossibleBranch& worst = records.worst.front();
  EXPECT_EQ(worst.fault, BranchFault::not_a_branch);
  EXPECT_EQ(worst.from, start);
  EXPECT_EQ(worst.to, leaf);
  EXPECT_EQ(worst.module, program_.string());
  EXPECT_EQ(worst.text, "mov ecx, 3");
  EXPECT_EQ(worst.records, 3u);
  EXPECT_FALSE(worst.preceding_to);
}

}  // namespace
}  // namespace skid::audit
