#include "src/symbols/module.h"

#include "src/perfdata/tracepoint.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "src/symbols/demangle.h"
#include "src/symbols/location.h"
#include "tests/support/error_message.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/symbol_values.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

namespace skid::symbols {
namespace {

/// Functions in assembly, so that every byte is known.
constexpr const char* kFunctions = R"(
  .text
  .globl _start
  .type _start, @function
_start:
  .byte 0x90, 0x90, 0x90, 0x90
  .size _start, . - _start
  .byte 0xcc, 0xcc, 0xcc, 0xcc          # belongs to no function
  .globl sized
  .type sized, @function
sized:
  .byte 1, 2, 3, 4, 5, 6, 7, 8
  .size sized, . - sized
  .type without_size, @function
without_size:
  .byte 0x90, 0x90, 0x90
label:
  .byte 0x90, 0x90
  .globl marker
  .type marker, @function
marker:
  .ascii "<marker>"
  .size marker, . - marker
  .data
  .globl datum
  .type datum, @object
  .size datum, 8
datum:
  .quad 0
)";

class ModuleTest : public testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT("cc"); }

  static Completed run(const std::vector<std::string>& argv) {
    Completed completed = run_program(argv);
    EXPECT_TRUE(completed.code.success()) << shell_quoted(argv) << "\n" << completed.err;
    return completed;
  }

  /// Compiles one source to a program or library of that name.
  fs::path build(const std::string& name, const std::string& source_name, std::string_view source,
                 std::vector<std::string> flags, const std::string& compiler = "cc") const {
    std::vector<std::string> argv = {compiler, "-o", (directory_ / name).string(),
                                     directory_.write(source_name, source).string()};
    argv.insert(argv.end(), flags.begin(), flags.end());
    run(argv);
    return built_ = directory_ / name;
  }

  /// Of a symbol of the file that was built last.
  std::uint64_t value_of(const std::string& symbol) const {
    return test::symbol_values(built_).at(symbol);
  }

  fs::path build_functions(const std::string& name = "functions",
                           std::vector<std::string> more_flags = {}) const {
    std::vector<std::string> flags = {"-nostdlib", "-static", "-no-pie"};
    flags.insert(flags.end(), more_flags.begin(), more_flags.end());
    return build(name, "functions.s", kFunctions, flags);
  }

  /// A program of that assembly.
  Module assembled(std::string_view source, std::vector<std::string> flags = {}) const {
    flags.insert(flags.end(), {"-nostdlib", "-static"});
    return Module::open(build("program", "program.s", source, flags));
  }

  /// What cc builds for, where that is not x86-64.
  static std::string other_machine() {
    const auto machine = run({"cc", "-dumpmachine"}).out;
    return machine.starts_with("x86_64") ? "" : machine;
  }

  test::TemporaryDirectory directory_;
  mutable fs::path built_;
};

#define SKIP_UNLESS_X86                                         \
  if (const auto machine = other_machine(); !machine.empty()) { \
    GTEST_SKIP() << "cc builds for " << machine;                \
  }

std::string name_at(const Module& module, std::uint64_t address) {
  const auto function = module.function_at(address);
  if (!function) return "";
  return fmt::format("{}+{}", function->name, address - function->range.begin);
}

TEST_F(ModuleTest, NamesFunctionsAndLabelsFromTheirFirstByteToTheirLast) {
  const Module module = Module::open(build_functions());
  const std::uint64_t sized = value_of("sized");
  for (const auto& [offset, name] : std::map<std::uint64_t, std::string>{{0, "sized+0"},
                                                                         {7, "sized+7"},
                                                                         {8, "without_size+0"},
                                                                         {10, "without_size+2"},
                                                                         {11, "label+0"}}) {
    EXPECT_EQ(name_at(module, sized + offset), name);
  }
  EXPECT_EQ(name_at(module, sized - 1), "");
  const auto functions = module.functions_named("sized");
  ASSERT_EQ(functions.size(), 1U);
  EXPECT_EQ(functions[0].range, (AddressRange{sized, sized + 8}));
  EXPECT_EQ(module.functions_named("without_size")[0].range, (AddressRange{sized + 8, sized + 11}));
  EXPECT_EQ(module.functions_named("label")[0].range, (AddressRange{sized + 11, sized + 13}));
  // Data has a name, too.
  EXPECT_EQ(name_at(module, value_of("datum")), "");
  EXPECT_THAT(module.functions_named("datum"), IsEmpty());
}

