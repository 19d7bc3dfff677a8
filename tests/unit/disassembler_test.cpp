#include "src/symbols/disassembler.h"

#include <cstdint>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::symbols {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::byte> bytes(const std::vector<unsigned>& values) {
  std::vector<std::byte> result;
  result.reserve(values.size());
  for (const unsigned value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

std::vector<std::string> texts(const std::vector<Instruction>& instructions) {
  std::vector<std::string> result;
  result.reserve(instructions.size());
  for (const Instruction& instruction : instructions) result.push_back(instruction.text);
  return result;
}

TEST(DisassemblerForX86, DecodesEachNopOfOneToNineBytesAsOneInstruction) {
  // The multi-byte NOPs that Intel recommends (SDM volume 2B, NOP).
  const std::vector<std::vector<unsigned>> nops = {
      {0x90},
      {0x66, 0x90},
      {0x0f, 0x1f, 0x00},
      {0x0f, 0x1f, 0x40, 0x00},
      {0x0f, 0x1f, 0x44, 0x00, 0x00},
      {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
      {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
      {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
      {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
  };
  std::vector<unsigned> code;
  std::vector<std::uint64_t> expected;
  for (const auto& nop : nops) {
    expected.push_back(0x401000 + code.size());
    code.insert(code.end(), nop.begin(), nop.end());
  }
  const Disassembler disassembler(Arch::x86_64);
  EXPECT_EQ(disassembler.starts(bytes(code), 0x401000), expected);
  EXPECT_EQ(disassembler.decode(bytes(code), 0x401000, 100).size(), nops.size());
}

TEST(DisassemblerForX86, WritesIntelSyntaxWithAbsoluteTargets) {
  const auto code = bytes({0x48, 0x8b, 0x07, 0x75, 0xfb, 0xc3});
  const auto decoded = Disassembler(Arch::x86_64).decode(code, 0x401000, 100);
  EXPECT_THAT(texts(decoded), ElementsAre("mov rax, qword ptr [rdi]", "jne 0x401000", "ret"));
  EXPECT_EQ(decoded[1].address, 0x401003U);
  EXPECT_EQ(decoded[1].size, 2U);
}

TEST(DisassemblerForX86, SkipsAByteThatDoesNotDecode) {
  // 0x06 was push es; 64-bit mode has no such instruction.
  const auto code = bytes({0x90, 0x06, 0x06, 0x90});
  const Disassembler disassembler(Arch::x86_64);
  EXPECT_THAT(disassembler.starts(code, 16), ElementsAre(16, 17, 18, 19));
  EXPECT_THAT(texts(disassembler.decode(code, 16, 100)),
              ElementsAre("nop", ".byte 0x06", ".byte 0x06", "nop"));
}

TEST(DisassemblerForX86, DoesNotReadPastTheEndForATruncatedInstruction) {
  const auto whole = bytes({0x90, 0x48, 0x8b, 0x07});
  const auto cut = std::span(whole).first(3);
  EXPECT_THAT(texts(Disassembler(Arch::x86_64).decode(cut, 0, 100)),
              ElementsAre("nop", ".byte 0x48", ".byte 0x8b"));
  EXPECT_THAT(Disassembler(Arch::x86_64).starts(cut, 0), ElementsAre(0, 1, 2));
}

TEST(DisassemblerForX86, CoversArbitraryBytesWithoutGapOrOverlap) {
  std::mt19937 random(20240517);
  std::uniform_int_distribution<unsigned> byte(0, 255);
  std::vector<unsigned> values(20000);
  for (unsigned& value : values) value = byte(random);
  const auto code = bytes(values);
  const Disassembler disassembler(Arch::x86_64);
  std::vector<std::uint64_t> expected;
  std::uint64_t next = 0x7000;
  for (const Instruction& instruction : disassembler.decode(code, 0x7000, code.size())) {
    ASSERT_EQ(instruction.address, next);
    ASSERT_GE(instruction.size, 1U);
    expected.push_back(next);
    next += instruction.size;
  }
  EXPECT_EQ(next, 0x7000 + code.size());
  EXPECT_EQ(disassembler.starts(code, 0x7000), expected);
}

TEST(DisassemblerForAarch64, DecodesLittleEndianWords) {
  const auto code = bytes({0x1f, 0x20, 0x03, 0xd5,    // nop
                           0x00, 0x00, 0x40, 0xf9,    // ldr x0, [x0]
                           0xc0, 0x03, 0x5f, 0xd6});  // ret
  const auto decoded = Disassembler(Arch::aarch64).decode(code, 0x400000, 100);
  EXPECT_THAT(texts(decoded), ElementsAre("nop", "ldr x0, [x0]", "ret"));
  EXPECT_EQ(decoded[2].address, 0x400008U);
}

TEST(DisassemblerForAarch64, SkipsAWordThatDoesNotDecodeAndTrailingBytes) {
  const auto code = bytes({0x00, 0x00, 0x00, 0x00,  // permanently undefined
                           0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20});
  const Disassembler disassembler(Arch::aarch64);
  const auto decoded = disassembler.decode(code, 0, 100);
  EXPECT_THAT(texts(decoded),
              ElementsAre(".byte 0x00, 0x00, 0x00, 0x00", "nop", ".byte 0x1f, 0x20"));
  EXPECT_EQ(decoded[2].size, 2U);
  EXPECT_THAT(disassembler.starts(code, 0), ElementsAre(0, 4, 8));
}

TEST(Disassembler, StopsAtTheLimit) {
  const auto code = bytes({0x90, 0x90, 0x90});
  const Disassembler disassembler(Arch::x86_64);
  EXPECT_EQ(disassembler.decode(code, 0, 2).size(), 2U);
  EXPECT_THAT(disassembler.decode(code, 0, 0), IsEmpty());
}

TEST(Disassembler, OfNoCodeIsEmpty) {
  for (const Arch arch : {Arch::x86_64, Arch::aarch64}) {
    EXPECT_THAT(Disassembler(arch).starts({}, 0x1000), IsEmpty());
    EXPECT_THAT(Disassembler(arch).decode({}, 0x1000, 10), IsEmpty());
  }
}

TEST(Disassembler, CanBeMoved) {
  Disassembler first(Arch::x86_64);
  Disassembler second = std::move(first);
  EXPECT_EQ(second.starts(bytes({0x90, 0x90}), 0).size(), 2U);
}

}  // namespace
}  // namespace skid::symbols
