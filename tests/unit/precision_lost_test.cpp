#include "src/measure/event_description.h"
#include "src/perfdata/format.h"
#include "tests/support/prelude.h"

namespace skid::measure {
namespace {

struct Case {
  std::uint32_t type = PERF_TYPE_HARDWARE;
  unsigned level = 0;
  std::optional<std::string> requested = {};
  std::optional<int> requested_level = {};
  bool substituted = false;
  ExactIp exact_ip = ExactIp::unknown;
  std::uint64_t exact = 0;
};

EventPrecision of(const Case& one) {
  perfdata::Attribute attribute;
  attribute.type = one.type;
  attribute.precise_ip = one.level;
  const machine::Machine machine;
  RecordedEvent recorded{.attribute = attribute,
                         .pmu_name = {},
                         .knowledge = {},
                         .machine = machine,
                         .exact_ip = one.exact_ip,
                         .samples = 21'095,
                         .exact = one.exact};
  recorded.identity.recorded = "recorded";
  recorded.identity.requested = one.requested;
  recorded.identity.substituted = one.substituted;
  recorded.precise.requested = one.requested_level;
  recorded.precise.recorded = static_cast<int>(one.level);
  return {precision_lost(recorded), why_not_precise(recorded)};
}

TEST(PrecisionLost, NamesWhatWasRecordedInstead) {
  EXPECT_THAT(
      of({.type = PERF_TYPE_SOFTWARE, .requested = "cycles:P", .substituted = true}).lost,
      HasSubstr("recorded recorded instead of cycles:P: this machine does not have the requested "
                "event. Its samples are where a timer interrupted."));
  EXPECT_THAT(of({.requested = "cycles:P", .requested_level = 0}).lost,
              HasSubstr("cycles:P requests the highest precise level, level 0 was recorded"));
  EXPECT_EQ(of({.level = 1, .requested = "cycles:pp", .requested_level = 2}).lost,
            "Precise level 2 was requested, 1 was recorded.");
}

TEST(PrecisionLost, NamesALevelThatNoSampleShows) {
  const auto lost = [](unsigned level, ExactIp exact_ip, std::uint64_t exact = 0) {
    return of({.level = level, .exact_ip = exact_ip, .exact = exact}).lost;
  };
  EXPECT_EQ(lost(3, ExactIp::never),
            "Precise level 3 was recorded but not honoured: none of 21095 samples has EXACT_IP; "
            "the PMU of this CPU has no precise levels.");
  EXPECT_THAT(lost(2, ExactIp::request), HasSubstr("the kernel sets it at this level"));
  EXPECT_EQ(lost(2, ExactIp::evidence), "") << "set where a sample could be rewound";
  EXPECT_THAT(lost(2, ExactIp::unknown), IsEmpty());
  EXPECT_THAT(lost(1, ExactIp::never), HasSubstr("no precise levels"));
  EXPECT_THAT(lost(1, ExactIp::request), IsEmpty()) << "level 1 has no EXACT_IP";
  EXPECT_THAT(lost(2, ExactIp::evidence, 1), IsEmpty());
  EXPECT_THAT(lost(0, ExactIp::request), IsEmpty());
}

TEST(PrecisionLost, OfLevelZeroAndTimersIsNothingButTheyAreNotPrecise) {
  EXPECT_THAT(of({}).lost, IsEmpty());
  EXPECT_EQ(of({}).not_precise, "Level 0: arbitrary skid.");
  const Case timer{.type = PERF_TYPE_SOFTWARE, .level = 2};
  EXPECT_THAT(of(timer).lost, IsEmpty());
  EXPECT_EQ(of(timer).not_precise, "A timer samples whatever runs.");
  EXPECT_THAT(of({.type = PERF_TYPE_BREAKPOINT, .level = 2}).not_precise, IsEmpty());
  EXPECT_THAT(of({.level = 2, .exact_ip = ExactIp::request, .exact = 21'095}).not_precise,
              IsEmpty());
}

}  // namespace
}  // namespace skid::measure
