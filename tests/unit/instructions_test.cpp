// What Zydis and the rules of src/instructions make of instructions: the bytes are the GNU
// assembler's for the text beside them.
#include "runway/instructions.h"

#include "src/instructions/category.h"
#include "src/instructions/instruction.h"
#include "src/instructions/register_effects.h"
#include "src/support/address.h"
#include "tests/support/hex.h"
#include "tests/support/prelude.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace skid::instructions {
namespace {

using ::testing::Eq;

struct Expected {
  std::string assembly;
  std::string bytes;
  std::string categories;
  /// A letter an operand: r(ead), w(rite), b(oth), - for an address alone; v for many
  /// addresses; in parentheses for an implicit operand.
  std::string memory;
};

std::string letters_of(const std::vector<MemoryOperand>& memory) {
  std::string letters;
  for (const MemoryOperand& operand : memory) {
    if (!letters.empty()) letters += ' ';
    if (operand.implicit) letters += '(';
    letters += "-rwb"[static_cast<int>(operand.access)];
    if (operand.vector_of_addresses) letters += 'v';
    if (operand.implicit) letters += ')';
  }
  return letters;
}

const std::vector<Expected> kClassified{
    // Loads by their register.
    {"mov rax, [rax]", "48 8b 00", "GP_LOAD", "r"},
    {"movzx eax, byte ptr [rax]", "0f b6 00", "GP_LOAD", "r"},
    {"cmovne rax, [rax]", "48 0f 45 00", "GP_LOAD", "r"},
    {"cmp [rax], ecx", "39 08", "GP_LOAD", "r"},
    {"test [rax], ecx", "85 08", "GP_LOAD", "r"},
    {"add rax, [rcx]", "48 03 01", "GP_LOAD", "r"},
    {"bt [rax], rcx", "48 0f a3 08", "GP_LOAD", "r"},
    {"mulx rax, rcx, [rax]", "c4 e2 f3 f6 00", "GP_LOAD", "r"},
    {"crc32 eax, byte ptr [rax]", "f2 0f 38 f0 00", "GP_LOAD", "r"},
    {"xlatb", "d7", "GP_LOAD", "(r)"},
    {"movd xmm0, [rax]", "66 0f 6e 00", "XMM_LOAD VECTOR", "r"},
    {"addps xmm0, [rax]", "0f 58 00", "XMM_LOAD VECTOR", "r"},
    {"pinsrb xmm0, [rax], 1", "66 0f 3a 20 00 01", "XMM_LOAD VECTOR", "r"},
    {"cvtsi2sd xmm0, dword ptr [rax]", "f2 0f 2a 00", "XMM_LOAD VECTOR", "r"},
    {"cvttsd2si eax, [rax]", "f2 0f 2c 00", "XMM_LOAD VECTOR", "r"},
    {"ucomisd xmm0, [rax]", "66 0f 2e 00", "XMM_LOAD VECTOR", "r"},
    {"vmovups ymm0, [rax]", "c5 fc 10 00", "YMM_LOAD VECTOR", "r"},
    {"vmaskmovps ymm0, ymm1, [rax]", "c4 e2 75 2c 00", "YMM_LOAD VECTOR", "r"},
    {"vcvtpd2ps xmm0, ymmword ptr [rax]", "c5 fd 5a 00", "YMM_LOAD VECTOR", "r"},
    {"vpbroadcastd ymm0, [rax]", "c4 e2 7d 58 00", "YMM_LOAD VECTOR", "r"},
    {"{vex} vpdpbusd ymm0, ymm1, [rax]", "c4 e2 75 50 00", "YMM_LOAD VECTOR", "r"},
    {"vmovdqu32 zmm0{k1}, [rax]", "62 f1 7e 49 6f 00", "ZMM_LOAD VECTOR", "r"},
    {"vaddps zmm0, zmm1, dword ptr [rax]{1to16}", "62 f1 74 58 58 00", "ZMM_LOAD VECTOR", "r"},
    {"vpcmpd k1, zmm0, [rax], 0", "62 f3 7d 48 1f 08 00", "ZMM_LOAD VECTOR", "r"},
    {"vfpclasspsz k1, [rax], 1", "62 f3 7d 48 66 08 01", "ZMM_LOAD VECTOR", "r"},
    {"vaddph zmm0, zmm1, [rax]", "62 f5 74 48 58 00", "ZMM_LOAD VECTOR", "r"},
    // Read modify writes as loads and stores.
    {"inc dword ptr [rax]", "ff 00", "GP_LOAD STORE", "b"},
    {"add [rax], ecx", "01 08", "GP_LOAD STORE", "b"},
    {"shld [rax], ecx, 3", "0f a4 08 03", "GP_LOAD STORE", "b"},
    {"cmpxchg [rax], rcx", "48 0f b1 08", "GP_LOAD STORE", "b"},
    {"xadd [rax], rcx", "48 0f c1 08", "GP_LOAD STORE", "b"},
    {"not byte ptr [rax]", "f6 10", "GP_LOAD STORE", "b"},
    // Locked loads by their prefix.
    {"lock inc dword ptr [rax]", "f0 ff 00", "LOCKED_LOAD STORE", "b"},
    {"lock cmpxchg [rax], rcx", "f0 48 0f b1 08", "LOCKED_LOAD STORE", "b"},
    {"lock cmpxchg16b [rax]", "f0 48 0f c7 08", "LOCKED_LOAD STORE", "b"},
    {"lock bts [rax], rcx", "f0 48 0f ab 08", "LOCKED_LOAD STORE", "b"},
    {"lock add [rax], rcx", "f0 48 01 08", "LOCKED_LOAD STORE", "b"},
    {"xchg [rax], rcx", "48 87 08", "OTHER_LOAD STORE", "b"},
    // String loads.
    {"lodsb", "ac", "STR_LOAD", "(r)"},
    {"rep movsb", "f3 a4", "STR_LOAD STORE", "(w) (r)"},
    {"movsq", "48 a5", "STR_LOAD STORE", "(w) (r)"},
    {"rep stosb", "f3 aa", "STORE", "(w)"},
    {"scasb", "ae", "STR_LOAD", "(r)"},
    {"cmpsb", "a6", "STR_LOAD", "(r) (r)"},
    // Input and output.
    {"in al, dx", "ec", "IO", ""},
    {"in eax, 5", "e5 05", "IO", ""},
    {"out dx, al", "ee", "IO", ""},
    {"insb", "6c", "IO STORE", "(w)"},
    {"rep insb", "f3 6c", "IO STORE", "(w)"},
    {"outsb", "6e", "STR_LOAD IO", "(r)"},
    // Prefetches.
    {"prefetcht0 [rax]", "0f 18 08", "PREFETCH", "-"},
    {"prefetchnta [rax]", "0f 18 00", "PREFETCH", "-"},
    {"prefetchw [rax]", "0f 0d 08", "PREFETCH", "-"},
    {"prefetchwt1 [rax]", "0f 0d 10", "PREFETCH", "-"},
    // Non temporal loads.
    {"movntdqa xmm0, [rax]", "66 0f 38 2a 00", "NT_LOAD VECTOR", "r"},
    {"vmovntdqa ymm0, [rax]", "c4 e2 7d 2a 00", "YMM_LOAD NT_LOAD VECTOR", "r"},
    // Fences.
    {"mfence", "0f ae f0", "MFENCE", ""},
    {"lfence", "0f ae e8", "OTHER", ""},
    {"sfence", "0f ae f8", "OTHER", ""},
    // Cpuid.
    {"cpuid", "0f a2", "CPUID", ""},
    // Stores.
    {"mov [rax], rax", "48 89 00", "STORE", "w"},
    {"sete [rax]", "0f 94 00", "STORE", "w"},
    {"movups [rax], xmm0", "0f 11 00", "STORE VECTOR", "w"},
    {"movntdq [rax], xmm0", "66 0f e7 00", "STORE VECTOR", "w"},
    {"movnti [rax], rcx", "48 0f c3 08", "STORE", "w"},
    {"pextrb [rax], xmm0, 1", "66 0f 3a 14 00 01", "STORE VECTOR", "w"},
    {"vextracti128 [rax], ymm0, 1", "c4 e3 7d 39 00 01", "STORE VECTOR", "w"},
    {"vmaskmovps [rax], ymm1, ymm0", "c4 e2 75 2e 00", "STORE VECTOR", "w"},
    {"vmovdqu32 [rax]{k1}, zmm0", "62 f1 7e 49 7f 00", "STORE VECTOR", "w"},
    {"vpcompressd [rax]{k1}, zmm0", "62 f2 7d 49 8b 00", "STORE VECTOR", "w"},
    {"maskmovdqu xmm0, xmm1", "66 0f f7 c1", "STORE VECTOR", "(w)"},
    {"kmovq [rax], k1", "c4 e1 f8 91 08", "STORE", "w"},
    {"movbe [rax], rax", "48 0f 38 f1 00", "STORE", "w"},
    {"push rax", "50", "STORE", "(w)"},
    {"push 5", "6a 05", "STORE", "(w)"},
    // Branches.
    {"jne .", "75 fe", "BRANCH COND_BRANCH", ""},
    {"jmp .", "eb fe", "BRANCH JUMP", ""},
    {"jmp rax", "ff e0", "BRANCH IND_JUMP", ""},
    {"jrcxz .", "e3 fe", "BRANCH COND_BRANCH", ""},
    {"call .", "e8 fb ff ff ff", "STORE BRANCH CALL", "(w)"},
    {"call rax", "ff d0", "STORE BRANCH IND_CALL", "(w)"},
    // Divisions.
    {"div rcx", "48 f7 f1", "DIV", ""},
    {"idiv ecx", "f7 f9", "DIV", ""},
    {"div qword ptr [rax]", "48 f7 30", "GP_LOAD DIV", "r"},
    {"sqrtsd xmm0, xmm1", "f2 0f 51 c1", "DIV VECTOR", ""},
    {"divps xmm0, [rax]", "0f 5e 00", "XMM_LOAD DIV VECTOR", "r"},
    {"vdivpd ymm0, ymm1, [rax]", "c5 f5 5e 00", "YMM_LOAD DIV VECTOR", "r"},
    {"vsqrtpd zmm0, [rax]", "62 f1 fd 48 51 00", "ZMM_LOAD DIV VECTOR", "r"},
    {"fdiv st, st(1)", "d8 f1", "DIV VECTOR OTHER", ""},
    // Flushes.
    {"clflush [rax]", "0f ae 38", "FLUSH", "-"},
    {"clflushopt [rax]", "66 0f ae 38", "FLUSH", "-"},
    {"clwb [rax]", "66 0f ae 30", "OTHER", "-"},
    {"cldemote [rax]", "0f 1c 00", "OTHER", "-"},
    // Addresses and nops.
    {"lea rax, [rax]", "48 8d 00", "LEA", "-"},
    {"nop", "90", "NOP", ""},
    {"nop dword ptr [rax]", "0f 1f 00", "NOP", "-"},
    {"nop ax", "66 0f 1f c0", "NOP", ""},
    {"endbr64", "f3 0f 1e fa", "NOP", ""},
    // Register computations.
    {"mov rax, rcx", "48 89 c8", "NOMEM", ""},
    {"add rax, rcx", "48 01 c8", "NOMEM", ""},
    {"xchg rax, rcx", "48 91", "NOMEM", ""},
    {"sete al", "0f 94 c0", "NOMEM", ""},
    {"cqo", "48 99", "NOMEM", ""},
    {"cld", "fc", "NOMEM", ""},
    {"popcnt rax, rcx", "f3 48 0f b8 c1", "NOMEM", ""},
    {"movmskps eax, xmm0", "0f 50 c0", "VECTOR NOMEM", ""},
    {"vpaddd ymm0, ymm1, ymm2", "c5 f5 fe c2", "VECTOR NOMEM", ""},
    {"kandq k1, k2, k3", "c4 e1 ec 41 cb", "NOMEM", ""},
    {"vzeroupper", "c5 f8 77", "NOMEM", ""},
    {"pcmpistri xmm0, xmm1, 1", "66 0f 3a 63 c1 01", "VECTOR NOMEM", ""},
    {"aesenc xmm0, xmm1", "66 0f 38 dc c1", "VECTOR NOMEM", ""},
    // Undocumented ones as other.
    {"pop rax", "58", "OTHER_LOAD", "(r)"},
    {"pop qword ptr [rax]", "8f 00", "OTHER_LOAD STORE", "w (r)"},
    {"push qword ptr [rax]", "ff 30", "OTHER_LOAD STORE", "r (w)"},
    {"ret", "c3", "OTHER_LOAD BRANCH RETURN", "(r)"},
    {"ret 8", "c2 08 00", "OTHER_LOAD BRANCH RETURN", "(r)"},
    {"leave", "c9", "OTHER_LOAD", "(r)"},
    {"enter 8, 0", "c8 08 00 00", "STORE OTHER", "(w)"},
    {"pushf", "9c", "STORE OTHER", "(w)"},
    {"popf", "9d", "OTHER_LOAD OTHER", "(r)"},
    {"iretq", "48 cf", "OTHER_LOAD BRANCH OTHER", "(r)"},
    {"jmp [rax]", "ff 20", "OTHER_LOAD BRANCH IND_JUMP", "r"},
    {"call [rax]", "ff 10", "OTHER_LOAD STORE BRANCH IND_CALL", "r (w)"},
    {"lret", "cb", "OTHER_LOAD BRANCH OTHER", "(r)"},
    {"jmp far ptr [rax]", "ff 28", "OTHER_LOAD BRANCH OTHER", "r"},
    {"syscall", "0f 05", "OTHER", ""},
    {"int3", "cc", "OTHER", ""},
    {"fld qword ptr [rax]", "dd 00", "OTHER_LOAD VECTOR OTHER", "r"},
    {"fstp tbyte ptr [rax]", "db 38", "STORE VECTOR OTHER", "w"},
    {"fadd st, st(1)", "d8 c1", "VECTOR OTHER", ""},
    {"movq mm0, [rax]", "0f 6f 00", "OTHER_LOAD VECTOR", "r"},
    {"kmovq k1, [rax]", "c4 e1 f8 90 08", "OTHER_LOAD", "r"},
    {"vpgatherdd ymm0, [rax+ymm1*4], ymm2", "c4 e2 6d 90 04 88", "OTHER_LOAD VECTOR OTHER", "rv"},
    {"vpscatterdd [rax+zmm1*4]{k1}, zmm0", "62 f2 7d 49 a0 04 88", "STORE VECTOR OTHER", "wv"},
    {"vgatherpf0dps [rax+zmm1*4]{k1}", "62 f2 7d 49 c6 0c 88", "VECTOR OTHER", "-v"},
    {"mov ds, [rax]", "8e 18", "OTHER_LOAD OTHER", "r"},
    {"mov cr0, rax", "0f 22 c0", "OTHER", ""},
    {"lgdt [rax]", "0f 01 10", "OTHER_LOAD OTHER", "r"},
    {"invlpg [rax]", "0f 01 38", "OTHER", "-"},
    {"fxsave [rax]", "0f ae 00", "STORE OTHER", "w"},
    {"xsave [rax]", "0f ae 20", "OTHER_LOAD STORE OTHER", "b"},
    {"ldmxcsr [rax]", "0f ae 10", "OTHER_LOAD OTHER", "r"},
    {"stmxcsr [rax]", "0f ae 18", "STORE OTHER", "w"},
    {"rdtsc", "0f 31", "OTHER", ""},
    {"rdrand rax", "48 0f c7 f0", "OTHER", ""},
    {"xbegin .", "c7 f8 fa ff ff ff", "OTHER", ""},
    {"pause", "f3 90", "OTHER", ""},
    {"cli", "fa", "OTHER", ""},
    {"movdir64b rax, [rcx]", "66 0f 38 f8 01", "OTHER_LOAD STORE OTHER", "r (w)"},
    {"clzero", "0f 01 fc", "STORE OTHER", "(w)"},
    {"tileloadd tmm0, [rax+rcx]", "c4 e2 7b 4b 04 08", "OTHER_LOAD OTHER", "r"},
    {"bndldx bnd0, [rax+rcx]", "0f 1a 04 08", "OTHER", "-"},
    {"ud1 eax, [rax]", "0f b9 00", "OTHER", "-"},
    {"rdsspq rax", "f3 48 0f 1e c8", "OTHER", ""},
    {"emms", "0f 77", "VECTOR NOMEM", ""},
    {"femms", "0f 0e", "VECTOR NOMEM", ""},
};

TEST(Instructions, AreClassified) {
  for (const Expected& expected : kClassified) {
    SCOPED_TRACE(expected.assembly);
    const auto code = test::hex(expected.bytes);
    const auto found = classify(Arch::x86_64, code, 0x401000);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->length, code.size());
    EXPECT_EQ(names_of(found->categories), expected.categories);
    EXPECT_EQ(letters_of(found->memory), expected.memory);
  }
}

