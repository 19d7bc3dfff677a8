#include "src/machine/file_tree.h"

#include "src/machine/sampling_support.h"
#include "tests/support/prelude.h"

namespace skid::machine {
namespace {

class FileTreeTest : public ::testing::Test {
 protected:
  void put(const std::string& path, const std::string& content) const {
    fs::create_directories((directory_ / path).parent_path());
    std::ofstream(directory_ / path, std::ios::binary) << content;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(FileTreeTest, ReadsBelowItsRoot) {
  put("tree/a/b", " 7 \n");
  put("tree/a/c", "");
  const FileTree files(directory_ / "tree");
  EXPECT_FALSE(files.is_here());
  EXPECT_EQ(files.content_of("a/b"), "7");
  EXPECT_THAT(files.names_in("a"), ElementsAre("b", "c"));
  EXPECT_TRUE(files.exists("a/c"));
  EXPECT_FALSE(files.exists("a/d"));
  EXPECT_EQ(files.content_of("a"), "");
}

TEST_F(FileTreeTest, FollowsLinksWithinTheTreeOnly) {
  put("tree/devices/cpu/type", "4");
  put("secret", "hidden");
  put("tree2/secret", "hidden");
  fs::create_directory_symlink("devices", directory_ / "tree/bus");
  fs::create_symlink(directory_ / "secret", directory_ / "tree/absolute");
  fs::create_symlink("../secret", directory_ / "tree/upwards");
  fs::create_directory_symlink("../tree2", directory_ / "tree/sibling");
  const FileTree files(directory_ / "tree");
  EXPECT_EQ(files.content_of("bus/cpu/type"), "4");
  EXPECT_EQ(files.content_of("absolute"), "");
  EXPECT_EQ(files.content_of("upwards"), "");
  EXPECT_EQ(files.content_of("sibling/secret"), "");
  EXPECT_THAT(files.names_in("sibling"), IsEmpty());
  EXPECT_EQ(files.content_of("../secret"), "");
}

TEST_F(FileTreeTest, ReadsNoFileLongerThanItsLimit) {
  put("tree/line", std::string(FileTree::kLine, 'x'));
  put("tree/long", std::string(FileTree::kLine + 1, 'x'));
  const FileTree files(directory_ / "tree");
  EXPECT_EQ(files.content_of("line").size(), FileTree::kLine);
  EXPECT_EQ(files.content_of("long"), "");
}

TEST_F(FileTreeTest, BoundsThePmusOfAHostileTree) {
  const std::string pmu = "tree/sys/bus/event_source/devices/cpu/";
  put(pmu + "type", "4");
  put(pmu + "caps/a_long_one", std::string(4096, 'n'));
  for (int i = 0; i < 300; ++i) put(pmu + "format/f" + std::to_string(i), "");
  for (int i = 0; i < 100; ++i) put(pmu + "caps/c" + std::to_string(i), "");
  put("tree/sys/bus/event_source/devices/typeless/caps/x", "1");
  const auto pmus = read_pmus(FileTree(directory_ / "tree"));
  ASSERT_EQ(pmus.size(), 1U);
  EXPECT_EQ(pmus[0].formats.size(), 256U);
  EXPECT_EQ(pmus[0].caps.size(), 64U);
  EXPECT_EQ(pmus[0].caps.at("a_long_one"), std::string(128, 'n'));
}

TEST_F(FileTreeTest, BoundsPmusAndTheirCpus) {
  for (int i = 0; i < 520; ++i) {
    const std::string pmu = "tree/sys/bus/event_source/devices/pmu" + std::to_string(i) + "/";
    put(pmu + "type", "9");
    put(pmu + "cpus", "0-65535");
  }
  const auto pmus = read_pmus(FileTree(directory_ / "tree"));
  EXPECT_EQ(pmus.size(), 512U);
  std::size_t cpus = 0;
  for (const Pmu& pmu : pmus) cpus += pmu.cpus.size();
  EXPECT_EQ(pmus[0].cpus.size(), 65536U);
  EXPECT_EQ(cpus, std::size_t{1} << 18);
}

TEST(StatusValue, FollowsAWholeKey) {
  const std::string status = "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\nCapEff:\t00ff\n";
  EXPECT_EQ(status_value(status, "Seccomp"), "2");
  EXPECT_EQ(status_value(status, "CapEff"), "00ff");
  EXPECT_EQ(status_value(status, "Cap"), "");
  EXPECT_EQ(status_value("", "Cap"), "");
}

TEST(MidrRegister, IsParsed) {
  const auto midr = parse_midr("0x00000000414fd4f2");
  ASSERT_TRUE(midr);
  EXPECT_EQ(midr->implementer, 0x41U);
  EXPECT_EQ(midr->variant, 4U);
  EXPECT_EQ(midr->part, 0xd4fU);
  EXPECT_EQ(midr->revision, 2U);
  EXPECT_EQ(midr->name(), "Neoverse V2 r4p2");
  EXPECT_EQ(parse_midr("0x00000000480fd4f0")->name(), "");
  EXPECT_FALSE(parse_midr("413fd0c1"));
  EXPECT_FALSE(parse_midr("0x"));
  EXPECT_FALSE(parse_midr("0xfffffffffffffffff"));
}

}  // namespace
}  // namespace skid::machine
