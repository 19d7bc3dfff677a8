// Which branch records of the kernel an audit accuses: by a small kernel whose file states what is
// patched, loaded elsewhere than it was linked, by a small module, and by addresses alone.
#include "src/audit/audit.h"
#include "src/audit/branch_records.h"
#include "src/perfdata/format.h"
#include "src/support/address.h"
#include "src/symbols/module.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/recorded_program.h"
#include "tests/unit/audited_program.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::audit {
namespace {

using namespace perfdata;

constexpr std::uint64_t kLoadedAbove = 0x1200'0000;  // KASLR
constexpr std::uint64_t kModule = 0xffff'ffff'c010'0000;
constexpr const char* kModulePath = "/lib/modules/6.1.0/kernel/small.ko";

/// How function work begins, in the kernel and in its module.
constexpr const char* kBegin = R"(
  pushq %rbx
call_leaf:
  call leaf
back:
  incl %eax
  je skip
  incl %eax
key:
  jmp cold
skip:
  decl %ebx
again:
  jne back
)";

/// `entry`: of .altinstructions, of the size that kernels of some version have. `more`: assembly.
std::string kernel_x86(const std::string& entry, const std::string& more = {}) {
  return R"(
  .irp label, call_leaf, back, key, skip, again, alternative, done, last, cold, leaf_end, iret
  .globl \label
  .hidden \label
  .endr
_text:
  function work
)" + std::string(kBegin) +
         R"(
alternative:
  jmp done
done:
  wrmsr
last:
  jmp work
cold:
  ret
  end work
  function leaf
  incl %eax
leaf_end:
  ret
  end leaf
__entry_text_start:
  function asm_exc_page_fault
  cld
iret:
  iretq
  end asm_exc_page_fault
__entry_text_end:
  function asm_fred_entrypoint_user
  cld
  end asm_fred_entrypoint_user
  .data
__start___jump_table:
  .long key - ., cold - .
  .quad 0
__stop___jump_table:
__alt_instructions:
)" + entry +
         "\n__alt_instructions_end:\n" + more + '\n';
}
constexpr const char* kEntries[] = {
    ".long alternative - ., 0\n .long 77\n .byte 2, 0",      // Linux 6.3
    ".long alternative - ., 0\n .short 77\n .byte 2, 0",     // Linux 5.13
    ".long alternative - ., 0\n .short 77\n .byte 2, 0, 0",  // Linux 4.1
};

/// Code of arm64. `more`: assembly.
std::string kernel_aarch64(const std::string& more) {
  return R"(
  .irp label, call_leaf, back, key, skip, again, alternative, done, last, cold, leaf_end, quit, beyond, eret
  .globl \label
  .hidden \label
  .endr
_text:
  function start
  paciasp
quit:
  b work
beyond:
  ret
  end start
  function work
  paciasp
call_leaf:
  bl leaf
back:
  add w0, w0, 1
  cbz w0, skip
key:
  b cold
skip:
  sub w1, w1, 1
again:
  cbnz w0, back
alternative:
  b done
done:
  msr daifset, 2
last:
  b work
cold:
  ret
  end work
  function leaf
  add w0, w0, 1
leaf_end:
  ret
  end leaf
__entry_text_start:
  function vectors
  clrex
eret:
  eret
  end vectors
__entry_text_end:
  .data
__start___jump_table:
  .long key - ., cold - .
  .quad 0
__stop___jump_table:
__alt_instructions:
  .long alternative - ., 0
  .short 77
  .byte 4, 4
__alt_instructions_end:
__start_mcount_loc:
  .quad 0
__stop_mcount_loc:
)" + more +
         "\n";
}

/// A module whose functions are placed as in a kernel: .init.text is elsewhere, .text.unlikely
/// after .text, and the place of .text.late is not known, because it follows .exit.text. Calls of
/// symbols get relocations.
const std::string kSmallModule = R"(
  .irp label, call_leaf, back, key, skip, again, unresolved, after, last, cold, leaf_end, call_rare, rare_end, late_end, init_end
  .globl \label
  .hidden \label
  .endr
