// What the rules of src/instructions make of A64 instructions: some by name, whose words are the
// GNU assembler's for the text beside them, and a great many at random, against what two
// disassemblers call them.
#include "src/instructions/instruction.h"
#include "src/support/address.h"
#include "src/support/process.h"
#include "src/symbols/disassembler.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <ios>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace skid::instructions {
namespace {

constexpr std::uint64_t kAddress = 0x400000;

std::array<std::byte, 4> bytes_of(std::uint32_t word) {
  std::array<std::byte, 4> bytes = {};
  for (unsigned i = 0; i < 4; ++i) bytes.at(i) = static_cast<std::byte>(word >> (8 * i));
  return bytes;
}

std::optional<Instruction> decode(std::uint32_t word, std::uint64_t address = kAddress) {
  return classify(Arch::aarch64, bytes_of(word), address);
}

std::string categories_of(std::uint32_t word) {
  const auto found = decode(word);
  return found ? names_of(found->categories) : "none";
}

struct Named {
  std::string_view assembly;
  std::uint32_t word;
};

void expect_all(const std::vector<Named>& all, std::string_view categories, Access access,
                bool many_addresses = false) {
  for (const auto& [assembly, word] : all) {
    SCOPED_TRACE(assembly);
    const auto found = decode(word);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->length, 4u);
    EXPECT_EQ(names_of(found->categories), categories);
    EXPECT_EQ(found->flow, Flow::next);
    EXPECT_FALSE(found->target) << "a literal's address is no target";
    EXPECT_THAT(found->memory,
                ElementsAre(MemoryOperand{
                    .access = access, .implicit = false, .vector_of_addresses = many_addresses}));
  }
}

TEST(A64Instructions, ClassifyLoads) {
  expect_all({{"ldr x1, [x10]", 0xf9400141},
              {"ldr w1, [x10, #4]!", 0xb8404d41},
              {"ldrsb x1, [x10], #1", 0x38801541},
              {"ldur x1, [x10, #-8]", 0xf85f8141},
              {"ldtr x1, [x10]", 0xf8400941},
              {"ldr x1, label", 0x58000a21},
              {"ldrsw x1, label", 0x98000a01},
              {"ldp x1, x2, [sp], #16", 0xa8c10be1},
              {"ldnp q0, q1, [x3]", 0xac400460},
              {"ldpsw x1, x2, [x3]", 0x69400861},
              {"ldxr x1, [x2]", 0xc85f7c41},
              {"ldaxp x1, x2, [x3]", 0xc87f8861},
              {"ldar w1, [x2]", 0x88dffc41},
              {"ldlar w1, [x2]", 0x88df7c41},
              {"ldapr x1, [x2]", 0xf8bfc041},
              {"ldapur x1, [x2, #8]", 0xd9408041},
              {"ldraa x1, [x2, #8]", 0xf8201441},
              {"ldrab x1, [x2, #8]!", 0xf8a01c41},
              {"ldr q0, [x1, x2, lsl #4]", 0x3ce27820},
              {"ld1 {v0.16b, v1.16b}, [x0], #32", 0x4cdfa000},
              {"ld4 {v0.s-v3.s}[1], [x0]", 0x0d60b000},
              {"ld1r {v0.8h}, [x0], x3", 0x4dc3c400},
              {"ld1b {z0.b}, p0/z, [x0]", 0xa400a000},
              {"ldr z0, [x0]", 0x85804000},
              {"ldr p0, [x0, #3, mul vl]", 0x85800c00},
              {"ld1rw {z0.s}, p0/z, [x0]", 0x8540c000},
              {"ld64b x0, [x2]", 0xf83fd040}},
             "LOAD", Access::read);
  expect_all({{"ldff1w {z0.d}, p0/z, [x0, z1.d, lsl #2]", 0xc561e000}}, "LOAD", Access::read, true);
}

