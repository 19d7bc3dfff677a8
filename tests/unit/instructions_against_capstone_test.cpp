// Zydis, as src/instructions uses it, and Capstone decode the same code: every difference is one of
// those in docs/instructions.md, found by a rule on the instruction.
#include "src/instructions/category.h"
#include "src/instructions/instruction.h"
#include "src/support/address.h"
#include "src/support/process.h"
#include "src/symbols/elf_file.h"
#include "tests/support/capstone_decoder.h"
#include "tests/support/encoding.h"
#include "tests/support/hex.h"
#include "tests/support/prelude.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <link.h>

namespace skid::instructions {
namespace {

using test::CapstoneDecoder;
using test::CapstoneInstruction;
using test::Encoding;
using Accesses = std::vector<Access>;

/// One instruction as both decode it.
struct Pair {
  Encoding encoding;
  std::optional<Instruction> ours;
  std::optional<CapstoneInstruction> theirs;
  Accesses ours_all, ours_explicit, theirs_all;  ///< sorted

  bool agrees() const {
    return ours.has_value() == theirs.has_value() &&
           (!ours || (ours->length == theirs->length && ours_all == theirs_all));
  }
  bool same_length() const { return ours && theirs && ours->length == theirs->length; }
  /// Both decode one operand in memory, and see this done with it.
  bool differs(Access of_ours, Access of_theirs) const {
    return same_length() && ours_all == Accesses{of_ours} && theirs_all == Accesses{of_theirs};
  }
  bool unknown_to_capstone() const { return ours && !theirs; }
  /// Capstone's mnemonic without prefixes.
  std::string_view mnemonic() const {
    if (!theirs) return {};
    const std::size_t blank = theirs->mnemonic.rfind(' ');
    return blank == std::string_view::npos ? theirs->mnemonic : theirs->mnemonic.substr(blank + 1);
  }
  bool is(std::initializer_list<std::string_view> mnemonics) const {
    return std::find(mnemonics.begin(), mnemonics.end(), mnemonic()) != mnemonics.end();
  }
  bool legacy(unsigned map, unsigned opcode) const {
    return encoding.kind == Encoding::Kind::legacy && encoding.map == map &&
           encoding.opcode == opcode;
  }
};

Pair decode(std::span<const std::byte> code, std::uint64_t address, CapstoneDecoder& capstone) {
  Pair pair;
  code = code.first(std::min<std::size_t>(code.size(), 15));
  pair.ours = classify(Arch::x86_64, code, address);
  pair.theirs = capstone.decode(code, address);
  if (pair.ours) {
    for (const MemoryOperand& operand : pair.ours->memory) {
      pair.ours_all.push_back(operand.access);
      if (!operand.implicit) pair.ours_explicit.push_back(operand.access);
    }
  }
  if (pair.theirs) pair.theirs_all = pair.theirs->memory;
  for (Accesses* accesses : {&pair.ours_all, &pair.ours_explicit, &pair.theirs_all}) {
    std::sort(accesses->begin(), accesses->end());
  }
  if (!pair.agrees()) pair.encoding = test::encoding_of(code);
  return pair;
}

bool between(unsigned value, unsigned first, unsigned last) {
  return first <= value && value <= last;
}

struct Rule {
  std::string name;  ///< as in docs/instructions.md
  bool (*covers)(const Pair&);
  std::vector<std::string> examples;  ///< bytes
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all{
      // Both know the instruction; one of them is wrong about what it does to memory.
      {"stack",
       [](const Pair& pair) {
         return pair.same_length() && pair.ours_explicit == pair.theirs_all &&
                pair.is({"push", "pop", "pushfq", "popfq", "pushf", "popf", "call", "ret", "lcall",
                         "retf", "retfq", "leave", "enter", "iret", "iretd", "iretq"});
       },
       {"50", "ff 30", "58", "8f 00", "9c", "9d", "e8 00 00 00 00", "ff 10", "c3", "c2 08 00",
        "ff 18", "cb", "c9", "c8 08 00 00", "48 cf"}},
      {"fixed-register",
       [](const Pair& pair) {
         return pair.same_length() && pair.theirs_all.empty() && pair.ours_explicit.empty() &&
                pair.is({"xlatb", "maskmovq", "maskmovdqu", "vmaskmovdqu"});
       },
       {"d7", "0f f7 c1", "66 0f f7 c1", "c5 f9 f7 c1"}},
      {"string",
       [](const Pair& pair) {
         return pair.same_length() && pair.ours_explicit.empty() &&
                pair.theirs_all == Accesses(pair.ours_all.size(), Access::none) &&
                pair.is({"insb", "insw", "insd", "outsb", "outsw", "outsd", "cmpsd"});
       },
       {"6c", "f3 6d", "6e", "f3 6f", "a7"}},
      {"lea",
       [](const Pair& pair) {
         return pair.differs(Access::none, Access::read) && pair.is({"lea"});
       },
       {"48 8d 00"}},
      {"address-only",
       [](const Pair& pair) {
         return pair.differs(Access::none, Access::read) && !pair.legacy(1, 0x1a) &&
                !pair.legacy(1, 0x1b) &&
                pair.is({"nop", "prefetchnta", "prefetcht0", "prefetcht1", "prefetcht2",
                         "prefetchw", "clflush", "clflushopt", "clwb", "invlpg"});
       },
       {"0f 1f 00", "0f 1c 00", "0f 18 00", "0f 18 08", "0f 18 10", "0f 18 18", "0f 0d 08",
        "0f ae 38", "66 0f ae 38", "66 0f ae 30", "0f 01 38"}},
      {"store",
       [](const Pair& pair) {
         return pair.differs(Access::write, Access::read) &&
                pair.encoding.kind == Encoding::Kind::legacy &&
                (pair.is({"movups", "movupd", "movdqa", "movlps",  "movhps",  "movlpd",   "movhpd",
                          "movd",   "movq",   "movnti", "movntps", "movntpd", "movntdq",  "movntq",
                          "movbe",  "pextrb", "pextrw", "pextrd",  "pextrq",  "stmxcsr",  "fst",
                          "fstp",   "fist",   "fistp",  "fisttp",  "fnstcw",  "extractps"}) ||
                 (pair.encoding.map == 1 && between(pair.encoding.opcode, 0x90, 0x9f)));
       },
       {"0f 11 00", "66 0f 7f 00", "0f 17 00", "0f 7e 00", "48 0f c3 00", "66 0f e7 00",
        "0f 38 f1 00", "0f 92 00", "0f ae 18", "dd 10", "66 0f 3a 14 00 01", "66 0f 3a 17 00 01",
        "dd 18", "df 18", "d9 38"}},
      {"vex-store",
       [](const Pair& pair) {
         return pair.differs(Access::write, Access::read) &&
                pair.encoding.kind != Encoding::Kind::legacy;
       },
       {"c5 f8 11 00", "c5 fd e7 00", "c4 e3 7d 39 00 01", "c4 e2 75 2e 00", "c5 f8 91 00",
        "62 f1 7e 48 7f 00", "62 f2 7d 49 8b 00", "62 f2 7e 48 31 08", "62 f2 7d 49 a0 04 88"}},
      {"read-modify-write",
       [](const Pair& pair) {
         return pair.differs(Access::read_write, Access::read) &&
                pair.is({"cmpxchg", "cmpxchg8b", "cmpxchg16b", "rol", "ror", "rcl", "rcr"});
       },
       {"0f b1 08", "f0 48 0f b1 08", "0f c7 08", "48 0f c7 08", "d1 00", "c1 08 05", "d3 10",
        "d0 18"}},
      {"xsave",
       [](const Pair& pair) {
         return pair.differs(Access::read_write, Access::write) &&
                pair.is({"xsave", "xsave64", "xsaveopt", "xsaveopt64"});
       },
       {"0f ae 20", "48 0f ae 20", "0f ae 30", "48 0f ae 30"}},
      {"test",
       [](const Pair& pair) {
         return pair.differs(Access::read, Access::read_write) && pair.is({"test"});
       },
       {"f6 00 05", "48 f7 00 05 00 00 00"}},
      {"frstor",
       [](const Pair& pair) {
         return pair.differs(Access::read, Access::write) && pair.is({"frstor"});
       },
       {"dd 20"}},
      {"masked-load",
       [](const Pair& pair) {
         return pair.differs(Access::read, Access::none) &&
                pair.encoding.kind == Encoding::Kind::evex && pair.encoding.opmask != 0;
       },
       {"62 f1 7e 49 6f 00", "62 f2 7d 49 90 04 88"}},
      {"bounds",
       [](const Pair& pair) {
         return pair.same_length() && pair.theirs_all == Accesses{Access::read} &&
                pair.is({"nop"}) && (pair.legacy(1, 0x1a) || pair.legacy(1, 0x1b));
       },
       {"f3 0f 1b 00", "0f 1a 04 08", "66 0f 1b 00"}},

      // Both decode something, of different lengths.
      {"branch-operand-size",
       [](const Pair& pair) {
         return pair.ours && pair.theirs && pair.ours->length == pair.theirs->length + 2 &&
                pair.encoding.has66 &&
                (pair.legacy(0, 0xe8) || pair.legacy(0, 0xe9) ||
                 (pair.encoding.map == 1 && between(pair.encoding.opcode, 0x80, 0x8f)));
       },
       {"66 e8 00 00 00 00", "66 e9 00 00 00 00", "66 0f 84 00 00 00 00"}},
      {"undefined",
       [](const Pair& pair) {
         return pair.ours && pair.theirs && pair.ours->length > pair.theirs->length &&
                (pair.legacy(1, 0xff) || pair.legacy(1, 0xb9));
       },
       {"0f ff 00", "67 0f b9 40 04"}},

      // Capstone does not know the instruction.
      {"opmask",
       [](const Pair& pair) {
         const unsigned opcode = pair.encoding.opcode;
         return pair.unknown_to_capstone() && pair.encoding.kind == Encoding::Kind::vex &&
                (pair.encoding.map == 1
                     ? between(opcode, 0x41, 0x4b) || between(opcode, 0x90, 0x93) ||
                           between(opcode, 0x98, 0x99)
                     : pair.encoding.map == 3 && between(opcode, 0x30, 0x33));
       },
       {"c4 e1 f8 90 08", "c4 e1 fb 92 c8", "c5 ec 4b cb", "c5 f8 99 ca", "c4 e3 f9 31 ca 03"}},
      {"evex",
       [](const Pair& pair) {
         return pair.unknown_to_capstone() && pair.encoding.kind == Encoding::Kind::evex;
       },
       {"62 f3 75 48 3f ca 01", "62 f2 76 48 26 ca", "62 f3 6d 28 25 cb 05", "62 f2 7d 48 78 18",
        "62 f5 74 48 58 c2", "62 f1 7e 09 10 00"}},
      {"vex",
       [](const Pair& pair) {
         const unsigned opcode = pair.encoding.opcode;
         return pair.unknown_to_capstone() && pair.encoding.kind == Encoding::Kind::vex &&
                (pair.encoding.map == 2
                     ? opcode == 0x49 || opcode == 0x4b || between(opcode, 0x50, 0x53) ||
                           opcode == 0x5c || opcode == 0x5e || opcode == 0xcf ||
                           between(opcode, 0xdc, 0xdf)
                     : pair.encoding.map == 3 && (opcode == 0x44 || between(opcode, 0xce, 0xcf)));
       },
       {"c4 e2 7b 49 c0", "c4 e2 7b 4b 04 08", "c4 e2 71 50 00", "c4 e2 6b 5e c1", "c4 e2 6d dc cb",
        "c4 e3 6d 44 cb 01", "c4 e2 6d cf cb"}},
      {"system",
       [](const Pair& pair) {
         const bool registers = pair.encoding.names_registers();
         const unsigned modrm = pair.encoding.modrm, digit = pair.encoding.extension();
         return pair.unknown_to_capstone() &&
                ((pair.legacy(1, 0x01) &&
                  (registers ? modrm == 0xc0 || modrm == 0xc5 || between(modrm, 0xe8, 0xef) ||
                                   between(modrm, 0xfa, 0xff)
                             : pair.encoding.has_f3 && digit == 5)) ||
                 (pair.legacy(1, 0x1e) && pair.encoding.has_f3 && registers && digit == 1) ||
                 (pair.legacy(1, 0xae) && pair.encoding.has_f3 && (digit == 4 || digit == 5)) ||
                 (pair.legacy(3, 0xf0) && pair.encoding.has_f3));
       },
       {"0f 01 ee", "0f 01 e8", "0f 01 fc", "f3 0f 01 28", "f3 48 0f 1e c8", "f3 48 0f ae e9",
        "f3 48 0f ae e0", "f3 0f 3a f0 c0 01"}},
      {"direct-store",
       [](const Pair& pair) {
         return pair.unknown_to_capstone() && (pair.legacy(2, 0xf5) || pair.legacy(2, 0xf6) ||
                                               pair.legacy(2, 0xf8) || pair.legacy(2, 0xf9));
       },
       {"48 0f 38 f6 08", "66 48 0f 38 f5 08", "66 0f 38 f8 01", "0f 38 f9 08", "f2 0f 38 f8 01"}},
      {"cipher",
       [](const Pair& pair) {
         const unsigned opcode = pair.encoding.opcode;
         return pair.unknown_to_capstone() && pair.encoding.kind == Encoding::Kind::legacy &&
                (pair.encoding.map == 2
                     ? opcode == 0xcf || (pair.encoding.has_f3 && between(opcode, 0xd8, 0xfb))
                     : pair.encoding.map == 3 && between(opcode, 0xce, 0xcf));
       },
       {"66 0f 38 cf c1", "66 0f 3a ce ca 01", "f3 0f 38 dc 00", "f3 0f 38 fa c1"}},
      {"amd-prefetch",
       [](const Pair& pair) {
         return pair.unknown_to_capstone() && pair.legacy(1, 0x0d) &&
                !pair.encoding.names_registers();
       },
       {"0f 0d 00", "0f 0d 10"}},
      {"register-nop",
       [](const Pair& pair) {
         return pair.unknown_to_capstone() && pair.encoding.kind == Encoding::Kind::legacy &&
                pair.encoding.map == 1 && between(pair.encoding.opcode, 0x18, 0x1f) &&
                pair.encoding.names_registers() &&
                pair.ours->categories == Categories{Category::nop};
       },
       {"0f 1f c0", "66 0f 1f c0"}},
  };
  return all;
}

std::vector<const Rule*> rules_for(const Pair& pair) {
  std::vector<const Rule*> covering;
  for (const Rule& rule : rules()) {
    if (rule.covers(pair)) covering.push_back(&rule);
  }
  return covering;
}

std::string letters_of(const Accesses& accesses) {
  std::string letters;
  for (const Access access : accesses) letters += "-rwb"[static_cast<int>(access)];
  return letters;
}

std::string describe(std::span<const std::byte> code, std::uint64_t address, const Pair& pair) {
  std::string bytes;
  for (const std::byte byte : code.first(std::min<std::size_t>(code.size(), 15))) {
    bytes += fmt::format("{:02x} ", std::to_integer<unsigned>(byte));
  }
  return fmt::format(
      "at {:#x}: {}: ours {} bytes, accesses \"{}\"; Capstone's {} bytes, \"{}\", {}", address,
      bytes, pair.ours ? pair.ours->length : 0, letters_of(pair.ours_all),
      pair.theirs ? pair.theirs->length : 0, letters_of(pair.theirs_all),
      pair.theirs ? fmt::format("{} {}", pair.theirs->mnemonic, pair.theirs->operands) : "nothing");
}

struct DecodedCode {
  std::size_t bytes = 0;
  std::size_t instructions = 0;
  std::size_t undecoded = 0;  ///< bytes that neither decodes
  std::map<std::string, std::size_t> differences;
  std::size_t undocumented = 0;
  std::vector<std::string> first_undocumented;
};

/// Steps as Zydis does, over a byte where it decodes nothing.
void compare(std::span<const std::byte> code, std::uint64_t address, CapstoneDecoder& capstone,
             DecodedCode& comparison) {
  comparison.bytes += code.size();
  while (!code.empty()) {
    const Pair pair = decode(code, address, capstone);
    ++comparison.instructions;
    if (!pair.ours && !pair.theirs) ++comparison.undecoded;
    if (!pair.agrees()) {
      const auto covering = rules_for(pair);
      if (covering.empty()) {
        ++comparison.undocumented;
        if (comparison.first_undocumented.size() < 20) {
          comparison.first_undocumented.push_back(describe(code, address, pair));
        }
      } else {
        ++comparison.differences[covering.front()->name];
      }
    }
    const std::size_t step = pair.ours ? pair.ours->length : 1;
    code = code.subspan(step);
    address += step;
  }
}

/// Of each section: some 500,000 instructions.
constexpr std::size_t kMostBytes = std::size_t{2} << 20;

DecodedCode compare_executable_sections(const std::filesystem::path& path) {
  const auto file = symbols::ElfFile::open(path);
  CapstoneDecoder capstone;
  DecodedCode comparison;
  for (Elf_Scn* section = elf_nextscn(file.elf(), nullptr); section != nullptr;
       section = elf_nextscn(file.elf(), section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_PROGBITS ||
        (header.sh_flags & SHF_EXECINSTR) == 0) {
      continue;
    }
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr) continue;
    compare({static_cast<const std::byte*>(data->d_buf), std::min(data->d_size, kMostBytes)},
            header.sh_addr, capstone, comparison);
  }
  return comparison;
}

void print(const std::filesystem::path& path, const DecodedCode& comparison) {
  fmt::print("{}: {} bytes, {} instructions, {} bytes that neither decodes\n", path.string(),
             comparison.bytes, comparison.instructions, comparison.undecoded);
  for (const auto& [name, count] : comparison.differences) fmt::print("{:>9} {}\n", count, name);
  std::fflush(stdout);
}

/// The library of this process whose file name begins so; empty when there is none.
std::filesystem::path loaded_library(const std::string& name) {
  struct Search {
    std::string name;
    std::filesystem::path found;
  } search{name, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        const std::filesystem::path path(info->dlpi_name);
        if (path.filename().string().rfind(wanted.name, 0) != 0) return 0;
        wanted.found = path;
        return 1;
      },
      &search);
  return search.found;
}