TEST_F(ModuleTest, EndsASymbolWithoutASizeWithItsSection) {
  const Module module = assembled(
      ".globl _start\n_start: .byte 1, 2\n"
      ".section second,\"ax\"\n"
      ".globl unnamed\nunnamed: .byte 3, 4\n"
      ".globl last\n.type last,@function\n"
      "last: .byte 5\n"
      ".section third,\"ax\"\n.globl no_code\n"
      "no_code: .byte 6\n");
  const std::uint64_t start = value_of("_start");
  EXPECT_EQ(name_at(module, start + 1), "_start+1");
  EXPECT_EQ(name_at(module, value_of("unnamed")), "") << "no label of code";
  EXPECT_EQ(name_at(module, value_of("last")), "last+0");
  EXPECT_EQ(name_at(module, value_of("no_code")), "") << "of another section";
}

TEST_F(ModuleTest, ReturnsTheBytesOfAFunctionUpToTheEndOfTheFile) {
  const Module module = Module::open(build_functions());
  const auto sized = module.code(module.functions_named("sized").at(0).range);
  EXPECT_THAT(sized, ElementsAre(std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                                 std::byte{5}, std::byte{6}, std::byte{7}, std::byte{8}));
  const AddressRange last = module.functions_named("marker").at(0).range;
  EXPECT_EQ(module.code({last.begin, UINT64_MAX}).size(), 8U) << "the segment ends there";
  EXPECT_THAT(module.code({UINT64_MAX - 9, UINT64_MAX}), IsEmpty());
  EXPECT_THAT(module.code({last.end, last.begin}), IsEmpty());
}

TEST_F(ModuleTest, TranslatesFileOffsetsOfFixedAndPositionIndependentPrograms) {
  for (const auto& flags :
       {std::vector<std::string>{"-static", "-no-pie"}, std::vector<std::string>{"-static-pie"},
        std::vector<std::string>{"-shared"},
        std::vector<std::string>{"-static", "-no-pie", "-Wl,-z,noseparate-code"}}) {
    std::vector<std::string> all = flags;
    all.push_back("-nostdlib");
    const fs::path path = build("program", "functions.s", kFunctions, all);
    const std::string content = read_file(path, std::uint64_t{64} << 20U);
    const std::size_t offset = content.find("<marker>");
    ASSERT_NE(offset, std::string::npos);
    const Module module = Module::open(path);
    EXPECT_EQ(module.address_at(offset), value_of("marker")) << flags[0];
    EXPECT_EQ(module.address_at(content.size()), std::nullopt);
    EXPECT_EQ(module.address_at(UINT64_MAX), std::nullopt);
  }
}

TEST_F(ModuleTest, ReturnsAllStaticFunctionsOfOneNameLowestFirst) {
  const fs::path first =
      directory_.write("first.s", ".type twice,@function\ntwice: .byte 1,1\n.size twice,2\n");
  const Module module = assembled(
      ".globl _start\n_start: nop\n"
      ".type twice,@function\ntwice: .byte 2,2,2\n.size twice,3\n",
      {first.string()});
  const auto functions = module.functions_named("twice");
  ASSERT_EQ(functions.size(), 2U);
  EXPECT_LT(functions[0].range.begin, functions[1].range.begin);
  EXPECT_EQ(functions[0].range.size() + functions[1].range.size(), 5U);
}

