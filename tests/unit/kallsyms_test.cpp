// Tables of symbols that are texts: the kernel's, and what a process noted of its generated code.
#include "src/symbols/kallsyms.h"

#include "src/locate/module_store.h"
#include "src/perfdata/features.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/symbols/location.h"
#include "src/symbols/perf_map.h"
#include "tests/support/error_message.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/utsname.h>

namespace skid::symbols {
namespace {

std::string name_at(const Kallsyms& table, std::uint64_t address, std::string_view module = {}) {
  const auto found = table.symbol_at(module, address);
  return found ? found->name : "";
}

TEST(Kallsyms, NamesAddressesOfTheKernel) {
  struct {
    std::string table;
    std::vector<std::pair<std::uint64_t, std::string>> names;
  } const cases[] = {
      {"ffffffff81000000 T first\nffffffff81000100 t second\n",
       {{0xffffffff80ffffff, ""}, {0xffffffff810000ff, "first"}, {0xffffffff81000100, "second"}}},
      // The last symbol ends a page after the next page boundary.
      {"ffffffff81000010 T last\n", {{0xffffffff81001fff, "last"}, {0xffffffff81002000, ""}}},
      {"ffffffffffffff00 T last\n", {{0xfffffffffffffffe, "last"}}},
      // The last line of an address is used.
      {"ffffffff81000000 T alias\nffffffff81000000 W _stext\nffffffff81000000 t _text\n"
       "ffffffff81000100 T next\n",
       {{0xffffffff81000000, "_text"}}},
      // Constants are no symbols of code.
      {"0000000000001000 A absolute\nffffffff81000000 T code\nffffffff81000010 R constant\n"
       "ffffffff81000020 D datum\n",
       {{0x1000, ""}, {0xffffffff81000018, "code"}, {0xffffffff81000028, "datum"}}},
      // Malformed lines.
      {"\n zz T x\nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T \n"
       "11111111111111111111 T too_long\nffffffff81000040 T good\nffffffff81000080 T unended",
       {{0xffffffff81000000, ""}, {0xffffffff81000040, "good"}, {0xffffffff81000080, "unended"}}}};
  for (const auto& [text, names] : cases) {
    const Kallsyms table(text);
    for (const auto& [address, name] : names) EXPECT_EQ(name_at(table, address), name) << text;
  }
}

TEST(Kallsyms, HasRangesAndAddressesOfNames) {
  const Kallsyms table(
      "ffffffff81000000 T alias\nffffffff81000000 t _text\nffffffff81000100 R constant\n"
      "ffffffff81000200 T next\nffffffffc0000010 t of_module\t[ext4]\n");
  EXPECT_EQ(table.symbol_at({}, 0xffffffff81000010)->range,
            (AddressRange{0xffffffff81000000, 0xffffffff81000200}));
  EXPECT_EQ(table.address_of("alias"), 0xffffffff81000000);
  EXPECT_EQ(table.address_of("constant"), 0xffffffff81000100);
  EXPECT_EQ(table.address_of("nothing"), std::nullopt);
  EXPECT_EQ(table.address_of("of_module"), std::nullopt);
}

TEST(Kallsyms, ModulesAreDistinguishedAndInAnyOrder) {
  const Kallsyms table(
      "ffffffff81000000 T kernel\nffffffffc0000100 t end\t[ext4]\n"
      "ffffffffc0000010 t begin\t[ext4]\nffffffffc0000200 d datum\t[ext4]\n"
      "ffffffffc0010000 t begin\t[xfs]\n");
  EXPECT_EQ(name_at(table, 0xffffffffc0000010, "ext4"), "begin");
  EXPECT_EQ(name_at(table, 0xffffffffc0000180, "ext4"), "end");
  EXPECT_EQ(name_at(table, 0xffffffffc0000010), "");
  EXPECT_EQ(name_at(table, 0xffffffffc0000010, "xfs"), "");
  EXPECT_EQ(name_at(table, 0xffffffffc0000010, "btrfs"), "");
  // The last symbol before another module ends by itself, not where that one begins.
  EXPECT_EQ(name_at(table, 0xffffffffc0001fff, "ext4"), "datum");
  EXPECT_EQ(name_at(table, 0xffffffffc0002000, "ext4"), "");
  EXPECT_EQ(table.code_of("ext4"), (AddressRange{0xffffffffc0000010, 0xffffffffc0000101}));
  EXPECT_EQ(table.code_of("btrfs"), std::nullopt);
}

TEST(Kallsyms, RecognizesATableWithoutAddresses) {
  EXPECT_TRUE(Kallsyms("0000000000000000 T _text\n0000000000000000 t x\t[m]\n").hidden());
  EXPECT_FALSE(Kallsyms("0000000000000000 A zero\nffffffff81000000 T _text\n").hidden());
  EXPECT_TRUE(Kallsyms("").hidden());
}

TEST(Kallsyms, IsReadFromAFileAndMayMove) {
  const test::TemporaryDirectory directory;
  EXPECT_THROW(Kallsyms::read(directory / "none"), InputError);
  // Short enough to lie inside the string object.
  Kallsyms table = Kallsyms::read(directory.write("kallsyms", "1000 T a\n"));
  const Kallsyms moved = std::move(table);
  EXPECT_EQ(name_at(moved, 0x1000), "a");
}

std::string name_at(const PerfMap& map, std::uint64_t address) {
  const auto function = map.function_at(address);
  return function ? function->name : "none";
}

std::string refusal(const fs::path& path) {
  return test::message_of<InputError>([&] { PerfMap::read(path); });
}

TEST(PerfMap, NamesWhatItsLinesCover) {
  const PerfMap map(
      "1000 20 first\n0x2000 0x10 operator new(int)\n"
      "3000 100 old\n3080 20 new\n"  // code that replaced other
      "\n1000\n1000 20\n1000 20 \nxyz 20 name\n1000 -1 name\n1000 0 name\n"
      "ffffffffffffffff 2 name\n4000 20 cut off");
  EXPECT_EQ(map.size(), 5U);
  for (const auto& [address, name] :
       std::map<std::uint64_t, std::string>{{0x0fff, "none"},
                                            {0x1000, "first"},
                                            {0x101f, "first"},
                                            {0x1020, "none"},
                                            {0x2008, "operator new(int)"},
                                            {0x3000, "old"},
                                            {0x3080, "new"},
                                            {0x30a0, "old"},
                                            {0x4000, "cut off"}}) {
    EXPECT_EQ(name_at(map, address), name);
  }
  EXPECT_EQ(map.function_at(0x2008)->range, (AddressRange{0x2000, 0x2010}));
}

TEST(PerfMap, IsReadOnlyFromAFileThatNobodyElseCanHaveWritten) {
  const test::TemporaryDirectory directory;
  const fs::path file = directory / "perf-7.map";
  EXPECT_THAT(refusal(file), HasSubstr("perf-7.map"));
  std::ofstream(file) << "1000 20 first\n";
  EXPECT_EQ(name_at(PerfMap::read(file), 0x1000), "first");
  fs::create_symlink(file, directory / "link");
  EXPECT_THAT(refusal(directory / "link"), HasSubstr("a symbolic link, expected a regular file"));
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(refusal(file), HasSubstr("writable by all users"));
  fs::permissions(file, fs::perms::others_write, fs::perm_options::remove);
  fs::resize_file(file, PerfMap::kLargest + 1);
  EXPECT_THAT(refusal(file), HasSubstr("at most 67108864 bytes"));
  fs::resize_file(file, 14);
  SKIP_WITHOUT("root");
  ASSERT_EQ(::chown(file.c_str(), 12345, 12345), 0);
  EXPECT_THAT(refusal(file), HasSubstr("owned by user 12345"));
}

TEST(PerfMap, IsUsedForRecordingsOfThisMachineOrBelowSymfs) {
  const test::TemporaryDirectory directory;
  fs::create_directory(directory / "tmp");
  // No process has this number: they end at 2^22.
  const std::string mapped = "/tmp/perf-99999999.map";
  std::ofstream(directory / "tmp" / "perf-99999999.map") << "1000 20 first\n";
  locate::ModuleStore below({.symfs = directory.path(), .by_build_id = {}});
  EXPECT_EQ(below.generated_function_at(mapped, 0x1010)->name, "first");
  EXPECT_FALSE(below.generated_function_at(mapped, 0x1020));
  ASSERT_EQ(below.remarks().size(), 1U);
  EXPECT_THAT(below.remarks()[0].text, HasSubstr("as it is now"));
  (void)below.find({"/nowhere/program", "00112233"});
  EXPECT_THAT(below.unused(), IsEmpty()) << "the map is below it";

  const std::string own = "/tmp/perf-99999998.map";
  std::ofstream(own) << "1000 20 first\n";
  locate::ModuleStore elsewhere;
  EXPECT_FALSE(elsewhere.generated_function_at(own, 0x1010));
  EXPECT_THAT(elsewhere.remarks(), IsEmpty());
  struct utsname here {};
  ASSERT_EQ(::uname(&here), 0);
  perfdata::Features features;
  features.hostname = here.nodename;
  features.os_release = here.release;
  elsewhere.expect_machine("", features);
  EXPECT_TRUE(elsewhere.generated_function_at(own, 0x1010));
  fs::remove(own);
}

TEST(PerfMap, IsOfThisMachineByHostAndRelease) {
  struct utsname here {};
  ASSERT_EQ(::uname(&here), 0);
  perfdata::Features features;
  EXPECT_FALSE(locate::is_of_this_machine(features));
  features.hostname = here.nodename;
  EXPECT_FALSE(locate::is_of_this_machine(features)) << "another kernel";
  features.os_release = here.release;
  EXPECT_TRUE(locate::is_of_this_machine(features));
  features.hostname += "x";
  EXPECT_FALSE(locate::is_of_this_machine(features));
}

}  // namespace
}  // namespace skid::symbols