TEST(Instructions, HaveTheTargetOfDirectBranches) {
  const auto target = [](const std::string& bytes) {
    const auto code = test::hex(bytes);
    const auto found = classify(Arch::x86_64, code, 0x401000);
    return found ? found->target : std::nullopt;
  };
  EXPECT_THAT(target("75 fe"), Optional(Eq(0x401000U)));              // jne to itself
  EXPECT_THAT(target("e8 00 01 00 00"), Optional(Eq(0x401105U)));     // call
  EXPECT_THAT(target("e9 fb ef bf ff"), Optional(Eq(0U)));            // jmp
  EXPECT_THAT(target("e9 fa ef bf ff"), Optional(Eq(~UINT64_C(0))));  // jmp below address 0
  EXPECT_EQ(target("ff e0"), std::nullopt) << "jmp rax";
  EXPECT_EQ(target("c3"), std::nullopt) << "ret";
  EXPECT_EQ(target("6a 05"), std::nullopt) << "push 5";
  EXPECT_EQ(target("48 8d 05 00 00 00 00"), std::nullopt) << "lea rax, [rip]";
}

TEST(Instructions, HaveIntelsLengthOfBranchesWithAnOperandSizePrefix) {
  // AMD reads two bytes of displacement here, Intel four (SDM volume 2, CALL: in 64-bit mode the
  // operand size is forced to 64 bits).
  const auto code = test::hex("66 e8 00 00 00 00 90");
  const auto found = classify(Arch::x86_64, code, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->length, 6U);
  EXPECT_THAT(found->target, Optional(Eq(6U)));
}

