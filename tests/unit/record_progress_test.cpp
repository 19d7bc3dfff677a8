#include "src/record/progress.h"
#include "src/record/session.h"
#include "src/run/run.h"
#include "tests/support/prelude.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace skid::record {
namespace {

run::PlannedMeasurement measurement(const std::string& requested, int repeat = 1) {
  run::PlannedMeasurement result;
  result.requested = requested;
  result.repeat = repeat;
  return result;
}

/// What is printed of `total` measurements, after `finished` of them.
std::string printed(Progress::Style style, std::size_t total, std::size_t finished,
                    const std::function<void(Progress&)>& record) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress(style, total, finished);
    record(progress);
  }
  return ::testing::internal::GetCapturedStderr();
}

TEST(Progress, WithoutATerminalIsALinePerMeasurement) {
  const std::string text = printed(Progress::Style::lines, 16, 4, [](Progress& progress) {
    progress.begin(measurement("access:pp"));
    progress.grown_to(10'000);
    progress.finish(5012, 200'000);
    progress.begin(measurement("access:ppp", 2));
    progress.refuse("not supported");
  });
  EXPECT_THAT(text, StartsWith("5/16 access:pp: 5,012 samples in "));
  EXPECT_THAT(text, HasSubstr("\n6/16 access:ppp #2: refused by this machine: not supported\n"));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
}

TEST(Progress, OnATerminalRewritesOneLineAndLeavesItClean) {
  const auto grown = [](std::uint64_t bytes) {
    return printed(Progress::Style::terminal, 2, 0, [&](Progress& progress) {
      progress.begin(measurement("access"));
      progress.grown_to(bytes);
    });
  };
  EXPECT_THAT(grown(80'000), HasSubstr("\r\033[K1/2 access  about 2,000 samples"));
  EXPECT_THAT(grown(80'000), EndsWith("\r\033[K"));
  EXPECT_THAT(grown(1000), Not(HasSubstr("samples"))) << "they are in perf's buffer";
}

TEST(Progress, LearnsTheSizeOfASample) {
  EXPECT_THAT(printed(Progress::Style::terminal, 2, 0,
                      [](Progress& progress) {
                        progress.begin(measurement("access"));
                        progress.finish(100, 10'000);
                        progress.begin(measurement("access:p"));
                        progress.grown_to(100'000);
                      }),
              HasSubstr("2/2 access:p  about 1,000 samples"));
}

TEST(Progress, IsSilentOnRequestAndEscapesControlCharacters) {
  EXPECT_EQ(printed(Progress::Style::silent, 1, 0,
                    [](Progress& progress) {
                      progress.say("a note");
                      progress.begin(measurement("access"));
                      progress.grown_to(1000);
                      progress.finish(1, 1);
                    }),
            "");
  EXPECT_THAT(printed(Progress::Style::lines, 1, 0,
                      [](Progress& progress) {
                        progress.begin(measurement("x\033[2J"));
                        progress.refuse("y\033]0;z\a");
                      }),
              Not(HasSubstr("\033")));
}

TEST(DurationText, RoundsUpToASensibleUnit) {
  EXPECT_EQ(duration_text(0.2), "1 s");
  EXPECT_EQ(duration_text(59), "59 s");
  EXPECT_EQ(duration_text(125), "2 min 5 s");
  EXPECT_EQ(duration_text(3840), "1 h 4 min");
}

}  // namespace
}  // namespace skid::record