TEST_F(ModuleTest, ChoosesOneOfSeveralNamesAsPerfDoesButKnowsAll) {
  const Module module = assembled(
      ".macro name symbol, binding, size\n"
      ".type \\symbol,@function\n.\\binding \\symbol\n.size \\symbol,\\size\n\\symbol:\n"
      ".endm\n"
      "name _start, globl, 1\nnop\n"
      // Global before weak, few underscores before many, then the longest.
      "name a_weak_one_with_a_long_name, weak, 2\n"
      "name ____global_with_underscores, globl, 2\n"
      "name global, globl, 2\n"
      "name global_longer, globl, 2\n"
      "nop\nnop\n"
      // Global before local, and a size before none.
      "name local_function, local, 3\n"
      "name local_function_without_size, local, 0\n"
      "name gl, globl, 3\n"
      "nop\nnop\nnop\n");
  const std::uint64_t begin = value_of("_start");
  EXPECT_EQ(name_at(module, begin + 1), "global_longer+0");
  EXPECT_EQ(name_at(module, begin + 2), "global_longer+1");
  EXPECT_EQ(name_at(module, begin + 3), "gl+0");
  for (const char* name :
       {"a_weak_one_with_a_long_name", "____global_with_underscores", "global"}) {
    const auto functions = module.functions_named(name);
    ASSERT_EQ(functions.size(), 1U) << name;
    EXPECT_EQ(functions[0].range, (AddressRange{begin + 1, begin + 3})) << name;
  }
  for (const char* name : {"local_function", "local_function_without_size"}) {
    const auto functions = module.functions_named(name);
    ASSERT_EQ(functions.size(), 1U) << name;
    EXPECT_EQ(functions[0].range, (AddressRange{begin + 3, begin + 6})) << name;
  }
}

/// A function per symbol, one byte each from the first one on.
std::string functions_of(const std::vector<std::string>& symbols) {
  std::string source;
  for (const std::string& symbol : symbols) {
    source += fmt::format(".globl \"{0}\"\n.type \"{0}\",@function\n\"{0}\": nop\n", symbol);
  }
  return source;
}

TEST_F(ModuleTest, NamesFunctionsOfCppAndRustAsTheirSources) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"_ZN3app7Account6insertEi", "app::Account::insert(int)"},
      {"_ZN3app7Account6insertEd", "app::Account::insert(double)"},
      {"_ZN3app4sizeIiEEiT_", "int app::size<int>(int)"},
      {"_ZNSt6vectorIiSaIiEE9push_backERKi",
       "std::vector<int, std::allocator<int> >::push_back(int const&)"},
      {"_ZNK3app7AccountcvlEv", "app::Account::operator long() const"},
      {"_RNvMNtCs6GmmlP4bgsG_1r5innerINtB2_1ThE2goB4_", "<r::inner::T<u8>>::go"},
      {"_ZN1r5inner10T$LT$X$GT$2go17ha24e223752888595E", "r::inner::T<X>::go"},
      {"_ZN1AD1Ev", "A::~A()"},
      {"_ZN1AclEi", "A::operator()(int)"},
      {"_Zonk", "_Zonk"},
      {"plain", "plain"}};
  const std::vector<std::string> symbols =
      test::mapped(names, [](const auto& one) { return std::string(one.first); });
  const fs::path path =
      build("program", "names.s", functions_of(symbols), {"-nostdlib", "-static", "-Wl,-eplain"});
  const Module module = Module::open(path);
  const Module raw = Module::open(path, {}, NameStyle::symbols);
  for (const auto& [symbol, name] : names) {
    const std::uint64_t address = value_of(symbol);
    EXPECT_EQ(name_at(module, address), name + "+0");
    EXPECT_EQ(name_at(raw, address), symbol + "+0");
    EXPECT_EQ(module.functions_named(symbol).size(), 1U) << symbol;
    EXPECT_EQ(module.functions_named(name).size(), 1U) << name;
  }
  EXPECT_EQ(module.functions_named("app::Account::insert").size(), 2U);
  EXPECT_EQ(module.functions_named("app::Account::insert(double)").size(), 1U);
  EXPECT_EQ(module.functions_named("<r::inner::T<u8>>::go").size(), 1U);
  EXPECT_EQ(module.functions_named("A::~A()").size(), 1U);
  EXPECT_EQ(module.functions_named("A::operator()(int)").size(), 1U);
  EXPECT_THAT(raw.functions_named("app::Account::insert"), IsEmpty());
}

