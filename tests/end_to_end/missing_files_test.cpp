// Recordings of many mapped files that do not exist: what is reported of each, and in what time.
#include "tests/support/prelude.h"
#include "tests/support/program.h"
#include "tests/support/recording_builder.h"

namespace skid {
namespace {

constexpr std::uint64_t kFiles = 100'000;

/// Page faults, which are judged: one in each file.
class MissingFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    if constexpr (SKIDSCAN_SANITIZED) GTEST_SKIP() << "sanitizers take more time";
    test::RecordingBuilder builder;
    constexpr std::uint64_t kSize = 0x1000;
    builder.event({.config = PERF_COUNT_SW_PAGE_FAULTS});
    for (std::uint64_t i = 1; i <= kFiles; ++i) {
      builder.mmap(7, i * kSize, kSize, 0, "/missing/" + std::to_string(i), 1);
    }
    for (std::uint64_t i = 1; i <= kFiles; ++i) builder.sample(i * kSize, 7, 2);
    builder.write(directory_ / "perf.data");
  }
  /// Of a program that is killed after 12 s of CPU time. A search through the remarks for each of
  /// the files takes more, everything else 2 s.
  Completed in_time(const std::string& arguments) const {
    return run_program({"sh", "-c", "ulimit -t 12; exec \"$0\" " + arguments + " perf.data",
                        test::skidscan_program()},
                       directory_.path());
  }

  test::TemporaryDirectory directory_;
};

TEST_F(MissingFiles, AreNamedOnceEach) {
  const Completed audit = in_time("audit --details");
  EXPECT_TRUE(audit.code.success()) << describe(audit.code) << audit.err.substr(0, 1000);
  const std::size_t answer = audit.out.find("100,000 samples are in 100000 files whose code is ");
  const std::size_t last = audit.out.find("/missing/100000: no such file or directory\n", answer);
  EXPECT_NE(last, std::string::npos) << audit.out.substr(0, 2000);
  EXPECT_EQ(audit.out.find("/missing/77: "), audit.out.rfind("/missing/77: "));

  const Completed correct = in_time("correct --by function");
  EXPECT_TRUE(correct.code.success()) << describe(correct.code);
  EXPECT_THAT(correct.out, HasSubstr("99995 more warnings"));

  const Completed annotate = in_time("annotate");
  EXPECT_EQ(annotate.code.signal, 0) << describe(annotate.code);
  EXPECT_THAT(annotate.err, HasSubstr("99990 more like these"));
}

}  // namespace
}  // namespace skid