TEST(A64Instructions, ClassifyStores) {
  expect_all({{"str x1, [x10]", 0xf9000141},
              {"strb w1, [x10, x3]", 0x38236941},
              {"stp x29, x30, [sp, #-16]!", 0xa9bf7bfd},
              {"stxr w0, x1, [x2]", 0xc8007c41},
              {"stlxp w0, x1, x2, [x3]", 0xc8208861},
              {"stlr x1, [x2]", 0xc89ffc41},
              {"stllrb w1, [x2]", 0x089f7c41},
              {"stlur x1, [x2, #8]", 0xd9008041},
              {"sttr x1, [x10]", 0xf8000941},
              {"st2 {v0.2d, v1.2d}, [x0]", 0x4c008c00},
              {"st1 {v0.b}[3], [x0], #1", 0x0d9f0c00},
              {"stnt1b {z0.b}, p0, [x0]", 0xe410e000},
              {"str z0, [x0]", 0xe5804000},
              {"st64b x0, [x2]", 0xf83f9040},
              {"stzg x0, [x1]", 0xd9600820},
              {"stgp x0, x1, [x2]", 0x69000440},
              {"setp [x0]!, x1!, x2", 0x19c20420}},
             "STORE", Access::write);
  expect_all({{"st1d {z0.d}, p0, [x0, z1.d]", 0xe581a000}}, "STORE", Access::write, true);
}

TEST(A64Instructions, ClassifyAtomicsAsLoadsAndStores) {
  expect_all({{"cas x0, x1, [x2]", 0xc8a07c41},
              {"caspal x0, x1, x2, x3, [x4]", 0x4860fc82},
              {"swpb w0, w1, [x2]", 0x38208041},
              {"ldaddal x0, x1, [x2]", 0xf8e00041},
              {"stadd x0, [x2]", 0xf820005f},
              {"ldsmaxh w0, w1, [x2]", 0x78204041}},
             "STORE LOAD", Access::read_write);
}

TEST(A64Instructions, ClassifyMemoryCopies) {
  const auto copy = decode(0x19010440);  // cpyfp [x0]!, [x1]!, x2!
  ASSERT_TRUE(copy);
  EXPECT_EQ(names_of(copy->categories), "STORE LOAD");
  EXPECT_TRUE(copy->repeats);
  EXPECT_EQ(copy->memory.size(), 2u);
  EXPECT_TRUE(decode(0x19c20420)->repeats) << "setp";
  EXPECT_FALSE(decode(0xf9400141)->repeats) << "ldr";
}

TEST(A64Instructions, ClassifyPrefetchesWithoutAccess) {
  expect_all({{"prfm pldl1keep, [x0]", 0xf9800000},
              {"prfm pldl1keep, label", 0xd8000400},
              {"prfum pstl2strm, [x0, #-1]", 0xf89ff013},
              {"prfb pldl1keep, p0, [x0]", 0x85c00000},
              {"prfw pldl1keep, p0, [x0, z1.d, lsl #2]", 0xc461c000}},
             "PREFETCH", Access::none);
}

TEST(A64Instructions, ClassifyUnknownOnesAsOther) {
  for (const auto& [assembly, word] : std::vector<Named>{{"dc zva, x0", 0xd50b7420},
                                                         {"dmb ish", 0xd5033bbf},
                                                         {"mrs x0, cntvct_el0", 0xd53be040},
                                                         {"stg x0, [x1]", 0xd9200820},
                                                         {"ldg x0, [x1]", 0xd9600020},
                                                         {"bti c", 0xd503245f},
                                                         {"pacibsp", 0xd503237f}}) {
    EXPECT_EQ(categories_of(word), "OTHER") << assembly;
    EXPECT_EQ(decode(word)->flow, Flow::next) << assembly;
  }
}

TEST(A64Instructions, OfDataProcessingAccessNoMemory) {
  for (const auto& [assembly, word] : std::vector<Named>{{"add x0, x1, x2", 0x8b020020},
                                                         {"add x0, x1, #1", 0x91000420},
                                                         {"udiv x1, x2, x3", 0x9ac30841},
                                                         {"adr x0, label", 0x10000340},
                                                         {"fadd d0, d1, d2", 0x1e622820},
                                                         {"mul v0.4s, v1.4s, v2.4s", 0x4ea29c20}}) {
    EXPECT_EQ(categories_of(word), "NOMEM") << assembly;
    EXPECT_EQ(decode(word)->flow, Flow::next) << assembly;
  }
}