_text:
  function work
  call __fentry__
)" + std::string(kBegin) + R"(
unresolved:
  call printk
after:
  incl %eax
call_rare:
  call rare
last:
  jmp work
cold:
  jmp __x86_return_thunk
  end work
  function leaf
  incl %eax
leaf_end:
  ret
  end leaf
  .section .init.text, "ax"
  function init
  incl %eax
init_end:
  ret
  end init
  .section .text.unlikely, "ax"
  .balign 16
  function rare
  incl %ecx
rare_end:
  ret
  end rare
  .section .exit.text, "ax"
  function quit
  ret
  end quit
  .section .text.late, "ax"
  function late
  incl %ecx
late_end:
  jmp late
  end late
  .section __jump_table, "aw"
  .long key - ., cold - .
  .quad 0
  .section __mcount_loc, "a"
  .quad work
  .section .return_sites, "a"
  .long cold - .
  .section .gnu.linkonce.this_module, "aw"
  .zero 64
)";

const std::string kSmallModuleAarch64 = R"(
  .irp label, call_leaf, back, key, skip, again, unresolved, after, call_rare, indirect, jump, last, cold, leaf_end
  .globl \label
  .hidden \label
  .endr
_text:
  function work
  paciasp
call_leaf:
  bl leaf
back:
  add w0, w0, 1
  cbz w0, skip
key:
  b cold
skip:
  sub w1, w1, 1
again:
  cbnz w0, back
unresolved:
  bl printk
after:
  add w0, w0, 1
call_rare:
  bl rare
indirect:
  blr x1
jump:
  br x1
last:
  b work
cold:
  ret
  end work
  function leaf
  add w0, w0, 1
leaf_end:
  ret
  end leaf
  .section .text.unlikely, "ax"
  function rare
  ret
  end rare
  .section __jump_table, "aw"
  .long key - ., cold - .
  .quad 0
  .section .gnu.linkonce.this_module, "aw"
  .zero 64
)";

class KernelBranchRecordsTest : public AuditedProgram {
 protected:
  void build_module(const std::string& code, Arch arch) {
    is_module_ = true;
    arch_ = arch;
    AuditedProgram::build(code, arch, {"-nostdlib", "-r"});
  }
  void build_code(const std::string& code, Arch arch) {
    arch_ = arch;
    AuditedProgram::build(
        code, arch,
        {"-nostdlib", "-static", "-no-pie", "-Wl,-e,work", "-Wl,-Ttext=0xffffffff81000000"});
  }
  void build(const std::string& entry) { build_code(kernel_x86(entry), Arch::x86_64); }

  /// Symbols: from, to. kUser: an address of user mode, kKernel: of the kernel, not of a module.
  using Branch = std::pair<const char*, const char*>;
  static constexpr const char *kUser = "user", *kKernelCode = "kernel";
  using Stack = std::vector<Branch>;  ///< the newest first

