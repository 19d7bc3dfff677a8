#include "tests/unit/runway_fixture.h"

#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace skid::runway {
namespace {

/// What perf itself says of a target: the events whose skid is known by construction.
class UnderPerf : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kIterations = 1400;
  static constexpr std::uint64_t kPeriod = 7;

  void SetUp() override {
    SKIP_WITHOUT_COMPILER(kHost);
    if (!find_program("perf")) GTEST_SKIP() << "no perf in PATH";
    ASSERT_EQ(::mkfifo((directory_ / "control").c_str(), 0600), 0);
    ASSERT_EQ(::mkfifo((directory_ / "ack").c_str(), 0600), 0);
  }

  Target build(TriggerKind kind) const {
    return build_target(specification_of(kind), directory_ / "target");
  }

  /// Samples per IP; nullopt when perf cannot record the event here, with its reason in `reason_`.
  std::optional<std::map<std::uint64_t, std::uint64_t>> sample(const Target& target,
                                                               const std::string& event,
                                                               std::uint64_t period) {
    const std::string control = (directory_ / "control").string();
    const std::string ack = (directory_ / "ack").string();
    const std::string data = (directory_ / "perf.data").string();
    std::vector<std::string> command{"perf",
                                     "record",
                                     "-q",
                                     "-o",
                                     data,
                                     "-e",
                                     event,
                                     "-c",
                                     std::to_string(period),
                                     "-D",
                                     "-1",
                                     "--control",
                                     fmt::format("fifo:{},{}", control, ack),
                                     "--"};
    TargetRun run;
    run.length = kIterations;
    run.control = control;
    run.acknowledge = ack;
    for (const std::string& word : command_line(target, run)) command.push_back(word);
    const Completed recorded = run_program(command);
    if (!recorded.code.success()) {
      reason_ = event + ": " + recorded.err;
      return std::nullopt;
    }
    EXPECT_TRUE(parse_target_report(recorded.out)) << recorded.out;
    std::istringstream ips(run_program({"perf", "script", "-i", data, "-F", "ip"}).out);
    std::map<std::uint64_t, std::uint64_t> samples;
    std::uint64_t ip = 0;
    while (ips >> std::hex >> ip) ++samples[ip];
    return samples;
  }

  static std::string breakpoint(std::uint64_t address, unsigned bytes, std::string_view access) {
    return fmt::format("mem:{:#x}/{}:{}:u", address, bytes, access);
  }

  using Samples = std::map<std::uint64_t, std::uint64_t>;
  Directory directory_;
  std::string reason_;
};

TEST_F(UnderPerf, AnAccessBreakpointComesAtExactlyTheExpectedOffsetOncePerIteration) {
  for (const TriggerKind kind : {TriggerKind::load, TriggerKind::store, TriggerKind::fault}) {
    const Target target = build(kind);
    const Layout& layout = target.description.layout;
    const auto samples = sample(target, breakpoint(layout.datum, 8, "rw"), kPeriod);
    if (!samples) GTEST_SKIP() << "perf cannot sample a data breakpoint here: " << reason_;
    const auto* expectation = target.description.expectation_of("access");
    const std::uint64_t expected =
        expectation->offset == 1 ? layout.runway.begin : layout.trigger.begin;
    EXPECT_EQ(*samples, (Samples{{expected, kIterations / kPeriod}})) << name_of(kind);
  }
}

TEST_F(UnderPerf, AnExecuteBreakpointOnTheTriggerComesAtTheTrigger) {
  for (const TriggerKind kind : trigger_kinds_of(kHost)) {
    const Target target = build(kind);
    const std::uint64_t trigger = target.description.layout.trigger.begin;
    // perf takes no length for these and says so; the kernel wants the machine word's.
    const auto samples = sample(target, fmt::format("mem:{:#x}:x:u", trigger), kPeriod);
    if (!samples) GTEST_SKIP() << "perf cannot sample an execute breakpoint here: " << reason_;
    EXPECT_EQ(*samples, (Samples{{trigger, kIterations / kPeriod}})) << name_of(kind);
  }
}

TEST_F(UnderPerf, TheFaultKindFaultsAtItsTriggerOncePerIteration) {
  const Target target = build(TriggerKind::fault);
  const auto samples = sample(target, "page-faults", 1);
  if (!samples) GTEST_SKIP() << "perf cannot sample page faults here: " << reason_;
  EXPECT_EQ(*samples, (Samples{{target.description.layout.trigger.begin, kIterations}}));
}

TEST_F(UnderPerf, TheOtherKindsDoNotFaultWhileTheyAreCounted) {
  for (const TriggerKind kind : {TriggerKind::load, TriggerKind::store, TriggerKind::none}) {
    const auto samples = sample(build(kind), "page-faults:u", 1);
    if (!samples) GTEST_SKIP() << "perf cannot sample page faults here: " << reason_;
    EXPECT_EQ(*samples, Samples{}) << name_of(kind);
  }
}

TEST_F(UnderPerf, ABranchOrTheControlDoesNotTouchTheDatum) {
  for (const TriggerKind kind : {TriggerKind::branch_taken, TriggerKind::none}) {
    const Target target = build(kind);
    const auto samples = sample(target, breakpoint(target.description.layout.datum, 8, "rw"), 1);
    if (!samples) GTEST_SKIP() << "perf cannot sample a data breakpoint here: " << reason_;
    EXPECT_EQ(*samples, Samples{}) << name_of(kind);
  }
}

TEST_F(UnderPerf, SymbolsAreTheOnesOfThePartThatWasSampled) {
  const Target target = build(TriggerKind::load);
  const Layout& layout = target.description.layout;
  const auto symbol_at = [&](std::uint64_t address) {
    sample(target, fmt::format("mem:{:#x}:x:u", address), kPeriod);
    const std::string data = (directory_ / "perf.data").string();
    std::istringstream lines(run_program({"perf", "script", "-i", data, "-F", "ip,sym"}).out);
    std::string ip, symbol;
    lines >> ip >> symbol;
    return symbol;
  };
  const std::string first = symbol_at(layout.trigger.begin);
  if (first.empty()) GTEST_SKIP() << "perf cannot sample an execute breakpoint here: " << reason_;
  EXPECT_EQ(first, "skid_trigger");
  EXPECT_EQ(symbol_at(layout.lead_in.begin), "skid_lead_in");
  EXPECT_EQ(symbol_at(layout.loop.begin), "skid_loop");
  EXPECT_EQ(symbol_at(layout.runway.begin + layout.runway.size() / 2), "skid_runway");
  EXPECT_EQ(symbol_at(layout.runway.end), "skid_runway_end");
}

}  // namespace
}  // namespace skid::runway