TEST(A64Instructions, HaveTheAddressOfALiteral) {
  EXPECT_EQ(decode(0x58000046, 0x1000)->literal, 0x1008u) << "ldr x6, .+8";
  EXPECT_EQ(decode(0x98ffffe6, 0x1000)->literal, 0x0ffcu) << "ldrsw x6, .-4";
  EXPECT_EQ(decode(0xd8000040, 0x1000)->literal, std::nullopt) << "prfm pldl1keep, .+8";
  EXPECT_EQ(decode(0xf9400020, 0x1000)->literal, std::nullopt) << "ldr x0, [x1]";
}

TEST(A64Instructions, HaveTheSuccessorsOfTheirEncoding) {
  struct Branch {
    std::string_view assembly;
    std::uint32_t word;
    Flow flow;
    std::optional<std::int64_t> distance;
  };
  for (const auto& [assembly, word, flow, distance] :
       std::vector<Branch>{{"b .+52", 0x1400000d, Flow::jump, 52},
                           {"b .-4", 0x17ffffff, Flow::jump, -4},
                           {"bl .+48", 0x9400000c, Flow::call, 48},
                           {"b.ne .+44", 0x54000161, Flow::conditional, 44},
                           {"b.eq .-8", 0x54ffffc0, Flow::conditional, -8},
                           {"cbz x0, .+40", 0xb4000140, Flow::conditional, 40},
                           {"cbnz w3, .-1048576", 0x35800003, Flow::conditional, -1048576},
                           {"tbnz x0, #33, .+36", 0xb7080120, Flow::conditional, 36},
                           {"tbz w0, #1, .-32768", 0x360c0000, Flow::conditional, -32768},
                           {"br x1", 0xd61f0020, Flow::indirect_jump, {}},
                           {"braa x1, x2", 0xd71f0822, Flow::indirect_jump, {}},
                           {"blr x1", 0xd63f0020, Flow::call, {}},
                           {"blraaz x1", 0xd63f083f, Flow::call, {}},
                           {"ret", 0xd65f03c0, Flow::leaves, {}},
                           {"retab", 0xd65f0fff, Flow::leaves, {}}}) {
    SCOPED_TRACE(assembly);
    const auto found = decode(word);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->flow, flow);
    EXPECT_EQ(names_of(found->categories), "BRANCH");
    EXPECT_EQ(found->target, distance
                                 ? std::optional(kAddress + static_cast<std::uint64_t>(*distance))
                                 : std::nullopt);
  }
  EXPECT_EQ(decode(0xd4200020)->flow, Flow::leaves) << "brk #1";
  EXPECT_EQ(decode(0xd4400040)->flow, Flow::leaves) << "hlt #2";
  EXPECT_EQ(decode(0xd69f03e0)->flow, Flow::leaves) << "eret";
  EXPECT_EQ(decode(0xd4000001)->flow, Flow::next)
      << "svc #0: the kernel returns to the next instruction";
  EXPECT_EQ(decode(0x17ffffff, 0)->target, 0xffff'ffff'ffff'fffcu) << "wraps";
}

TEST(A64Instructions, NeedAWholeWord) {
  const auto load = bytes_of(0xf9400141);
  EXPECT_FALSE(classify(Arch::aarch64, std::span(load).first(3), kAddress));
  EXPECT_FALSE(classify(Arch::aarch64, {}, kAddress));
  EXPECT_EQ(categories_of(0x00000000), "none") << "udf #0";
  EXPECT_EQ(categories_of(0x0000ffff), "none") << "udf #0xffff";
  EXPECT_EQ(step_without_instruction(Arch::aarch64), 4u);
  EXPECT_EQ(step_without_instruction(Arch::x86_64), 1u);
}

