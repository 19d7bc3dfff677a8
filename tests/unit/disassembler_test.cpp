#include "src/symbols/disassembler.h"

#include "src/support/address.h"
#include "tests/support/hex.h"
#include "tests/support/prelude.h"
#include "tests/support/text.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace skid::symbols {
namespace {

using test::hex;

std::vector<std::string> texts(const std::vector<Instruction>& instructions) {
  return test::mapped(instructions, &Instruction::text);
}

TEST(DisassemblerForX86, DecodesEachNopOfOneToNineBytesAsOneInstruction) {
  // The multi-byte NOPs that Intel recommends (SDM volume 2B, NOP).
  std::vector<std::byte> code;
  std::vector<std::uint64_t> expected;
  for (const char* nop :
       {"90", "66 90", "0f 1f 00", "0f 1f 40 00", "0f 1f 44 00 00", "66 0f 1f 44 00 00",
        "0f 1f 80 00 00 00 00", "0f 1f 84 00 00 00 00 00", "66 0f 1f 84 00 00 00 00 00"}) {
    expected.push_back(0x401000 + code.size());
    const auto bytes = hex(nop);
    code.insert(code.end(), bytes.begin(), bytes.end());
  }
  const auto decoded = Disassembler(Arch::x86_64).decode(code, 0x401000, 100);
  EXPECT_EQ(test::mapped(decoded, &Instruction::address), expected);
}

TEST(DisassemblerForX86, WritesIntelSyntaxWithAbsoluteTargets) {
  const auto code = hex("48 8b 07 75 fb c3");
  const auto decoded = Disassembler(Arch::x86_64).decode(code, 0x401000, 100);
  EXPECT_THAT(texts(decoded), ElementsAre("mov rax, qword ptr [rdi]", "jne 0x401000", "ret"));
  EXPECT_EQ(decoded[1].address, 0x401003U);
  EXPECT_EQ(decoded[1].size, 2U);
}

TEST(DisassemblerForX86, SkipsAByteThatDoesNotDecode) {
  // 0x06 was push es; 64-bit mode has no such instruction.
  const auto code = hex("90 06 06 90");
  const Disassembler disassembler(Arch::x86_64);
  EXPECT_THAT(texts(disassembler.decode(code, 16, 100)),
              ElementsAre("nop", ".byte 0x06", ".byte 0x06", "nop"));
}

TEST(DisassemblerForX86, DoesNotReadPastTheEndForATruncatedInstruction) {
  const auto whole = hex("90 48 8b 07");
  const auto cut = std::span(whole).first(3);
  EXPECT_THAT(texts(Disassembler(Arch::x86_64).decode(cut, 0, 100)),
              ElementsAre("nop", ".byte 0x48", ".byte 0x8b"));
}

TEST(DisassemblerForX86, CoversArbitraryBytesWithoutGapOrOverlap) {
  std::mt19937 random(20240517);
  std::uniform_int_distribution<unsigned> byte(0, 255);
  std::vector<std::byte> code(20000);
  for (std::byte& one : code) one = static_cast<std::byte>(byte(random));
  const Disassembler disassembler(Arch::x86_64);
  std::uint64_t next = 0x7000;
  for (const Instruction& instruction : disassembler.decode(code, 0x7000, code.size())) {
    ASSERT_EQ(instruction.address, next);
    ASSERT_GE(instruction.size, 1U);
    next += instruction.size;
  }
  EXPECT_EQ(next, 0x7000 + code.size());
}

TEST(DisassemblerForAarch64, DecodesLittleEndianWords) {
  const auto code = hex("1f 20 03 d5  00 00 40 f9  c0 03 5f d6");
  const auto decoded = Disassembler(Arch::aarch64).decode(code, 0x400000, 100);
  EXPECT_THAT(texts(decoded), ElementsAre("nop", "ldr x0, [x0]", "ret"));
  EXPECT_EQ(decoded[2].address, 0x400008U);
}

TEST(DisassemblerForAarch64, SkipsAWordThatDoesNotDecodeAndTrailingBytes) {
  const auto code = hex("00 00 00 00  1f 20 03 d5  1f 20");  // the first is permanently undefined
  const Disassembler disassembler(Arch::aarch64);
  const auto decoded = disassembler.decode(code, 0, 100);
  EXPECT_THAT(texts(decoded),
              ElementsAre(".byte 0x00, 0x00, 0x00, 0x00", "nop", ".byte 0x1f, 0x20"));
  EXPECT_EQ(decoded[2].size, 2U);
}

TEST(DisassemblerForX86, WritesAllBytesOfAnInstructionThatItDoesNotKnow) {
  const Disassembler disassembler(Arch::x86_64);
  EXPECT_EQ(disassembler.text(hex("48 8b 07"), 0), "mov rax, qword ptr [rdi]");
  EXPECT_EQ(disassembler.text(hex("06 06"), 0), ".byte 0x06, 0x06");
}

TEST(Disassembler, StopsAtTheLimitAndWithoutCode) {
  const auto code = hex("90 90 90");
  Disassembler disassembler(Arch::x86_64);
  EXPECT_EQ(disassembler.decode(code, 0, 2).size(), 2U);
  EXPECT_THAT(disassembler.decode(code, 0, 0), IsEmpty());
  const Disassembler moved = std::move(disassembler);
  EXPECT_EQ(moved.decode(code, 0, 9).size(), 3U);
  for (const Arch arch : {Arch::x86_64, Arch::aarch64}) {
    EXPECT_THAT(Disassembler(arch).decode({}, 0x1000, 10), IsEmpty());
  }
}

}  // namespace
}  // namespace skid::symbols
