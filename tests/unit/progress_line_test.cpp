
#include "src/commands/progress_line.h"

#include "src/commands/terminal.h"
#include "tests/support/prelude.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>

namespace skid::commands {
namespace {

using std::chrono::milliseconds;

TEST(ProgressLine, AppearsAfterADelayAndIsErased) {
  ::testing::internal::CaptureStderr();
  {
    ProgressLine progress(true, milliseconds(1));
    progress.begins("reading", "a\x1b[2J.data", 12, 40);
    std::this_thread::sleep_for(milliseconds(500));
    {
      const auto paused = progress.pause();
      print_error("something");
      std::this_thread::sleep_for(milliseconds(300));
    }
  }
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("\r\033[Kreading 12/40 a\\x1b[2J.data"));
  const std::size_t printed = text.find("skidscan: something\n");
  ASSERT_NE(printed, std::string::npos);
  EXPECT_EQ(text.substr(printed - 4, 4), "\r\033[K") << "the line is gone first";
  EXPECT_THAT(text, Not(EndsWith(".data"))) << "and in the end";
}

TEST(ProgressLine, IsSilentBeforeTheDelayAndWhenOff) {
  ::testing::internal::CaptureStderr();
  {
    ProgressLine early(true, std::chrono::minutes(1));
    early.begins("reading", "a", 1, 1);
    ProgressLine off(false, milliseconds(1));
    off.begins("reading", "a", 1, 1);
    std::this_thread::sleep_for(milliseconds(50));
    const auto paused = off.pause();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace skid::commands