TEST(Instructions, RefuseBytesThatDoNotDecode) {
  const auto decodes = [](const std::string& bytes) {
    return classify(Arch::x86_64, test::hex(bytes), 0).has_value();
  };
  EXPECT_FALSE(decodes(""));
  EXPECT_FALSE(decodes("06")) << "push es, which 64-bit mode does not have";
  EXPECT_FALSE(decodes("48 8b")) << "cut off by the end of the code";
  EXPECT_FALSE(decodes("f0 48 8b 00")) << "lock mov";
  EXPECT_FALSE(decodes("66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90")) << "16 bytes";
  EXPECT_TRUE(decodes("66 66 66 66 66 66 66 66 66 66 66 66 66 66 90")) << "15 bytes";
}

TEST(Instructions, DecodeFromTheirOwnBytesAlone) {
  const auto code = test::hex("48 8b 00 06 06");
  EXPECT_EQ(classify(Arch::x86_64, std::span(code).first(3), 0)->length, 3U);
  EXPECT_EQ(classify(Arch::x86_64, code, 0)->length, 3U);
}

TEST(Categories, FormASet) {
  Categories some{Category::div, Category::gp_load};
  EXPECT_TRUE(some.contains(Category::div));
  EXPECT_FALSE(some.contains(Category::store));
  some.insert(Category::store);
  some.insert(Category::store);
  EXPECT_EQ(some, (Categories{Category::gp_load, Category::store, Category::div}));
  EXPECT_FALSE(some.empty());
  EXPECT_TRUE(Categories().empty());
  EXPECT_EQ(name_of(Category::other), "OTHER");
}