/// The compiler proper of GCC, ordinary code; empty if it is not installed.
std::filesystem::path compiler_proper() {
  if (!find_program("g++")) return {};
  std::string path = run_program({"g++", "-print-prog-name=cc1plus"}).out;
  while (!path.empty() && path.back() == '\n') path.pop_back();
  return path.rfind('/', 0) == 0 ? path : std::string();
}

void expect_documented_differences_alone(const std::filesystem::path& path,
                                         std::size_t least_instructions) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the programs of this machine are not x86-64";
#endif
  if (path.empty()) GTEST_SKIP() << "not on this machine";
  const DecodedCode comparison = compare_executable_sections(path);
  print(path, comparison);
  EXPECT_GE(comparison.instructions, least_instructions);
  EXPECT_LE(comparison.undecoded, comparison.instructions / 1000) << "is this code?";
  EXPECT_EQ(comparison.undocumented, 0U);
  for (const std::string& difference : comparison.first_undocumented) ADD_FAILURE() << difference;
}

TEST(InstructionsAgainstCapstone, DifferAsDocumentedInLibc) {
  expect_documented_differences_alone(loaded_library("libc.so"), 100'000);
}

TEST(InstructionsAgainstCapstone, DifferAsDocumentedInLibm) {
  expect_documented_differences_alone(loaded_library("libm.so"), 50'000);
}

TEST(InstructionsAgainstCapstone, DifferAsDocumentedInALargeBinary) {
  expect_documented_differences_alone(compiler_proper(), 400'000);
}

TEST(InstructionsAgainstCapstone, DifferInEachExampleByItsRule) {
  if (CapstoneDecoder::version() != "4.0") {
    GTEST_SKIP() << "the list is of Capstone 4.0, this is " << CapstoneDecoder::version();
  }
  CapstoneDecoder capstone;
  for (const Rule& rule : rules()) {
    EXPECT_FALSE(rule.examples.empty()) << rule.name;
    for (const std::string& example : rule.examples) {
      SCOPED_TRACE(rule.name + ": " + example);
      const auto code = test::hex(example);
      const Pair pair = decode(code, 0x401000, capstone);
      ASSERT_TRUE(pair.ours);
      EXPECT_EQ(pair.ours->length, code.size());
      EXPECT_FALSE(pair.agrees());
      EXPECT_THAT(rules_for(pair), ElementsAre(&rule));
    }
  }
}

TEST(InstructionsAgainstCapstone, HaveNoRuleForWrongAccesses) {
  // What would be wrong: a load taken for a store and the like are no rule's.
  CapstoneDecoder capstone;
  const auto code = test::hex("48 8b 00");
  const Pair sound = decode(code, 0, capstone);
  EXPECT_TRUE(sound.agrees());
  const std::vector<void (*)(Pair&)> mistakes{
      [](Pair& pair) { pair.ours_all = pair.ours_explicit = {Access::write}; },
      [](Pair& pair) { pair.ours->length = 4; }, [](Pair& pair) { pair.theirs.reset(); },
      [](Pair& pair) { pair.ours.reset(); }};
  for (const auto& make : mistakes) {
    Pair wrong = sound;
    wrong.encoding = test::encoding_of(code);
    make(wrong);
    EXPECT_FALSE(wrong.agrees());
    EXPECT_TRUE(rules_for(wrong).empty());
  }
}

TEST(InstructionsAgainstCapstone, HaveTheRulesOfTheDocumentation) {
  // Rows of its table of differences: "| `stack` | …".
  std::ifstream file(SKIDSCAN_TEST_DATA "/../docs/instructions.md");
  ASSERT_TRUE(file) << "docs/instructions.md";
  std::set<std::string> documented, tested;
  bool in_table = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| rule |", 0) == 0) in_table = true;
    if (line.empty()) in_table = false;
    if (!in_table || line.rfind("| `", 0) != 0) continue;
    documented.insert(line.substr(3, line.find('`', 3) - 3));
  }
  for (const Rule& rule : rules()) EXPECT_TRUE(tested.insert(rule.name).second) << rule.name;
  EXPECT_EQ(documented, tested);
}

}  // namespace
}  // namespace skid::instructions