TEST_F(ModuleTest, KeepsNamesThatWouldExpandWithoutEnd) {
  const auto repeated = [](const std::string& text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += text;
    return result;
  };
  const auto pairs = [](int depth) {  // p<p<p<A, A>, p<A, A> >, ...>: each level twice as long
    constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string name = "1pI";
    for (int i = 0; i < depth; ++i) name += "S0_I";
    name += "1AS1_E";
    for (int i = 1; i <= depth; ++i)
      name += fmt::format("S{}_E", kDigits.at(static_cast<std::size_t>(i)));
    return name;
  };
  const std::string sane = "_ZN3app3runEv";
  std::vector<std::string> symbols = {
      "_Z1fI" + pairs(34) + "Evv",                                         // gigabytes of text
      "_Z1fIDp" + pairs(34) + "Evv",                                       // and a search before it
      "_ZN1Acv" + repeated("T_I", 100) + "i" + repeated("E", 100) + "Ev",  // parsed 2^100 times
      "_RNvMINtC1a1bFGzzzzzzzzzz_EuEu3foo",                                // 62^10 hidden lifetimes
      sane};
  const Module module = assembled(functions_of(symbols), {"-Wl,-e," + sane});
  const std::clock_t begin = std::clock();
  for (const std::string& symbol : symbols) {
    EXPECT_EQ(name_at(module, value_of(symbol)), (symbol == sane ? "app::run()" : symbol) + "+0");
  }
  EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 5);
}

TEST_F(ModuleTest, AssignsAnAddressInNestedFunctionsToTheInnermost) {
  const Module module = assembled(
      ".globl _start\n.type _start,@function\n_start: nop\n"
      ".type inner,@function\ninner: nop\nnop\n"
      ".size inner, . - inner\n"
      "nop\n.size _start, . - _start\n");
  const std::uint64_t begin = value_of("_start");
  EXPECT_EQ(name_at(module, begin), "_start+0");
  EXPECT_EQ(name_at(module, begin + 1), "inner+0");
  EXPECT_EQ(name_at(module, begin + 2), "inner+1");
  EXPECT_EQ(name_at(module, begin + 3), "_start+3");
  EXPECT_EQ(name_at(module, begin + 4), "");
}

TEST_F(ModuleTest, ReadsTheBuildId) {
  const fs::path path = build_functions("with_id", {"-Wl,--build-id=0x0123456789abcdef"});
  EXPECT_EQ(Module::open(path).build_id(), "0123456789abcdef");
  EXPECT_EQ(Module::open(build_functions("without", {"-Wl,--build-id=none"})).build_id(), "");

  if (!find_program("readelf")) return;
  const fs::path hashed = build_functions("hashed", {"-Wl,--build-id=sha1"});
  const std::string build_id = Module::open(hashed).build_id();
  EXPECT_EQ(build_id.size(), 40U);
  EXPECT_THAT(run({"readelf", "-n", hashed.string()}).out, HasSubstr("Build ID: " + build_id));
}

TEST_F(ModuleTest, KnowsX86AndReads32BitProgramsWhichItDoesNotDecode) {
  SKIP_UNLESS_X86;
  EXPECT_EQ(Module::open(build_functions()).arch(), Arch::x86_64);
  const Module module = Module::open(build_functions("program32", {"-m32"}));
  EXPECT_EQ(module.arch(), std::nullopt);
  EXPECT_EQ(name_at(module, value_of("sized") + 7), "sized+7");
}

TEST_F(ModuleTest, ReadsAarch64OfEitherEndianness) {
  SKIP_WITHOUT("aarch64-linux-gnu-gcc");
  for (const char* endianness : {"-mlittle-endian", "-mbig-endian"}) {
    const Module module =
        Module::open(build("program", "words.s",
                           ".globl _start\n.type _start,%function\n_start: nop\n.word 0\nnop\nret\n"
                           ".size _start, 16\n",
                           {"-nostdlib", "-static", "-Wl,--build-id=0x0123abcd", endianness},
                           "aarch64-linux-gnu-gcc"));
    EXPECT_EQ(module.arch(), Arch::aarch64) << endianness;
    EXPECT_EQ(module.build_id(), "0123abcd") << endianness;
    const auto start = module.functions_named("_start");
    ASSERT_EQ(start.size(), 1U) << endianness;
    // The word makes the assembler put the labels $d and $x into the function.
    EXPECT_EQ(name_at(module, start[0].range.begin + 4), "_start+4") << endianness;
    EXPECT_EQ(name_at(module, start[0].range.begin + 8), "_start+8") << endianness;
    const auto code = module.code(start[0].range);
    ASSERT_EQ(code.size(), 16U);
    EXPECT_EQ(code[0], std::byte{0x1f}) << "instructions are little-endian always";
  }
}

