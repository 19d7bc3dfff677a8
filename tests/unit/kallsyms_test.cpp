// The kernel's table of symbols: which lines count, which of them names an address, where one ends.
#include "src/symbols/kallsyms.h"

#include "tests/support/prelude.h"

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

}  // namespace
}  // namespace skid::symbols
