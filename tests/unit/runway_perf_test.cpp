#include "src/machine/machine.h"
#include "tests/unit/runway_fixture.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
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

  using Samples = std::map<std::uint64_t, std::uint64_t>;  // per IP

  /// Of each event its samples, in the order of `events`; nullopt when perf cannot record them
  /// here, with its reason in `reason_`.
  std::optional<std::vector<Samples>> sample(const Target& target,
                                             const std::vector<std::string>& events,
                                             std::uint64_t period, RunLength length = kIterations,
                                             const std::vector<std::string>& options = {}) {
    const std::string control = (directory_ / "control").string();
    const std::string ack = (directory_ / "ack").string();
    const std::string data = (directory_ / "perf.data").string();
    std::vector<std::string> command{"perf", "record", "-q", "-o", data};
    command.insert(command.end(), {"-c", std::to_string(period), "-D", "-1"});
    command.insert(command.end(), {"--control", fmt::format("fifo:{},{}", control, ack)});
    for (const std::string& event : events) command.insert(command.end(), {"-e", event});
    command.insert(command.end(), options.begin(), options.end());
    command.emplace_back("--");
    TargetRun run;
    run.length = length;
    run.control = control;
    run.acknowledge = ack;
    for (const std::string& word : command_line(target, run)) command.push_back(word);
    const Completed recorded = run_program(command);
    if (!recorded.code.success()) {
      reason_ = fmt::format("{}: {}", fmt::join(events, ", "), recorded.err);
      return std::nullopt;
    }
    EXPECT_TRUE(parse_target_report(recorded.out)) << recorded.out;
    std::vector<Samples> samples(events.size());
    std::istringstream lines(run_program({"perf", "script", "-i", data, "-F", "event,ip"}).out);
    for (std::string event, ip; lines >> event >> ip;) {
      event.pop_back();  // the colon
      // perf names a data breakpoint by its address alone.
      const auto found = std::find_if(events.begin(), events.end(), [&](const std::string& asked) {
        return asked.starts_with(event);
      });
      EXPECT_NE(found, events.end()) << event;
      if (found == events.end()) break;
      ++samples[static_cast<std::size_t>(found - events.begin())][std::stoull(ip, nullptr, 16)];
    }
    return samples;
  }

  /// Of one event.
  std::optional<Samples> sample(const Target& target, const std::string& event,
                                std::uint64_t period, RunLength length = kIterations,
                                const std::vector<std::string>& options = {}) {
    const auto samples = sample(target, std::vector{event}, period, length, options);
    if (!samples) return std::nullopt;
    return samples->front();
  }

  static std::string breakpoint(std::uint64_t address, unsigned bytes, std::string_view access) {
    return fmt::format("mem:{:#x}/{}:{}:u", address, bytes, access);
  }

  Directory directory_;
  std::string reason_;
};

/// Each kind by itself, so that one that this CPU lacks is skipped with the reason.
class EveryKindUnderPerf : public UnderPerf, public ::testing::WithParamInterface<TriggerKind> {
 protected:
  void SetUp() override {
    const auto reason = refusal(GetParam(), kHost, machine::inspect().cpu_flags);
    if (reason) GTEST_SKIP() << *reason;
    UnderPerf::SetUp();
    if (IsSkipped()) return;
    Specification specification = specification_of(GetParam());
    // So few elements that the chase comes round several times.
    if (elements_of(specification) != 0) {
      specification.working_set_bytes = kElements * chase_stride(GetParam());
    }
    target_ = build_target(specification, directory_ / "target");
  }

  /// What a built-in event must give here, by what the target declares of it.
  Samples declared(const std::string& event, std::uint64_t period) const {
    const Expectation* expectation = target_.description.expectation_of(event);
    if (!expectation->offset) return {};
    const Layout& layout = target_.description.layout;
    const std::uint64_t ip = *expectation->offset == 0 ? layout.trigger.begin : layout.runway.begin;
    const double events = expectation->events_per_iteration * static_cast<double>(kIterations);
    return {{ip, static_cast<std::uint64_t>(std::llround(events)) / period}};
  }

  static constexpr std::uint64_t kElements = 100;
  Target target_;
};

TEST_P(EveryKindUnderPerf, TheBuiltInEventsGiveExactlyWhatIsDeclared) {
  const Layout& layout = target_.description.layout;
  const unsigned watched = watched_bytes(target_.description.specification);
  // A hypervisor carries cpuid out itself and may go on with RFLAGS.RF set, under which the next
  // instruction does not stop at a breakpoint (KVM on AMD's CPUs); the one behind it does.
  const bool of_hypervisor = GetParam() == TriggerKind::cpuid;
  const std::uint64_t runway =
      layout.runway.begin +
      (of_hypervisor ? target_.description.specification.nop_bytes : std::uint64_t{0});
  // perf takes no length for breakpoints on execution and says so; the kernel wants the machine
  // word's.
  const std::vector<std::string> events{
      breakpoint(layout.datum, watched, "rw"),
      fmt::format("mem:{:#x}:x:u", layout.trigger.begin),
      fmt::format("mem:{:#x}:x:u", runway),
  };
  const auto samples = sample(target_, events, kPeriod);
  if (!samples) GTEST_SKIP() << "perf cannot sample breakpoints here: " << reason_;
  EXPECT_EQ((*samples)[0], declared("access", kPeriod));
  EXPECT_EQ((*samples)[1], declared("execute", kPeriod));
  EXPECT_EQ((*samples)[1], (Samples{{layout.trigger.begin, kIterations / kPeriod}}));
  EXPECT_EQ((*samples)[2], (Samples{{runway, kIterations / kPeriod}}))
      << "does not go on at the beginning of the runway";
}