TEST_F(ModuleTest, HasOnlyDynamicSymbolsOnceStripped) {
  const fs::path path = build("library.so", "functions.s", kFunctions, {"-shared", "-nostdlib"});
  const std::uint64_t sized = value_of("sized");
  SKIP_WITHOUT("strip");
  run({"strip", path.string()});
  const Module module = Module::open(path);
  EXPECT_EQ(name_at(module, sized + 7), "sized+7");
  EXPECT_THAT(module.functions_named("without_size"), IsEmpty());
}

TEST_F(ModuleTest, KnowsWhereFunctionsAreOnceStripped) {
  constexpr const char* kSource = R"(
static __attribute__((noinline)) int hidden(int x) { return x * 3; }
static __attribute__((noinline)) long other(long *p) { return p[1] + hidden((int)p[0]); }
long shown(long *p) { return other(p) + other(p + 1); })";
  const fs::path path = build("library.so", "library.c", kSource, {"-shared", "-fPIC", "-O1"});
  const Module whole = Module::open(path);
  std::vector<AddressRange> ranges;
  for (const char* name : {"hidden", "other", "shown"}) {
    const auto found = whole.functions_named(name);
    ASSERT_EQ(found.size(), 1U) << name;
    ranges.push_back(found.front().range);
  }
  SKIP_WITHOUT("strip");
  run({"strip", path.string()});
  const Module stripped = Module::open(path);
  EXPECT_FALSE(stripped.function_at(ranges[0].begin)) << "it has no name";
  EXPECT_EQ(stripped.function_at(ranges[2].begin)->name, "shown");
  const std::vector<std::uint64_t> starts = stripped.function_starts();
  for (const AddressRange& range : ranges) {
    EXPECT_EQ(stripped.function_range_at(range.begin), range);
    EXPECT_EQ(stripped.function_range_at(range.end - 1), range);
    EXPECT_THAT(starts, Contains(range.begin));
    EXPECT_EQ(std::ranges::count(stripped.symbol_values(), range.begin), range == ranges[2])
        << "a place that no symbol names is no label";
  }
}

TEST_F(ModuleTest, NamesPltEntries) {
  SKIP_UNLESS_X86;
  const Module module = Module::open(build(
      "program", "calls.s",
      ".globl main\nmain: call puts@plt\ncall getpid@plt\nret\n.section .note.GNU-stack,\"\"\n",
      {"-no-pie", "-Wl,-z,lazy"}));
  const auto puts_entry = module.functions_named("puts@plt");
  const auto getpid_entry = module.functions_named("getpid@plt");
  ASSERT_EQ(puts_entry.size(), 1U);
  ASSERT_EQ(getpid_entry.size(), 1U);
  EXPECT_THAT(module.functions_named("puts"), IsEmpty());
  // The call's operand is the distance from its end to the entry.
  const std::uint64_t main = value_of("main");
  const auto code = module.code({main, main + 5});
  ASSERT_EQ(code.size(), 5U);
  std::uint32_t distance = 0;
  for (std::size_t i = 4; i >= 1; --i)
    distance = distance << 8U | std::to_integer<unsigned>(code[i]);
  EXPECT_EQ(puts_entry[0].range.begin,
            main + 5 + static_cast<std::uint64_t>(static_cast<std::int32_t>(distance)));
  EXPECT_EQ(name_at(module, puts_entry[0].range.begin + 6), "puts@plt+6");
}