Instruction decoded(const std::string& bytes) {
  const auto found = classify(Arch::x86_64, test::hex(bytes), 0x401000);
  EXPECT_TRUE(found) << bytes;
  return found.value_or(Instruction());
}

TEST(Instructions, HaveTheirSuccessors) {
  const std::vector<std::tuple<std::string, std::string, Flow>> expected{
      {"add rax, rbx", "48 01 d8", Flow::next},
      {"syscall", "0f 05", Flow::next},
      {"je", "74 05", Flow::conditional},
      {"loop", "e2 fe", Flow::conditional},
      {"jrcxz", "e3 05", Flow::conditional},
      {"xbegin", "c7 f8 05 00 00 00", Flow::conditional},
      {"xend", "0f 01 d5", Flow::next},
      {"jmp rel8", "eb 05", Flow::jump},
      {"jmp rax", "ff e0", Flow::indirect_jump},
      {"notrack jmp rax", "3e ff e0", Flow::indirect_jump},
      {"jmp [rax]", "ff 20", Flow::indirect_jump},
      {"call rel32", "e8 00 00 00 00", Flow::call},
      {"call [rax]", "ff 10", Flow::call},
      {"ret", "c3", Flow::leaves},
      {"iretq", "48 cf", Flow::leaves},
      {"int3", "cc", Flow::leaves},
      {"ud2", "0f 0b", Flow::leaves},
      {"hlt", "f4", Flow::leaves}};
  for (const auto& [assembly, bytes, flow] : expected) {
    EXPECT_EQ(decoded(bytes).flow, flow) << assembly;
    if (flow == Flow::conditional || flow == Flow::jump) {
      EXPECT_TRUE(decoded(bytes).target) << assembly;
    }
  }
}