// A sweep: words at random, most of them loads, stores, branches and SVE, in which the fields that
// many encodings require to be all ones or zeros often are.
std::vector<std::uint32_t> random_words(std::size_t count) {
  std::mt19937 random(20240607);
  std::vector<std::uint32_t> words;
  for (std::size_t i = 0; i < count; ++i) {
    auto word = static_cast<std::uint32_t>(random());
    switch (i % 5) {
      case 0:
        word = (word | 1U << 27) & ~(1U << 25);
        break;
      case 1:
        word = (word & ~(15U << 25)) | 2U << 25 | 1U << 31;
        break;
      case 2:
        word = (word & ~(7U << 26)) | 5U << 26;
        break;
      case 3: {
        constexpr std::array<std::uint32_t, 7> kUsual = {0x7c00, 0xfc00, 0,     0x400,
                                                         0x800,  0x1000, 0x9000};
        word = (word | 1U << 27) & ~(1U << 25);
        word = (word & ~0xfc00U) | kUsual.at(random() % kUsual.size());
        if (random() % 2 == 0) word = (word & ~(31U << 16)) | (random() % 2 == 0 ? 31U << 16 : 0);
        break;
      }
      default:
        break;
    }
    words.push_back(word);
  }
  return words;
}

/// The text of a word from a disassembler.
struct Text {
  std::string mnemonic, operands;
};

Text text_of(const std::string& line) {
  const auto blank = line.find_first_of(" \t");
  if (blank == std::string::npos) return {line, {}};
  return {line.substr(0, blank), line.substr(line.find_first_not_of(" \t", blank))};
}

bool begins_with_one_of(std::string_view text, std::initializer_list<std::string_view> all) {
  return std::ranges::any_of(all, [&](std::string_view one) { return text.starts_with(one); });
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> all) {
  return std::ranges::find(all, text) != all.end();
}

/// Categories by the name alone.
std::string categories_by_name(std::string_view name) {
  const auto atomics = {"add", "clr", "eor", "set", "smax", "smin", "umax", "umin"};
  const bool is_access = name.starts_with("ld") || name.starts_with("st");
  if (is_one_of(name, {"ldg", "ldgm", "stg", "st2g", "stgm"})) return "OTHER";
  for (const std::string_view operation : atomics) {
    if (is_access && name.substr(2).starts_with(operation)) return "STORE LOAD";
  }
  if (begins_with_one_of(name, {"cas", "swp", "cpyf", "cpyp", "cpym", "cpye"})) return "STORE LOAD";
  if (begins_with_one_of(name, {"setp", "setm", "sete", "setgp", "setgm", "setge"})) return "STORE";
  if (is_access) return name.starts_with("ld") ? "LOAD" : "STORE";
  if (name.starts_with("prf")) return "PREFETCH";
  if (name == "nop") return "NOP";
  if (is_one_of(name, {"b", "bl", "br", "blr", "ret", "cbz", "cbnz", "tbz", "tbnz"}) ||
      begins_with_one_of(name, {"b.", "bc.", "braa", "brab", "blraa", "blrab", "reta"})) {
    return "BRANCH";
  }
  return is_one_of(name, {"eret", "eretaa", "eretab", "drps"}) ? "BRANCH OTHER" : "OTHER";
}

Flow flow_by_name(std::string_view name) {
  if (name == "b") return Flow::jump;
  if (name == "bl" || name.starts_with("blr")) return Flow::call;
  if (name == "br" || begins_with_one_of(name, {"braa", "brab"})) return Flow::indirect_jump;
  if (begins_with_one_of(name, {"b.", "bc.", "cbz", "cbnz", "tbz", "tbnz"})) {
    return Flow::conditional;
  }
  const bool leaves = begins_with_one_of(name, {"ret", "eret", "drps", "dcps"}) ||
                      is_one_of(name, {"brk", "hlt", "tcancel"});
  return leaves ? Flow::leaves : Flow::next;
}

/// Disagreements, the first of each kind; and how many words of each of our categories were
/// compared.
struct Comparison {
  std::map<std::string, std::string> differences;
  std::map<std::string, std::size_t> compared;