TEST_F(ModuleTest, NamesPltEntriesByTheSlotsThatTheyJumpThrough) {
  SKIP_UNLESS_X86;
  SKIP_WITHOUT("objdump");
  const char* source =
      "#include <stdlib.h>\n#include <unistd.h>\n"
      "static int one(void) { return 1; }\n"
      "static void* resolve(void) { return one; }\n"
      "int chosen(void) __attribute__((ifunc(\"resolve\"), visibility(\"hidden\")));\n"
      "int (*volatile pointer)(void);\n"
      "int main(void) { pointer = getppid; return chosen() + getppid() + abs(getpid()) + "
      "(int)getuid(); }\n";
  for (const char* protection : {"none", "full"}) {
    for (const char* binding : {"lazy", "now"}) {
      const fs::path path = build("program", "plt.c", source,
                                  {"-O0", "-fPIE", "-pie", fmt::format("-Wl,-z,{}", binding),
                                   fmt::format("-fcf-protection={}", protection)});
      const Module module = Module::open(path);
      EXPECT_EQ(module.functions_named("getppid@plt").size(), 1U) << "in .plt.got";
      EXPECT_EQ(module.functions_named("getpid@plt").size(), 1U);
      EXPECT_EQ(module.functions_named("getuid@plt").size(), 1U);
      EXPECT_EQ(module.functions_named("chosen@plt").size(), 1U) << "an IFUNC";
      // objdump names entries by the slots.
      const auto listed = run({"sh", "-c",
                               "objdump -d -j .plt -j .plt.sec -j .plt.got \"$0\" 2>/dev/null | "
                               "sed -n 's/^0*\\([0-9a-f]*\\) <\\(get[a-z]*@plt\\)>:$/\\1 \\2/p'",
                               path.string()});
      for (const std::string& line : test::lines_of(listed.out)) {
        const std::uint64_t address = std::stoull(line, nullptr, 16);
        EXPECT_EQ(name_at(module, address), line.substr(line.find(' ') + 1) + "+0") << protection;
      }
      EXPECT_THAT(listed.out, HasSubstr("getppid@plt"));
    }
  }
}

TEST_F(ModuleTest, ReadsMiniDebugInfo) {
  SKIP_WITHOUT("objcopy", "strip");
  if (!find_program("xz")) GTEST_SKIP() << "xz is missing";
  const fs::path path = build("library.so", "functions.s", kFunctions, {"-shared", "-nostdlib"});
  const std::uint64_t sized = value_of("sized"), inner = value_of("without_size");
  const auto with_section = [&](const std::string& content) {
    const fs::path file = path.parent_path() / "with_section";
    std::ofstream(file.string() + ".xz") << content;
    run({"objcopy", "--add-section", ".gnu_debugdata=" + file.string() + ".xz", path.string(),
         file.string()});
    return Module::open(file);
  };
  // As find-debuginfo makes it: of the symbols those that are not dynamic.
  const fs::path mini = path.parent_path() / "mini";
  run({"objcopy", "-S", "--keep-symbol=without_size", "--remove-section=.comment", path.string(),
       mini.string()});
  run({"strip", path.string()});
  run({"xz", "--keep", mini.string()});
  const std::string compressed = read_file(mini.string() + ".xz", 1 << 20);
  const Module module = with_section(compressed);
  EXPECT_EQ(name_at(module, inner + 1), "without_size+1");
  EXPECT_EQ(name_at(module, sized + 7), "sized+7") << "a dynamic symbol";

  // The symbols of a file count for its size, which may be 1 MiB and 16 times that of the file.
  const auto padded = [&](std::size_t mebibytes) {
    const fs::path padding = path.parent_path() / "padding", file = path.parent_path() / "padded";
    std::ofstream(padding) << std::string(mebibytes << 20U, '\0');
    run({"objcopy", "--add-section", ".padding=" + padding.string(), mini.string(), file.string()});
    run({"xz", "--force", file.string()});
    return read_file(file.string() + ".xz", 1 << 20);
  };
  EXPECT_EQ(name_at(with_section(padded(1)), inner + 1), "without_size+1");
  EXPECT_EQ(name_at(with_section(padded(32)), inner + 1), "");

  std::ofstream(mini) << std::string(std::size_t{64} << 20U, '\0');
  run({"xz", "--keep", "--force", mini.string()});
  for (const std::string& damaged :
       {compressed.substr(0, compressed.size() / 2), std::string("no xz"), std::string(),
        read_file(mini.string() + ".xz", 1 << 20)}) {
    const Module without = with_section(damaged);
    EXPECT_EQ(name_at(without, inner + 1), "");
    EXPECT_EQ(name_at(without, sized + 7), "sized+7");
  }
}

TEST_F(ModuleTest, FindsTheLineOfAnAddress) {
  const char* source = "int f(int x) {\n  return x * 3;\n}\n\nint g(int x) {\n  return x;\n}\n";
  for (const char* version : {"-gdwarf-4", "-gdwarf-5"}) {
    const Module module =
        Module::open(build("library.so", "lines.c", source, {"-shared", "-O0", version}));
    const AddressRange g = module.functions_named("g").at(0).range;
    const auto first = module.line_at(g.begin);
    ASSERT_TRUE(first) << version;
    EXPECT_THAT(first->file, testing::EndsWith("/lines.c"));
    EXPECT_EQ(first->line, 5) << version;
    EXPECT_EQ(module.line_at(g.end - 1).value().line, 7) << version;
    EXPECT_EQ(module.line_at(UINT64_MAX), std::nullopt);
  }
  const Module without = Module::open(build("plain.so", "lines.c", source, {"-shared"}));
  EXPECT_EQ(without.line_at(value_of("g")), std::nullopt);
}