/// Intel's Optimization Reference Manual, "Macro-Fusion": which condition goes with what.
TEST(Instructions, FuseWithConditionalJumpsAsIntelDocuments) {
  const auto pairs = [](const std::string& first, const std::string& second) {
    return fuses(decoded(first).fusion, decoded(second).fusion);
  };
  const std::string carry = "72 05", zero = "74 05", less = "7c 05", sign = "78 05",
                    parity = "7a 05", overflow = "70 05";
  for (const std::string any : {"48 85 d8", "48 21 d8", "48 23 07"}) {  // test, and, and r, [rdi]
    for (const auto& jump : {carry, zero, less, sign, parity, overflow}) {
      EXPECT_TRUE(pairs(any, jump)) << any << ", " << jump;
    }
  }
  for (const std::string some : {"48 39 d8", "48 01 d8", "48 29 d8", "48 39 07", "48 3b 07"}) {
    for (const auto& jump : {carry, zero, less}) EXPECT_TRUE(pairs(some, jump)) << some << jump;
    for (const auto& jump : {sign, parity, overflow}) EXPECT_FALSE(pairs(some, jump)) << some;
  }
  for (const std::string step : {"48 ff c0", "48 ff c8"}) {  // inc, dec
    for (const auto& jump : {zero, less}) EXPECT_TRUE(pairs(step, jump)) << step << jump;
    for (const auto& jump : {carry, sign, parity, overflow}) EXPECT_FALSE(pairs(step, jump));
  }
  EXPECT_FALSE(pairs("48 83 3f 12", zero)) << "cmp [rdi], 0x12";
  EXPECT_FALSE(pairs("f6 07 01", zero)) << "test [rdi], 1";
  EXPECT_FALSE(pairs("48 01 07", zero)) << "add [rdi], rax";
  EXPECT_FALSE(pairs("48 ff 07", zero)) << "inc [rdi]";
  EXPECT_FALSE(pairs("48 09 d8", zero)) << "or rax, rbx";
  EXPECT_FALSE(pairs("48 39 d8", "eb 05")) << "an unconditional jump";
  EXPECT_FALSE(pairs("48 39 d8", "e3 05")) << "jrcxz";
  EXPECT_FALSE(pairs(zero, "48 39 d8")) << "the other way round";
}

