#include "src/record/session.h"
#include "tests/support/prelude.h"

namespace skid::record {
namespace {

using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

run::PlannedMeasurement measurement(const std::string& requested, int repeat = 1) {
  run::PlannedMeasurement result;
  result.requested = requested;
  result.repeat = repeat;
  return result;
}

TEST(Progress, WithoutATerminalIsALinePerMeasurement) {
  CaptureStderr();
  {
    Progress progress(Progress::Style::lines, 16, 4);
    progress.begin(measurement("access:pp"));
    progress.grown_to(10'000);
    progress.finish(5012, 200'000);
    progress.begin(measurement("access:ppp", 2));
    progress.refuse("not supported");
  }
  const std::string text = GetCapturedStderr();
  EXPECT_THAT(text, StartsWith("5/16 access:pp: 5,012 samples in "));
  EXPECT_THAT(text, HasSubstr("\n6/16 access:ppp #2: refused by this machine: not supported\n"));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
}

TEST(Progress, OnATerminalRewritesOneLineAndLeavesItClean) {
  CaptureStderr();
  {
    Progress progress(Progress::Style::terminal, 2, 0);
    progress.begin(measurement("access"));
    progress.grown_to(80'000);
  }
  const std::string text = GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("\r\033[K1/2 access  about 2,000 samples"));
  EXPECT_THAT(text, ::testing::EndsWith("\r\033[K"));
}

TEST(Progress, ShowsNoNumberWhileSamplesAreInPerfsBuffer) {
  CaptureStderr();
  {
    Progress progress(Progress::Style::terminal, 2, 0);
    progress.begin(measurement("access"));
    progress.grown_to(1000);
  }
  EXPECT_THAT(GetCapturedStderr(), Not(HasSubstr("samples")));
}

TEST(Progress, LearnsTheSizeOfASample) {
  CaptureStderr();
  {
    Progress progress(Progress::Style::terminal, 2, 0);
    progress.begin(measurement("access"));
    progress.finish(100, 10'000);
    progress.begin(measurement("access:p"));
    progress.grown_to(100'000);
  }
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("2/2 access:p  about 1,000 samples"));
}

TEST(Progress, IsSilentOnRequest) {
  CaptureStderr();
  {
    Progress progress(Progress::Style::silent, 1, 0);
    progress.say("a note");
    progress.begin(measurement("access"));
    progress.grown_to(1000);
    progress.finish(1, 1);
  }
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST(Progress, EscapesControlCharacters) {
  CaptureStderr();
  {
    Progress progress(Progress::Style::lines, 1, 0);
    progress.begin(measurement("x\033[2J"));
    progress.refuse("y\033]0;z\a");
  }
  EXPECT_THAT(GetCapturedStderr(), Not(HasSubstr("\033")));
}

TEST(DurationText, RoundsUpToASensibleUnit) {
  EXPECT_EQ(duration_text(0.2), "1 s");
  EXPECT_EQ(duration_text(59), "59 s");
  EXPECT_EQ(duration_text(125), "2 min 5 s");
  EXPECT_EQ(duration_text(3840), "1 h 4 min");
}

}  // namespace
}  // namespace skid::record