TEST_P(EveryKindUnderPerf, FaultsAsDeclared) {
  const bool faults = GetParam() == TriggerKind::fault;
  const auto samples = sample(target_, faults ? "page-faults" : "page-faults:u", 1);
  if (!samples) GTEST_SKIP() << "perf cannot sample page faults here: " << reason_;
  EXPECT_EQ(*samples, declared("faults", 1));
}

/// Those that no data breakpoint sees: the clock has to show that they run.
class KindWithoutAccessUnderPerf : public EveryKindUnderPerf {};

TEST_P(KindWithoutAccessUnderPerf, TheClockFindsItInItsLoop) {
  const auto samples = sample(target_, "cpu-clock:u", 100'000, std::chrono::milliseconds{100});
  if (!samples) GTEST_SKIP() << "perf cannot sample a clock here: " << reason_;
  std::uint64_t in_loop = 0, all = 0;
  for (const auto& [ip, count] : *samples) {
    all += count;
    if (target_.description.layout.loop.contains(ip)) in_loop += count;
  }
  EXPECT_GT(all, 0U);
  // The rest are the call of the loop and reading the clock between batches.
  EXPECT_GE(in_loop * 100, all * 95) << in_loop << " of " << all;
}

std::string kind_name(const ::testing::TestParamInfo<TriggerKind>& test) {
  std::string name(name_of(test.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<TriggerKind> kinds_without_access() {
  std::vector<TriggerKind> kinds = all_trigger_kinds();
  std::erase_if(kinds, [](TriggerKind kind) { return traits_of(kind).touches_datum; });
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKindUnderPerf, ::testing::ValuesIn(all_trigger_kinds()),
                         kind_name);
INSTANTIATE_TEST_SUITE_P(Kinds, KindWithoutAccessUnderPerf,
                         ::testing::ValuesIn(kinds_without_access()), kind_name);

TEST_F(UnderPerf, AStringOfEachWidthComesOncePerRepetitionOverTheDatum) {
  if (kHost != Arch::x86_64) GTEST_SKIP() << "aarch64 has no string instructions";
  for (const unsigned width : {1U, 2U, 4U, 8U}) {
    Specification specification = specification_of(TriggerKind::string_load);
    specification.access_bytes = width;
    const Target target = build_target(specification, directory_ / "target");
    const Layout& layout = target.description.layout;
    const auto samples = sample(target, breakpoint(layout.datum, 8, "rw"), kPeriod);
    if (!samples) GTEST_SKIP() << "perf cannot sample a data breakpoint here: " << reason_;
    EXPECT_EQ(*samples, (Samples{{layout.trigger.begin, kIterations * 8 / width / kPeriod}}));
  }
}

TEST_F(UnderPerf, TheDirectionsOfTheMispredictedBranchAreRandom) {
  if (kHost != Arch::x86_64) GTEST_SKIP() << "aarch64 has no such kind";
  const Target target = build(TriggerKind::branch_mispredict);
  const std::uint64_t trigger = target.description.layout.trigger.begin;
  if (!sample(target, fmt::format("mem:{:#x}:x:u", trigger), 1, kIterations,
              {"--intr-regs=flags"})) {
    GTEST_SKIP() << "perf cannot sample registers here: " << reason_;
  }
  const std::string data = (directory_ / "perf.data").string();
  std::istringstream words(run_program({"perf", "script", "-i", data, "-F", "iregs"}).out);
  std::vector<bool> taken;
  for (std::string word; words >> word;) {
    constexpr std::string_view kFlags = "FLAGS:0x";
    if (!word.starts_with(kFlags)) continue;
    taken.push_back((std::stoull(word.substr(kFlags.size()), nullptr, 16) & 1U) != 0);  // carry
  }
  ASSERT_EQ(taken.size(), kIterations);
  // Five standard deviations, of how often it is taken and of how often it does as it did some
  // passes before: no direction and no period stands out.
  const double tolerance = 2.5 * std::sqrt(static_cast<double>(kIterations));
  const auto count = static_cast<double>(std::count(taken.begin(), taken.end(), true));
  EXPECT_NEAR(count, static_cast<double>(kIterations) / 2, tolerance);
  for (std::size_t lag = 1; lag <= 300; ++lag) {
    double same = 0;
    for (std::size_t i = lag; i < taken.size(); ++i) same += taken[i] == taken[i - lag] ? 1 : 0;
    EXPECT_NEAR(same, static_cast<double>(taken.size() - lag) / 2, tolerance) << "lag " << lag;
  }
}

TEST_F(UnderPerf, OfSeveralTriggersEachIsSampledAsOften) {
  Specification specification = specification_of(TriggerKind::load);
  specification.gaps = {30, 50};
  const Target target = build_target(specification, directory_ / "target");
  const Layout& layout = target.description.layout;
  const auto samples = sample(target, breakpoint(layout.datum, 8, "rw"), kPeriod);
  if (!samples) GTEST_SKIP() << "perf cannot sample a data breakpoint here: " << reason_;
  const std::int64_t offset = *target.description.expectation_of("access")->offset;
  Samples expected;  // 7 and 3 have no common divisor, so each is the 7th event equally often
  for (const auto& [trigger, runway] : layout.trigger_blocks()) {
    expected[offset == 0 ? trigger.begin : runway.begin] = kIterations / kPeriod;
  }
  EXPECT_EQ(*samples, expected);
  EXPECT_EQ(target.description.expectation_of("access")->events_per_iteration, 3);
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