TEST(Instructions, ReportDeferredTraps) {
  EXPECT_TRUE(decoded("f3 a4").repeats) << "rep movsb";
  EXPECT_TRUE(decoded("f2 ae").repeats) << "repne scasb";
  EXPECT_FALSE(decoded("a4").repeats) << "movsb";
  EXPECT_FALSE(decoded("f3 0f b8 c3").repeats) << "popcnt";
  EXPECT_TRUE(decoded("8e d0").delays_traps) << "mov ss, eax";
  EXPECT_FALSE(decoded("8e d8").delays_traps) << "mov ds, eax";
}

TEST(Instructions, ReportHowOperandsAreAddressed) {
  const auto formula = [](const std::string& bytes) {
    return decoded(bytes).memory.front().formula.value_or(AddressFormula{});
  };
  EXPECT_EQ(formula("48 8b 05 10 00 00 00"),
            (AddressFormula{.from_instruction = true, .displacement = 0x17, .bytes = 8}))
      << "mov rax, [rip + 0x10]";
  EXPECT_EQ(formula("48 8b 04 25 00 20 00 00"),
            (AddressFormula{.displacement = 0x2000, .bytes = 8}))
      << "absolute";
  EXPECT_EQ(formula("64 48 8b 04 25 28 00 00 00"), AddressFormula{}) << "mov rax, fs:[0x28]";
  EXPECT_EQ(formula("48 0f a3 05 10 00 00 00"), AddressFormula{})
      << "bt [rip], rax: any bit after it";
  EXPECT_EQ(formula("0f ae 25 10 00 00 00"), AddressFormula{})
      << "xsave [rip]: its size depends on the CPU";
  EXPECT_EQ(formula("8b 44 b7 f8"),
            (AddressFormula{
                .base = 7, .index = 6, .scale = 4, .displacement = UINT64_MAX - 7, .bytes = 4}))
      << "mov eax, [rdi + rsi * 4 - 8]";
  EXPECT_EQ(formula("4b 8b 04 cc"),
            (AddressFormula{.base = 12, .index = 9, .scale = 8, .bytes = 8}))
      << "mov rax, [r12 + r9 * 8]";
  EXPECT_EQ(formula("c5 fc 10 04 24"), (AddressFormula{.base = 4, .bytes = 32}))
      << "vmovups ymm0, [rsp]";
  EXPECT_EQ(formula("67 48 8b 07"), AddressFormula{}) << "mov rax, [edi]";
  EXPECT_EQ(formula("64 48 8b 07"), AddressFormula{}) << "mov rax, fs:[rdi]";
  EXPECT_EQ(formula("0f a3 07"), AddressFormula{}) << "bt [rdi], eax";
  EXPECT_EQ(formula("c4 e2 75 92 04 17"), AddressFormula{})
      << "vgatherdps ymm0, [rdi + ymm2], ymm1";
}

TEST(Instructions, HaveTheAddressesOfTheirStackBeforeThem) {
  const auto formulas = [](const std::string& bytes) {
    std::vector<AddressFormula> found;
    for (const MemoryOperand& one : decoded(bytes).memory) {
      found.push_back(one.formula.value_or(AddressFormula{}));
    }
    return found;
  };
  constexpr std::uint64_t kBelow = static_cast<std::uint64_t>(-8);
  const AddressFormula written{.base = 4, .displacement = kBelow, .bytes = 8};
  const AddressFormula read{.base = 4, .bytes = 8};
  EXPECT_THAT(formulas("50"), ElementsAre(written)) << "push rax";
  EXPECT_THAT(formulas("66 50"),
              ElementsAre(AddressFormula{.base = 4, .displacement = UINT64_MAX - 1, .bytes = 2}))
      << "push ax";
  EXPECT_THAT(formulas("ff 74 24 10"),
              ElementsAre(AddressFormula{.base = 4, .displacement = 16, .bytes = 8}, written))
      << "push [rsp + 16]";
  EXPECT_THAT(formulas("9c"), ElementsAre(written)) << "pushfq";
  EXPECT_THAT(formulas("e8 00 00 00 00"), ElementsAre(written)) << "call";
  EXPECT_THAT(formulas("58"), ElementsAre(read)) << "pop rax";
  EXPECT_THAT(formulas("8f 44 24 10"),
              ElementsAre(AddressFormula{.base = 4, .displacement = 24, .bytes = 8}, read))
      << "pop [rsp + 16]: from RSP after the pop";
  EXPECT_THAT(formulas("c3"), ElementsAre(read)) << "ret";
  EXPECT_THAT(formulas("c2 10 00"), ElementsAre(read)) << "ret 16";
  EXPECT_THAT(formulas("c9"), ElementsAre(AddressFormula{.base = 5, .bytes = 8})) << "leave";
  EXPECT_THAT(formulas("c8 10 00 01"), Each(AddressFormula{})) << "enter 16, 1";
}

