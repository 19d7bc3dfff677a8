// ELF files that were made to take memory and time: tests/hostile/elf.py.
#include "tests/support/prelude.h"
#include "tests/support/program.h"

namespace skid {
namespace {

const std::string kScript = std::string(SKIDSCAN_TEST_DATA) + "/hostile/elf.py";

TEST(HostileElf, TakesAtMostTenSecondsAnd512MiB) {
  if constexpr (SKIDSCAN_SANITIZED) GTEST_SKIP() << "sanitizers take more memory";
  if (!find_program("python3")) GTEST_SKIP() << "no python3";
  const auto checked =
      run_program({"python3", kScript, "--check", test::skidscan_program(), "line-bomb-units",
                   "long-directory-5", "abbreviations-shared", "units-inflated", "ranges-empty",
                   "notes-sections", "names-underscores", "names-lifetimes", "sparse-headers"});
  EXPECT_TRUE(checked.code.success()) << checked.out << checked.err;
}

TEST(HostileElf, IsNamedWithWhatIsLeftOut) {
  if (!find_program("python3")) GTEST_SKIP() << "no python3";
  const test::TemporaryDirectory directory;
  const auto message = [&directory](const std::string& elf) {
    const auto made = run_program({"python3", kScript, elf, directory.path().string()});
    EXPECT_TRUE(made.code.success()) << made.err;
    return run_program({test::skidscan_program(), "annotate", (directory / "perf.data").string(),
                        "--source"})
        .err;
  };
  EXPECT_THAT(message("line-bomb-units"), HasSubstr("/program: some source lines are missing"));
  EXPECT_THAT(message("long-directory"), HasSubstr("/program: some source lines are missing"));
  EXPECT_THAT(message("units-inflated"), HasSubstr("/program: some source lines are missing"));
  EXPECT_THAT(message("notes-segments"), HasSubstr("/program: a file with too many notes"));
  EXPECT_THAT(message("sparse-symbols"), HasSubstr("/program: a file of 3221225472 bytes, most"));
  EXPECT_EQ(message("cyclic").find("some source lines"), std::string::npos);
}

}  // namespace
}  // namespace skid