  /// Audits stacks of samples in the kernel. `has_file`: whether the kernel's file is given.
  BranchRecords audited(const std::vector<Stack>& stacks, bool has_file = true) {
    test::RecordingBuilder builder;
    test::EventToBuild event;
    event.sample_type |= PERF_SAMPLE_BRANCH_STACK;
    event.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL;
    builder.event(event);
    const auto at = [&](const std::string& symbol) {
      if (symbol == kUser) return std::uint64_t{0x40'1000};
      if (symbol == kKernelCode) return kKernelText + 64;
      if (is_module_) return kModule + assembled_->module().value_of(symbol).value();
      return assembled_->value_of(symbol) + kLoadedAbove;
    };
    constexpr std::uint16_t kKernel = PERF_RECORD_MISC_KERNEL;
    const std::uint64_t text = is_module_ ? kKernelText : at("_text");
    builder.mmap(-1, text, 0x10'0000, text, "[kernel.kallsyms]_text", 1, kKernel);
    if (is_module_) builder.mmap(-1, kModule, 0x1'0000, 0, kModulePath, 1, kKernel);
    test::SampleToBuild sample{.ip = at("work"), .misc = kKernel, .time = 100};
    for (const Stack& stack : stacks) {
      sample.branches.clear();
      for (const auto& [from, to] : stack) sample.branches.push_back({at(from), at(to)});
      test::add_sample(sample, event, builder);
    }
    const auto id = test::hex(symbols::Module::open(program_).build_id());
    const std::string_view bytes(reinterpret_cast<const char*>(id.data()), id.size());
    const char* file = is_module_ ? kModulePath : kKernelFile;
    std::string ids = builder.build_id_entry(file, bytes, kKernel);
    if (is_module_) ids += builder.build_id_entry(kKernelFile, std::string(20, 'k'), kKernel);
    builder.feature(HEADER_BUILD_ID, std::move(ids));
    const bool is_arm = arch_ == Arch::aarch64;
    test::name_machine(is_arm ? "aarch64" : "x86_64",
                       is_arm ? "0x00000000410fd4f0" : "GenuineIntel,6,94,3", builder);
    builder.write(recording_);
    Choices choices;
    if (has_file) choices.places.candidates.push_back(program_);
    const Audit audit = audit_recording(choices);
    missing_.clear();
    for (const MissingFile& one : audit.missing) missing_[one.file] = one.branch_records;
    const BranchRecords records = audit.events.at(0).branch_records.value();
    EXPECT_EQ(records.judged + sum(records.not_judged), records.records);
    return records;
  }
  /// The fault of the newest record, or why it is not judged; "possible".
  std::string newest(const Stack& stack) {
    const BranchRecords one = audited({stack});
    const BranchRecords older = audited({Stack(stack.begin() + 1, stack.end())});
    for (std::size_t i = 1; i < kBranchFaults; ++i) {
      if (one.faults[i] > older.faults[i]) return std::string(name_of(static_cast<BranchFault>(i)));
    }
    for (std::size_t i = 1; i < kBranchUnjudged; ++i) {
      if (one.not_judged[i] == older.not_judged[i]) continue;
      return std::string(name_of(static_cast<BranchUnjudged>(i)));
    }
    return "possible";
  }

  template <typename Counts>
  static std::uint64_t sum(const Counts& counts) {
    return std::accumulate(counts.begin() + 1, counts.end(), std::uint64_t{0});
  }

  static constexpr std::uint64_t kKernelText = 0xffff'ffff'9300'0000;
  static constexpr const char* kKernelFile = "[kernel.kallsyms]";
  std::map<std::string, std::uint64_t> missing_;  ///< branch records that need a file, by its name
  Arch arch_ = Arch::x86_64;
  bool is_module_ = false;  ///< the program is a module of the kernel
};

#define SKIP_OR_BUILD(...)              \
  SKIP_WITHOUT("x86-64");               \
  SKIP_WITHOUT_ASSEMBLER(Arch::x86_64); \
  build(__VA_ARGS__)

TEST_F(KernelBranchRecordsTest, AreJudgedByCodeThatIsNotPatched) {
  for (const char* entry : kEntries) {
    SKIP_OR_BUILD(entry);
    EXPECT_EQ(newest({{"call_leaf", "leaf"}}), "possible") << entry;
    EXPECT_EQ(newest({{"leaf_end", "back"}}), "possible");
    EXPECT_EQ(newest({{"again", "leaf"}}), "wrong_target");
    EXPECT_EQ(newest({{"skip", "back"}}), "not_a_branch");
    // A static key may be a jump or a NOP, whatever the file has.
    EXPECT_EQ(newest({{"key", "leaf"}}), "patched");
    EXPECT_EQ(newest({{"alternative", "leaf"}}), "patched");
    EXPECT_EQ(newest({{"again", "back"}, {"leaf_end", "back"}}), "possible") << "across the key";
    EXPECT_EQ(newest({{"cold", "back"}, {"again", "last"}}), "leaves");
  }
}

TEST_F(KernelBranchRecordsTest, MayEnterExceptionsAtAnyInstruction) {
  SKIP_OR_BUILD(kEntries[0]);
  EXPECT_EQ(newest({{"skip", "asm_exc_page_fault"}}), "undecided");
  EXPECT_EQ(newest({{"again", "asm_exc_page_fault"}}), "undecided");
}

TEST_F(KernelBranchRecordsTest, EnterAtEntriesAndLeaveByReturns) {
  SKIP_OR_BUILD(kEntries[0]);
  EXPECT_EQ(newest({{kUser, "asm_exc_page_fault"}}), "possible");
  EXPECT_EQ(newest({{kUser, "asm_fred_entrypoint_user"}}), "possible");
  EXPECT_EQ(newest({{kUser, "leaf"}}), "wrong_entry");
  EXPECT_EQ(newest({{kUser, "__alt_instructions"}}), "kernel") << "not code";
  EXPECT_EQ(newest({{"iret", kUser}}), "possible");
  EXPECT_EQ(newest({{"skip", kUser}}), "not_a_branch");
  EXPECT_EQ(newest({{"call_leaf", kUser}}), "wrong_target");
  EXPECT_EQ(newest({{"alternative", kUser}}), "kernel") << "patched";
  EXPECT_EQ(newest({{"leaf_end", kUser}}), "kernel") << "to any address";
  EXPECT_EQ(audited({{{kUser, "leaf"}, {"skip", kUser}}}, false).judged, 0U);
}

TEST_F(KernelBranchRecordsTest, AreJudgedByCodeOfArm64) {
  SKIP_WITHOUT_ASSEMBLER(Arch::aarch64);
  build_code(kernel_aarch64(""), Arch::aarch64);
  EXPECT_EQ(newest({{"call_leaf", "leaf"}}), "possible");
  EXPECT_EQ(newest({{"leaf_end", "back"}}), "possible");
  EXPECT_EQ(newest({{"again", "leaf"}}), "wrong_target");
  EXPECT_EQ(newest({{"skip", "back"}}), "not_a_branch");
  EXPECT_EQ(newest({{"key", "leaf"}}), "patched");
  EXPECT_EQ(newest({{"alternative", "leaf"}}), "patched");
  EXPECT_EQ(newest({{"skip", "vectors"}}), "undecided");
  // PACIASP is no reason to stop, MSR is.
  EXPECT_EQ(newest({{"beyond", "back"}, {"again", "start"}}), "leaves");
  EXPECT_EQ(newest({{"cold", "back"}, {"alternative", "done"}}), "possible");
  EXPECT_EQ(newest({{kUser, "vectors"}}), "possible");
  EXPECT_EQ(newest({{kUser, "work"}}), "wrong_entry");
  EXPECT_EQ(newest({{"eret", kUser}}), "possible");
  EXPECT_EQ(newest({{"skip", kUser}}), "not_a_branch");
}

TEST_F(KernelBranchRecordsTest, AreNotJudgedWhereCallsOfArm64AreReplaced) {
  SKIP_WITHOUT_ASSEMBLER(Arch::aarch64);
  build_code(kernel_aarch64("  .text\n  function _mcount\n  ret\n  end _mcount"), Arch::aarch64);
  EXPECT_EQ(newest({{"skip", "back"}}), "patched");
}

TEST_F(KernelBranchRecordsTest, AreComparedInOneFunctionUpToSystemInstructions) {
  SKIP_OR_BUILD(kEntries[0]);
  // Recording may have been switched off and on, by WRMSR or in another function.
  EXPECT_EQ(newest({{"cold", "back"}, {"alternative", "done"}}), "possible");
  EXPECT_EQ(newest({{"leaf_end", "back"}, {"again", "last"}}), "possible");
}

TEST_F(KernelBranchRecordsTest, AreNotJudgedByDamagedTables) {
  SKIP_OR_BUILD(kEntries[0]);
  const auto skip_of = [&](const std::string& table) {
    build_code(kernel_x86(kEntries[0], table), Arch::x86_64);
    return newest({{"skip", "back"}});
  };
  const std::string table = "__start_mcount_loc:\n .zero ", end = "\n__stop_mcount_loc";
  EXPECT_EQ(skip_of(table + "8 * 1000" + end + ":"), "not_a_branch");
  // More entries than any kernel has, then an end beyond that of the file and before the begin.
  EXPECT_EQ(skip_of(table + "8 * 5000000" + end + ":"), "patched");
  EXPECT_EQ(skip_of(table + "8" + end + " = __start_mcount_loc + 0x40000000"), "patched");
  EXPECT_EQ(skip_of(table + "8" + end + " = __start_mcount_loc - 8"), "patched");
}

TEST_F(KernelBranchRecordsTest, NeedATableOfAKnownLayout) {
  SKIP_OR_BUILD(".long work - . - 64, 0\n .byte 2, 0");
  EXPECT_EQ(newest({{"skip", "back"}}), "patched");
}

TEST_F(KernelBranchRecordsTest, AreComparedByAddressesWithoutAFile) {
  SKIP_OR_BUILD(kEntries[0]);
  // Of two backward runs in sequence one can be where recording was switched off.
  const Branch low_to_high{"back", "leaf_end"}, high_to_low{"leaf_end", "back"};
  const BranchRecords one = audited({{low_to_high, low_to_high, high_to_low}}, false);
  EXPECT_EQ(one.impossible.count, 0U);
  EXPECT_EQ(one.judged, 1U);
  const BranchRecords several = audited({Stack(5, low_to_high)}, false);
  EXPECT_EQ(several.impossible.count, 2U);
  EXPECT_EQ(several.faults[static_cast<std::size_t>(BranchFault::backward)], 2U);
  EXPECT_EQ(several.judged, 2U);
  EXPECT_EQ(several.by_addresses[static_cast<std::size_t>(BranchUnjudged::no_file)], 2U);
}

#define SKIP_OR_BUILD_MODULE()          \
  SKIP_WITHOUT("x86-64");               \
  SKIP_WITHOUT_ASSEMBLER(Arch::x86_64); \
  build_module(kSmallModule, Arch::x86_64)

TEST_F(KernelBranchRecordsTest, AreJudgedByTheCodeOfModules) {
  SKIP_OR_BUILD_MODULE();
  EXPECT_EQ(newest({{"call_leaf", "leaf"}}), "possible");
  EXPECT_EQ(newest({{"leaf_end", "back"}}), "possible");
  EXPECT_EQ(newest({{"again", "leaf"}}), "wrong_target");
  EXPECT_EQ(newest({{"call_leaf", "last"}}), "wrong_target") << "the call is relocated";
  EXPECT_EQ(newest({{"skip", "back"}}), "not_a_branch");
  EXPECT_EQ(newest({{"call_rare", "rare"}}), "possible") << "in another section";
  EXPECT_EQ(newest({{"call_rare", "rare_end"}}), "wrong_target");
  EXPECT_EQ(newest({{"rare_end", "last"}}), "possible");
  EXPECT_EQ(newest({{"rare", "last"}}), "not_a_branch");
  EXPECT_EQ(newest({{"call_rare", "rare"}, {"again", "after"}}), "possible");
}

TEST_F(KernelBranchRecordsTest, AreNotJudgedByWhatModulesLeaveToTheKernel) {
  SKIP_OR_BUILD_MODULE();
  EXPECT_EQ(newest({{"key", "leaf"}}), "patched");
  EXPECT_EQ(newest({{"cold", "leaf"}}), "patched") << "a thunk of returns";
  EXPECT_EQ(newest({{"work", "leaf"}}), "patched") << "a call of ftrace, at address 0";
  EXPECT_EQ(newest({{"unresolved", "leaf"}}), "patched") << "a call of the kernel";
  // An instruction may end with an exception, whose entry is in the file of the kernel.
  EXPECT_EQ(newest({{"skip", kKernelCode}}), "no_file");
  EXPECT_EQ(newest({{kUser, "leaf"}}), "kernel");
  EXPECT_EQ(newest({{"skip", kUser}}), "kernel") << "perhaps a guest";
  // A call of the kernel is a branch all the same.
  EXPECT_EQ(newest({{"call_rare", "rare"}, {"again", "skip"}}), "leaves");
}

TEST_F(KernelBranchRecordsTest, AreJudgedByTheCodeOfModulesForArm64) {
  SKIP_WITHOUT_ASSEMBLER(Arch::aarch64);
  build_module(kSmallModuleAarch64, Arch::aarch64);
  EXPECT_EQ(newest({{"call_leaf", "leaf"}}), "possible");
  EXPECT_EQ(newest({{"leaf_end", "back"}}), "possible");
  EXPECT_EQ(newest({{"call_leaf", "last"}}), "wrong_target") << "the call is relocated";
  EXPECT_EQ(newest({{"again", "leaf"}}), "wrong_target");
  EXPECT_EQ(newest({{"skip", "back"}}), "not_a_branch");
  EXPECT_EQ(newest({{"key", "leaf"}}), "patched");
  EXPECT_EQ(newest({{"unresolved", "leaf"}}), "patched") << "a call of the kernel";
  EXPECT_EQ(newest({{"call_rare", "leaf"}}), "patched") << "in a section whose place is unknown";
  EXPECT_EQ(newest({{"again", "back"}, {"leaf_end", "back"}}), "possible") << "across the key";
  EXPECT_EQ(newest({{"indirect", "leaf"}, {"again", "skip"}}), "leaves");
}

TEST_F(KernelBranchRecordsTest, FromModulesAreJudgedWithoutTheKernelAsFarAsTheModuleStates) {
  SKIP_WITHOUT_ASSEMBLER(Arch::aarch64);
  build_module(kSmallModuleAarch64, Arch::aarch64);
  // Exceptions lead from any instruction to the kernel, also from one that is no branch.
  for (const char* from : {"skip", "again", "call_leaf", "unresolved", "cold"}) {
    const std::string found = newest({{from, kKernelCode}});
    EXPECT_EQ(found, from == std::string("unresolved") ? "patched" : "no_file") << from;
    audited({{{from, kKernelCode}}});
    EXPECT_EQ(missing_[kKernelFile], found == "no_file" ? 1U : 0U) << from;
  }
  for (const char* from : {"indirect", "jump"}) {
    EXPECT_EQ(newest({{from, kKernelCode}}), "possible") << from;
  }
  // What was executed in the module before is known.
  EXPECT_EQ(newest({{"again", kKernelCode}, {"key", "skip"}}), "possible");
  EXPECT_EQ(newest({{"indirect", kKernelCode}, {"again", "skip"}}), "leaves");
}

TEST_F(KernelBranchRecordsTest, AreJudgedByModulesOnlyWhereTheirPlaceIsCertain) {
  SKIP_OR_BUILD_MODULE();
  EXPECT_EQ(assembled_->module().executable_ranges().at(1).begin,
            assembled_->module().value_of("rare"));
  EXPECT_GE(assembled_->module().value_of("late_end"), 0x400'0000U);
  EXPECT_GE(assembled_->module().value_of("init_end"), 0x400'0000U);
  EXPECT_FALSE(assembled_->module().address_at(assembled_->module().value_of("late_end").value()));
}

TEST_F(KernelBranchRecordsTest, AreNotJudgedByDamagedModules) {
  SKIP_OR_BUILD_MODULE();
  const std::string whole = read_file(program_, 1 << 20);
  constexpr std::size_t kStep = 13;
  for (std::size_t at = 0; at < whole.size(); at += kStep) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    std::ofstream(program_, std::ios::binary) << damaged;
    try {
      EXPECT_EQ(audited({{{"skip", "back"}}}).records, 1U) << at;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(program_.string())) << at;
    }
  }
}

}  // namespace
}  // namespace skid::audit
