// The kernel's table of symbols: which lines count, which of them names an address, where one ends.
#include "src/symbols/kallsyms.h"

#include "src/support/error.h"
#include "tests/support/temporary_directory.h"

#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace skid::symbols {
namespace {

std::string name_at(const Kallsyms& table, std::uint64_t address, std::string_view module = {}) {
  const auto found = table.symbol_at(module, address);
  return found ? found->name : "";
}

TEST(Kallsyms, ASymbolExtendsToTheNextOne) {
  const Kallsyms table("ffffffff81000000 T first\nffffffff81000100 t second\n");
  EXPECT_EQ(name_at(table, 0xffffffff80ffffff), "");
  EXPECT_EQ(name_at(table, 0xffffffff810000ff), "first");
  EXPECT_EQ(name_at(table, 0xffffffff81000100), "second");
  const auto found = table.symbol_at({}, 0xffffffff81000010);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->range, (AddressRange{0xffffffff81000000, 0xffffffff81000100}));
}

TEST(Kallsyms, TheLastSymbolEndsAPageAfterTheNextPageBoundary) {
  const Kallsyms table("ffffffff81000010 T last\n");
  EXPECT_EQ(name_at(table, 0xffffffff81001fff), "last");
  EXPECT_EQ(name_at(table, 0xffffffff81002000), "");
  const Kallsyms highest("ffffffffffffff00 T last\n");
  EXPECT_EQ(name_at(highest, 0xfffffffffffffffe), "last");
}

TEST(Kallsyms, TheLastLineOfAnAddressIsUsed) {
  const Kallsyms table(
      "ffffffff81000000 T alias\nffffffff81000000 W _stext\nffffffff81000000 t _text\n"
      "ffffffff81000100 T next\n");
  EXPECT_EQ(name_at(table, 0xffffffff81000000), "_text");
  EXPECT_EQ(table.address_of("alias"), 0xffffffff81000000);
}

TEST(Kallsyms, ConstantsHaveAnAddressButAreNoSymbolsOfCode) {
  const Kallsyms table(
      "0000000000001000 A absolute\nffffffff81000000 T code\nffffffff81000010 R constant\n"
      "ffffffff81000020 D datum\n");
  EXPECT_EQ(name_at(table, 0x1000), "");
  EXPECT_EQ(name_at(table, 0xffffffff81000018), "code");
  EXPECT_EQ(name_at(table, 0xffffffff81000028), "datum");
  EXPECT_EQ(table.address_of("constant"), 0xffffffff81000010);
  EXPECT_EQ(table.address_of("nothing"), std::nullopt);
}

TEST(Kallsyms, ModulesAreDistinguished) {
  const Kallsyms table(
      "ffffffff81000000 T kernel\nffffffffc0000010 t begin\t[ext4]\nffffffffc0000100 t "
      "end\t[ext4]\n"
      "ffffffffc0000200 d datum\t[ext4]\nffffffffc0010000 t begin\t[xfs]\n");
  EXPECT_EQ(name_at(table, 0xffffffffc0000010, "ext4"), "begin");
  EXPECT_EQ(name_at(table, 0xffffffffc0000010), "");
  EXPECT_EQ(name_at(table, 0xffffffffc0000010, "xfs"), "");
  EXPECT_EQ(name_at(table, 0xffffffffc0000010, "btrfs"), "");
  // The last symbol before another module ends by itself, not where that one begins.
  EXPECT_EQ(name_at(table, 0xffffffffc0001fff, "ext4"), "datum");
  EXPECT_EQ(name_at(table, 0xffffffffc0002000, "ext4"), "");
  EXPECT_EQ(table.code_of("ext4"), (AddressRange{0xffffffffc0000010, 0xffffffffc0000101}));
  EXPECT_EQ(table.code_of("btrfs"), std::nullopt);
  EXPECT_EQ(table.address_of("begin"), std::nullopt);  // of the kernel itself only
}

TEST(Kallsyms, LinesOfModulesMayBeInAnyOrder) {
  const Kallsyms table("ffffffffc0000100 t later\t[m]\nffffffffc0000000 t earlier\t[m]\n");
  EXPECT_EQ(name_at(table, 0xffffffffc0000080, "m"), "earlier");
  EXPECT_EQ(name_at(table, 0xffffffffc0000180, "m"), "later");
}

TEST(Kallsyms, RecognizesATableWithoutAddresses) {
  EXPECT_TRUE(Kallsyms("0000000000000000 T _text\n0000000000000000 t x\t[m]\n").hidden());
  EXPECT_FALSE(Kallsyms("0000000000000000 A zero\nffffffff81000000 T _text\n").hidden());
  EXPECT_TRUE(Kallsyms("").hidden());
}

TEST(Kallsyms, SkipsMalformedLines) {
  const Kallsyms table(
      "\n zz T x\nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T \n"
      "11111111111111111111 T too_long\nffffffff81000040 T good\nffffffff81000080 T unended");
  EXPECT_EQ(name_at(table, 0xffffffff81000000), "");
  EXPECT_EQ(name_at(table, 0xffffffff81000040), "good");
  EXPECT_EQ(name_at(table, 0xffffffff81000080), "unended");
}

TEST(Kallsyms, KeepsItsNamesWhenItMoves) {
  Kallsyms table("1000 T a\n");  // short enough to lie inside the string object
  const Kallsyms moved = std::move(table);
  EXPECT_EQ(name_at(moved, 0x1000), "a");
}

TEST(Kallsyms, RefusesUnreadableFiles) {
  const test::TemporaryDirectory directory;
  EXPECT_THROW(Kallsyms::read(directory / "none"), InputError);
  std::ofstream(directory / "kallsyms") << "1000 T a\n";
  EXPECT_EQ(name_at(Kallsyms::read(directory / "kallsyms"), 0x1000), "a");
}

}  // namespace
}  // namespace skid::symbols