  void compare(std::uint32_t word, std::uint64_t address, const Text& text) {
    constexpr std::uint32_t kSme = 15U << 25;  // 0: not distinguished
    if ((word & kSme) == 0) return;
    const auto found = decode(word, address);
    const std::string ours = found ? names_of(found->categories) : "none";
    const std::string theirs = categories_by_name(text.mnemonic);
    ++compared[ours];
    const auto differ = [&](std::string_view what) {
      differences.try_emplace(fmt::format("{} {}: ours {}", text.mnemonic, what, ours),
                              fmt::format("{:08x} {}", word, text.operands));
    };
    // What computes has no word of its own in a name.
    if ((ours == "NOMEM" ? "OTHER" : ours) != theirs) differ("by category");
    if (!found) return;
    if (found->flow != flow_by_name(text.mnemonic)) differ("by flow");
    if (found->target) {
      const std::string target = fmt::format("{:x}", *found->target);
      if (text.operands.find("0x" + target) == std::string::npos &&
          !text.operands.starts_with(target) &&
          text.operands.find(' ' + target) == std::string::npos) {
        differ("by target " + target);
      }
    }
  }

  /// `seen`: categories of which the disassembler has to know instructions.
  void expect_agreement(std::initializer_list<std::string_view> seen) const {
    for (const auto& [what, where] : differences) ADD_FAILURE() << what << ": " << where;
    for (const std::string_view category : seen) {
      const auto found = compared.find(std::string(category));
      EXPECT_GT(found == compared.end() ? 0 : found->second, 100u) << category;
    }
  }
};

std::vector<std::byte> code_of(const std::vector<std::uint32_t>& words) {
  std::vector<std::byte> code;
  for (const std::uint32_t word : words) {
    const auto bytes = bytes_of(word);
    code.insert(code.end(), bytes.begin(), bytes.end());
  }
  return code;
}

TEST(A64Sweep, AgreesWithCapstone) {
  const auto words = random_words(200'000);
  const auto code = code_of(words);
  Comparison comparison;
  const symbols::Disassembler capstone(Arch::aarch64);
  const auto all = capstone.decode(code, kAddress, words.size());
  ASSERT_EQ(all.size(), words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (all[i].text.starts_with('.')) continue;  // Capstone does not know it
    comparison.compare(words[i], all[i].address, text_of(all[i].text));
  }
  // Capstone 4 knows neither the atomics of Armv8.1 nor SVE.
  comparison.expect_agreement({"LOAD", "STORE", "PREFETCH", "BRANCH", "OTHER"});
}

TEST(A64Sweep, AgreesWithObjdump) {
  constexpr const char* kObjdump = "aarch64-linux-gnu-objdump";
  SKIP_WITHOUT(kObjdump);
  const auto words = random_words(200'000);
  const auto code = code_of(words);
  const test::TemporaryDirectory directory;
  const std::string path = directory / "words";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(code.data()), static_cast<std::streamsize>(code.size()));
  const auto done = run_program({kObjdump, "-D", "-b", "binary", "-m", "aarch64",
                                 fmt::format("--adjust-vma={:#x}", kAddress), path});
  ASSERT_TRUE(done.code.success()) << done.err;
  Comparison comparison;
  std::istringstream lines(done.out);
  std::string line;
  std::size_t index = 0;
  while (std::getline(lines, line)) {
    // "  400000:\tf9400141 \tldr\tx1, [x10]"
    const auto word = line.find(":\t");
    const auto name = word == std::string::npos ? word : line.find('\t', word + 2);
    if (name == std::string::npos) continue;
    ASSERT_LT(index, words.size());
    const Text text = text_of(line.substr(name + 1));
    const bool is_known = text.mnemonic != ".inst" && text.mnemonic != "udf" &&
                          line.find("undefined") == std::string::npos;
    if (is_known) comparison.compare(words[index], kAddress + 4 * index, text);
    ++index;
  }
  EXPECT_EQ(index, words.size());
  comparison.expect_agreement({"LOAD", "STORE", "STORE LOAD", "PREFETCH", "BRANCH", "OTHER"});
}

}  // namespace
}  // namespace skid::instructions