TEST_F(ModuleTest, FindsLinesOfAUnitWithALongName) {
  const Module module = assembled(R"(
  .text
  .globl _start
_start:
  .file 1 "long.c"
  .loc 1 7
  nop
  .loc 1 8
  nop
end:
  .section .debug_line,"",@progbits
lines:
  .section .debug_abbrev,"",@progbits
  .uleb128 1, 0x11                      # DW_TAG_compile_unit
  .byte 0
  .uleb128 0x03, 0x08, 0x10, 0x17       # DW_AT_name: a string; DW_AT_stmt_list: an offset
  .uleb128 0x11, 0x01, 0x12, 0x07, 0, 0 # DW_AT_low_pc: an address; DW_AT_high_pc: 8 bytes
  .byte 0
  .section .debug_info,"",@progbits
  .long unit_end - unit
unit:
  .short 4
  .long 0
  .byte 8
  .uleb128 1
  .fill 9000, 1, 'n'
  .byte 0
  .long lines
  .quad _start, end - _start
unit_end:
)");
  const std::uint64_t start = value_of("_start");
  const std::uint64_t end = value_of("end");
  EXPECT_EQ(module.line_at(start).value().line, 7);
  EXPECT_EQ(module.line_at(end - 1).value().line, 8);
  EXPECT_FALSE(module.has_partial_lines());
}

TEST_F(ModuleTest, KeepsTheLinesItReadOfAFileThatIsTruncated) {
  const char* source = "int f(int x) {\n  return x * 3;\n}\n\nint g(int x) {\n  return x;\n}\n";
  const fs::path library = build("library.so", "lines.c", source, {"-shared", "-O0", "-g"});
  const Module early = Module::open(library);
  const AddressRange g = early.functions_named("g").at(0).range;
  ASSERT_TRUE(early.line_at(g.begin));
  const Module late = Module::open(library);
  fs::resize_file(library, 64);
  EXPECT_EQ(early.line_at(g.end - 1).value().line, 7);
  EXPECT_EQ(late.line_at(g.begin), std::nullopt);
  EXPECT_EQ(late.function_at(g.begin), std::nullopt);
  EXPECT_THAT(late.code(g), IsEmpty());
}

/// A stripped library beside its debug file, linked by name.
class SeparateDebugFile : public ModuleTest {
 protected:
  void SetUp() override {
    ModuleTest::SetUp();
    SKIP_WITHOUT("objcopy");
  }

  static constexpr const char* kSource =
      "static int hidden(int x) { return x * 3; }\nint shown(int x) { return hidden(x); }\n";

  fs::path split(const std::string& build_id_flag) const {
    fs::path library =
        build("library.so", "hidden.c", kSource, {"-shared", "-g", "-O0", build_id_flag});
    const std::string debug = (directory_ / "library.debug").string();
    run({"objcopy", "--only-keep-debug", library.string(), debug});
    run({"objcopy", "--strip-all", "--add-gnu-debuglink=" + debug, library.string()});
    return library;
  }
};

TEST_F(SeparateDebugFile, ProvidesSymbolsAndLines) {
  for (const char* flag : {"-Wl,--build-id=sha1", "-Wl,--build-id=none"}) {
    const fs::path library = split(flag);
    for (const char* place : {"library.debug", ".debug/library.debug"}) {
      fs::create_directory(directory_ / ".debug");
      if (!fs::exists(directory_ / place)) {
        fs::rename(directory_ / "library.debug", directory_ / place);
      }
      const Module module = Module::open(library);
      const auto hidden = module.functions_named("hidden");
      ASSERT_EQ(hidden.size(), 1U) << flag << ' ' << place;
      EXPECT_EQ(module.line_at(hidden[0].range.begin).value().line, 1) << flag << ' ' << place;
      EXPECT_FALSE(module.code(hidden[0].range).empty()) << "code is in the library itself";
    }
  }
}