TEST(Instructions, ComputeRegisters) {
  using Computed = RegisterEffects::Computed;
  const auto computed = [](const std::string& bytes) {
    return register_effects(test::hex(bytes)).value().computed;
  };
  const auto less = [](std::uint64_t bytes) { return 0 - bytes; };
  constexpr std::uint8_t kByte = 8, kWord = 16, kHalf = 32;
  const auto added = [](std::uint8_t of, std::uint8_t from, std::uint64_t addend) {
    return Computed{.of = of, .from = from, .addend = addend};
  };
  EXPECT_EQ(computed("50"), added(4, 4, less(8))) << "push rax";
  EXPECT_EQ(computed("66 50"), added(4, 4, less(2))) << "push ax";
  EXPECT_EQ(computed("58"), added(4, 4, 8)) << "pop rax";
  EXPECT_EQ(computed("5c"), std::nullopt) << "pop rsp";
  EXPECT_EQ(computed("e8 00 00 00 00"), added(4, 4, less(8))) << "call";
  EXPECT_EQ(computed("c3"), added(4, 4, 8)) << "ret";
  EXPECT_EQ(computed("c2 10 00"), added(4, 4, 24)) << "ret 16";
  EXPECT_EQ(computed("c9"), added(4, 5, 8)) << "leave";
  EXPECT_EQ(computed("48 83 c7 10"), added(7, 7, 16)) << "add rdi, 16";
  EXPECT_EQ(computed("48 83 c7 f0"), added(7, 7, less(16))) << "add rdi, -16";
  EXPECT_EQ(computed("49 83 ec 10"), added(12, 12, less(16))) << "sub r12, 16";
  EXPECT_EQ(computed("48 ff c7"), added(7, 7, 1)) << "inc rdi";
  EXPECT_EQ(computed("48 ff cf"), added(7, 7, less(1))) << "dec rdi";
  EXPECT_EQ(computed("48 8d 7f 10"), added(7, 7, 16)) << "lea rdi, [rdi + 16]";
  EXPECT_EQ(computed("48 8d 7e 10"), added(7, 6, 16)) << "lea rdi, [rsi + 16]";
  EXPECT_EQ(computed("48 89 fb"), added(3, 7, 0)) << "mov rbx, rdi";
  EXPECT_EQ(computed("83 c7 10"), (Computed{.of = 7, .from = 7, .bits = kHalf, .addend = 16}))
      << "add edi, 16";
  EXPECT_EQ(computed("48 01 f7"), (Computed{.of = 7, .from = 7, .second = 6, .scale = 1}))
      << "add rdi, rsi";
  EXPECT_EQ(computed("48 29 f7"), (Computed{.of = 7, .from = 7, .second = 6, .scale = -1}))
      << "sub rdi, rsi";
  EXPECT_EQ(computed("8d 7c b7 10"),
            (Computed{.of = 7, .from = 7, .second = 6, .scale = 4, .bits = kHalf, .addend = 16}))
      << "lea edi, [rdi + 4*rsi + 16]";
  EXPECT_EQ(computed("89 fb"), (Computed{.of = 3, .from = 7, .bits = kHalf})) << "mov ebx, edi";
  EXPECT_EQ(computed("48 0f b6 df"), (Computed{.of = 3, .from = 7, .bits = kByte}))
      << "movzx rbx, dil";
  EXPECT_EQ(computed("0f b7 df"), (Computed{.of = 3, .from = 7, .bits = kWord})) << "movzx ebx, di";
  EXPECT_EQ(computed("48 63 df"),
            (Computed{.of = 3, .from = 7, .bits = kHalf, .repeats_sign = true}))
      << "movsxd rbx, edi";
  EXPECT_EQ(computed("0f be d8"), (Computed{.of = 3, .bits = kByte, .repeats_sign = true}))
      << "movsx ebx, al";
  EXPECT_EQ(computed("48 98"), (Computed{.bits = kHalf, .repeats_sign = true})) << "cdqe";
  EXPECT_EQ(computed("81 e7 ff 7f 00 00"), (Computed{.of = 7, .from = 7, .bits = 15}))
      << "and edi, 0x7fff";
  EXPECT_EQ(computed("83 e7 ff"), (Computed{.of = 7, .from = 7, .bits = kHalf})) << "and edi, -1";
  for (const auto& [bytes, disassembly] :
       std::map<std::string, std::string>{{"67 48 8d 7f 10", "lea rdi, [edi + 16]"},
                                          {"48 8d 3d 10 00 00 00", "lea rdi, [rip + 16]"},
                                          {"48 8d 3c f5 10 00 00 00", "lea rdi, [8*rsi + 16]"},
                                          {"48 8b 1f", "mov rbx, [rdi]"},
                                          {"48 89 3b", "mov [rbx], rdi"},
                                          {"8c db", "mov ebx, ds"},
                                          {"48 0f 44 df", "cmove rbx, rdi"},
                                          {"66 89 fb", "mov bx, di"},
                                          {"40 88 fb", "mov bl, dil"},
                                          {"66 0f b6 d8", "movzx bx, al"},
                                          {"0f b6 dc", "movzx ebx, ah"},
                                          {"0f b6 1f", "movzx ebx, byte [rdi]"},
                                          {"48 83 e4 f0", "and rsp, -16"},
                                          {"83 e7 06", "and edi, 6"},
                                          {"83 e7 00", "and edi, 0"},
                                          {"21 f7", "and edi, esi"},
                                          {"fe c4", "inc ah"},
                                          {"48 ff 07", "inc qword [rdi]"},
                                          {"48 03 3e", "add rdi, [rsi]"},
                                          {"48 87 f7", "xchg rdi, rsi"},
                                          {"48 d1 e7", "shl rdi, 1"},
                                          {"48 69 fe 10 00 00 00", "imul rdi, rsi, 16"}}) {
    EXPECT_EQ(computed(bytes), std::nullopt) << disassembly;
  }
}

