// What perf samples of targets beyond what every kind declares (runway_kinds_test.cpp).

#include "tests/support/prelude.h"
#include "tests/unit/runway_under_perf.h"

namespace skid::runway {
namespace {

constexpr std::uint64_t kIterations = 1400;
constexpr std::uint64_t kPeriod = 7;

class TargetUnderPerf : public UnderPerf {
 protected:
  Target build(TriggerKind kind) const {
    return build_target(specification_of(kind), directory_ / "target");
  }
};

/// A kind whose trigger no data breakpoint sees.
TEST_F(TargetUnderPerf, SpendsItsTimeInTheLoop) {
  const Target target = build("div"_trigger);
  const auto samples = sample(target, {"cpu-clock:u"}, 100'000, std::chrono::milliseconds{100});
  if (!samples) GTEST_SKIP() << "perf cannot sample a clock here: " << reason_;
  std::uint64_t in_loop = 0, all = 0;
  for (const auto& [ip, count] : samples->front()) {
    all += count;
    if (target.description.layout.loop.contains(ip)) in_loop += count;
  }
  EXPECT_GT(all, 0U);
  // The rest are the call of the loop and reading the clock between batches.
  EXPECT_GE(in_loop * 100, all * 95) << in_loop << " of " << all;
}

TEST_F(TargetUnderPerf, SamplesAStringLoadOncePerRepetition) {
  if (kHost != Arch::x86_64) GTEST_SKIP() << "aarch64 has no string instructions";
  for (const unsigned width : {1U, 2U, 4U}) {
    Specification specification = specification_of("string-load"_trigger);
    specification.access_bytes = width;
    const Target target = build_target(specification, directory_ / "target");
    const Layout& layout = target.description.layout;
    const auto samples = sample(target, {breakpoint(layout.datum, 8, "rw")}, kPeriod, kIterations);
    if (!samples) GTEST_SKIP() << "perf cannot sample a data breakpoint here: " << reason_;
    EXPECT_EQ(samples->front(),
              (Samples{{layout.trigger.begin, kIterations * 8 / width / kPeriod}}));
  }
}

TEST_F(TargetUnderPerf, TakesTheMispredictedBranchAtRandom) {
  if (kHost != Arch::x86_64) GTEST_SKIP() << "aarch64 has no such kind";
  const Target target = build("branch-mispredict"_trigger);
  if (!sample(target, {execute_breakpoint(target.description.layout.trigger.begin)}, 1, kIterations,
              {"--intr-regs=flags"})) {
    GTEST_SKIP() << "perf cannot sample registers here: " << reason_;
  }
  std::istringstream words = script("iregs");
  std::vector<bool> taken;
  for (std::string word; words >> word;) {
    constexpr std::string_view kFlags = "FLAGS:0x";
    if (!word.starts_with(kFlags)) continue;
    taken.push_back((std::stoull(word.substr(kFlags.size()), nullptr, 16) & 1U) != 0);  // carry
  }
  ASSERT_EQ(taken.size(), kIterations);
  // Five standard deviations, of how often it is taken and of how often it repeats what it did some
  // passes before: neither a direction nor a period is preferred.
  const double tolerance = 2.5 * std::sqrt(static_cast<double>(kIterations));
  const auto count = static_cast<double>(std::count(taken.begin(), taken.end(), true));
  EXPECT_NEAR(count, static_cast<double>(kIterations) / 2, tolerance);
  for (std::size_t lag = 1; lag <= 300; ++lag) {
    double same = 0;
    for (std::size_t i = lag; i < taken.size(); ++i) same += taken[i] == taken[i - lag] ? 1 : 0;
    EXPECT_NEAR(same, static_cast<double>(taken.size() - lag) / 2, tolerance) << "lag " << lag;
  }
}

}  // namespace
}  // namespace skid::runway