TEST_F(SeparateDebugFile, MayBeACopyFromBeforeTheFileWasStripped) {
  const fs::path library =
      build("library.so", "hidden.c", kSource, {"-shared", "-g", "-O0", "-Wl,--build-id=sha1"});
  const std::string id = Module::open(library).build_id();
  const BinaryPlaces places{.build_id_cache = directory_ / "cache"};
  const fs::path entry = places.build_id_cache / ".build-id" / id.substr(0, 2) / id.substr(2);
  fs::create_directories(entry);
  fs::copy_file(library, entry / "elf");
  run({"strip", library.string()});
  EXPECT_THAT(Module::open(library).functions_named("hidden"), IsEmpty());
  const Module module = Module::open(library, places);
  ASSERT_THAT(module.functions_named("hidden"), SizeIs(1));
  const AddressRange hidden = module.functions_named("hidden").front().range;
  EXPECT_EQ(module.line_at(hidden.begin).value().line, 1);
  run({"strip", (entry / "elf").string()});
  EXPECT_THAT(Module::open(library, places).functions_named("hidden"), IsEmpty());
}

TEST_F(SeparateDebugFile, IsRefusedWithAnotherBuildId) {
  for (const char* flag : {"-Wl,--build-id=sha1", "-Wl,--build-id=none"}) {
    const fs::path library = split(flag);
    build("library.debug", "other.c",
          "static int hidden(int x) { return x; } int (*f)(int) = hidden;",
          {"-shared", "-g", flag});
    const Module module = Module::open(library);
    EXPECT_THAT(module.functions_named("hidden"), IsEmpty()) << flag;
    EXPECT_EQ(module.functions_named("shown").size(), 1U) << flag;
  }
}

TEST_F(SeparateDebugFile, IsNotOpenedIfItIsAFifo) {
  const fs::path library = split("-Wl,--build-id=none");
  fs::remove(directory_ / "library.debug");
  ASSERT_EQ(::mkfifo((directory_ / "library.debug").c_str(), 0600), 0);
  EXPECT_THAT(Module::open(library).functions_named("hidden"), IsEmpty());
}

TEST_F(ModuleTest, RefusesFilesOfHoles) {
  const fs::path file = build_functions();
  fs::resize_file(file, 1U << 20U);  // as much of a file can be holes
  EXPECT_EQ(name_at(Module::open(file), value_of("sized")), "sized+0");
  fs::resize_file(file, 1U << 30U);
  EXPECT_THAT(test::message_of<InputError>([&] { Module::open(file); }),
              HasSubstr("a file of 1073741824 bytes, most of which are holes"));
  fs::resize_file(file, 0);
  std::ofstream(file) << std::string(1U << 20U, 'x');
  fs::resize_file(file, 8U << 20U);
  EXPECT_THAT(test::message_of<InputError>([&] { Module::open(file); }),
              HasSubstr("a file of another format"));  // an eighth of it was written
}

TEST_F(ModuleTest, RefusesFilesThatAreNotRegularElfFiles) {
  const fs::path fifo = directory_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const std::vector<std::pair<fs::path, std::string>> refused{
      {fifo, "a FIFO"},
      {directory_.path(), "a directory"},
      {"/dev/null", "a device"},
      {directory_.write("text", "no program\n"), "a file of another format"},
      {directory_.write("empty", ""), "a file of another format"},
      {directory_ / "missing", "missing: "}};
  for (const auto& [path, reason] : refused) {
    EXPECT_THAT(test::message_of<InputError>([&, file = path] { Module::open(file); }),
                HasSubstr(reason));
  }
}

TEST(RunningVdso, HasTheClockAndABuildId) {
  const auto vdso = running_vdso();
  if (!vdso) GTEST_SKIP() << "this kernel gives no vdso";
#ifdef __aarch64__
  constexpr const char* kClock = "__kernel_clock_gettime";
#else
  constexpr const char* kClock = "__vdso_clock_gettime";
#endif
  const auto clock = vdso->functions_named(kClock);
  ASSERT_FALSE(clock.empty());
  EXPECT_GT(clock.front().range.size(), 0u);
  EXPECT_FALSE(vdso->code(clock.front().range).empty());
  EXPECT_EQ(vdso->build_id().size(), 40u);
}

}  // namespace
}  // namespace skid::symbols
