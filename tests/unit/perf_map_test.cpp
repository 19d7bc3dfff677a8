// What a process noted of its generated code: lines of a perf map, and which files are believed.
#include "src/symbols/perf_map.h"

#include "src/locate/module_store.h"
#include "tests/support/prelude.h"

#include <sys/utsname.h>

namespace skid::symbols {
namespace {

std::string name_at(const PerfMap& map, std::uint64_t address) {
  const auto function = map.function_at(address);
  return function ? function->name : "none";
}

std::string refusal(const fs::path& path) {
  return test::message_of<InputError>([&] { PerfMap::read(path); });
}

TEST(PerfMap, NamesWhatItsLinesCover) {
  const PerfMap map("1000 20 first\n0x2000 0x10 operator new(int)\n");
  EXPECT_EQ(name_at(map, 0x0fff), "none");
  EXPECT_EQ(name_at(map, 0x1000), "first");
  EXPECT_EQ(name_at(map, 0x101f), "first");
  EXPECT_EQ(name_at(map, 0x1020), "none");
  EXPECT_EQ(name_at(map, 0x2008), "operator new(int)");
  EXPECT_EQ(map.function_at(0x2008)->range, (AddressRange{0x2000, 0x2010}));
}

TEST(PerfMap, TakesTheCodeThatReplacedOther) {
  const PerfMap map("1000 100 old\n1080 20 new\n");
  EXPECT_EQ(name_at(map, 0x1000), "old");
  EXPECT_EQ(name_at(map, 0x1080), "new");
  EXPECT_EQ(name_at(map, 0x10a0), "old");
}

TEST(PerfMap, LeavesOutWhatIsNoLine) {
  const PerfMap map(
      "\n1000\n1000 20\n1000 20 \nxyz 20 name\n1000 -1 name\n1000 0 name\n"
      "ffffffffffffffff 2 name\n1000 20 whole\n2000 20 cut off");
  EXPECT_EQ(map.size(), 2U);
  EXPECT_EQ(name_at(map, 0x1000), "whole");
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
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
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

  const std::string own = "/tmp/perf-99999998.map";
  std::ofstream(own) << "1000 20 first\n";
  locate::ModuleStore elsewhere;
  EXPECT_FALSE(elsewhere.generated_function_at(own, 0x1010));
  EXPECT_THAT(elsewhere.remarks(), IsEmpty());
  elsewhere.expect_own_machine(true);
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