TEST(Instructions, WriteRegisters) {
  const auto written = [](const std::string& bytes) {
    return register_effects(test::hex(bytes)).value().written;
  };
  EXPECT_EQ(written("58"), 1U << 0U | 1U << 4U) << "pop rax";
  EXPECT_EQ(written("c9"), 1U << 4U | 1U << 5U) << "leave";
  EXPECT_EQ(written("48 8b 3f"), 1U << 7U) << "mov rdi, [rdi]";
  EXPECT_EQ(written("40 8a 3f"), 1U << 7U) << "mov dil, [rdi]";
  EXPECT_EQ(written("8a 23"), 1U << 0U) << "mov ah, [rbx]";
  EXPECT_EQ(written("48 f7 27"), 1U << 0U | 1U << 2U) << "mul qword [rdi]";
  EXPECT_EQ(written("48 0f b1 38"), 1U << 0U) << "cmpxchg [rax], rdi";
  EXPECT_EQ(written("48 87 f7"), 1U << 6U | 1U << 7U) << "xchg rdi, rsi";
  EXPECT_EQ(written("48 01 07"), 0U) << "add [rdi], rax";
  EXPECT_EQ(written("f3 aa"), 1U << 1U | 1U << 7U) << "rep stosb";
  EXPECT_EQ(written("0f 05"), 1U << 0U | 1U << 1U | 1U << 11U) << "syscall";
  EXPECT_EQ(written("cd 80"), 0xffffU) << "int 0x80";
  constexpr std::uint16_t kSi = 1U << 6U, kDi = 1U << 7U;
  for (const auto& [bytes, strings] :
       std::map<std::string, std::uint16_t>{{"48 af", kDi},        // scasq
                                            {"48 a7", kSi | kDi},  // cmpsq
                                            {"a5", kSi | kDi},     // movsl
                                            {"48 ab", kDi},        // stosq
                                            {"48 ad", kSi},        // lodsq
                                            {"6c", kDi},           // insb
                                            {"6e", kSi}}) {        // outsb
    EXPECT_EQ(written(bytes) & (kSi | kDi), strings) << bytes;
  }
  EXPECT_FALSE(register_effects({}));
}

TEST(Instructions, MoveRegistersOfStrings) {
  const auto step = [](const std::string& bytes) {
    return register_effects(test::hex(bytes)).value().string_step;
  };
  EXPECT_EQ(step("f3 aa"), 1) << "rep stosb";
  EXPECT_EQ(step("a5"), 4) << "movsl";
  EXPECT_EQ(step("48 a7"), 8) << "cmpsq";
  EXPECT_EQ(step("f3 0f 58 07"), 0) << "addss xmm0, [rdi]";
}

TEST(Instructions, ReportTheStack) {
  EXPECT_TRUE(decoded("50").memory.front().on_stack) << "push rax";
  EXPECT_TRUE(decoded("c3").memory.front().on_stack) << "ret";
  EXPECT_FALSE(decoded("48 8b 04 24").memory.front().on_stack) << "mov rax, [rsp]: written as such";
  EXPECT_FALSE(decoded("a4").memory.front().on_stack) << "movsb";
  const auto push = decoded("ff 35 10 00 00 00").memory;  // push [rip]
  EXPECT_FALSE(push.front().on_stack);
  EXPECT_TRUE(push.back().on_stack);
}

TEST(Starts, StepOverWhatDoesNotDecode) {
  EXPECT_THAT(starts_in(Arch::x86_64, test::hex("90 06 48 8b 07 48 8b"), 16),
              ElementsAre(16, 17, 18, 21, 22));
  EXPECT_THAT(starts_in(Arch::aarch64, test::hex("00 00 00 00  1f 20 03 d5  1f 20"), 0),
              ElementsAre(0, 4, 8));
  EXPECT_THAT(starts_in(Arch::x86_64, test::hex("62 f1 7c 48 10 07 c3"), 0), ElementsAre(0, 6))
      << "AVX-512";
}

}  // namespace
}  // namespace skid::instructions
