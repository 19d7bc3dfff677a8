// Overshoots of an event's counter, from recordings whose values are written byte by byte.

#include "analysis/basis.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/measure.h"
#include "src/measure/overshoot_counter.h"
#include "src/measure/recorded_event.h"
#include "src/measure/single_samples.h"
#include "src/output/report/verdict_words.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/format.h"
#include "src/perfdata/sample.h"
#include "src/synth/recording.h"
#include "tests/support/prelude.h"
#include "tests/support/recorded_program.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skid::measure {
namespace {

using perfdata::Attribute;
using perfdata::CounterValue;

constexpr std::uint64_t kSampleType =
    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ID | PERF_SAMPLE_READ;

TEST(OvershootCounter, TakesTheRemaindersOfConsecutiveMultiplesAndLeavesOutTheOthers) {
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  struct Case {
    const char* what;
    std::vector<CounterValue> values;
    std::map<std::int64_t, std::uint64_t> overshoots;
    std::uint64_t left_out = 0;
    std::uint64_t period = 1000;
  };
  const std::vector<Case> cases{
      {"consecutive multiples",
       {{.value = 1000}, {.value = 2012}, {.value = 3999}, {.value = 4012}},
       {{0, 1}, {12, 2}, {999, 1}}},
      {"the interrupt of the second was a period and 5 late, and the third is a period after it",
       {{.value = 1003}, {.value = 3005}, {.value = 4007}},
       {{3, 1}},
       2},
      {"below the period", {{.value = 999}, {.value = 1000}}, {}, 2},
      {"the first is missing", {{.value = 2000}}, {}, 1},
      {"no new one", {{.value = 1000}, {.value = 1001}}, {{0, 1}}, 1},
      {"fewer lost than before", {{.value = 2000, .lost = 1}, {.value = 3000}}, {{0, 1}}, 1},
      {"a multiple for each lost record",
       {{.value = 1001}, {.value = 4002, .lost = 2}, {.value = 5003, .lost = 2}},
       {{1, 1}, {2, 1}, {3, 1}}},
      {"too few lost", {{.value = 1001}, {.value = 4002, .lost = 1}}, {{1, 1}}, 1},
      {"too many lost", {{.value = 1001}, {.value = 4002, .lost = 3}}, {{1, 1}}, 1},
      {"each id by itself, with a gap of the first alone",
       {{.id = 1, .value = 1001},
        {.id = 2, .value = 1002},
        {.id = 2, .value = 2002},
        {.id = 1, .value = 2001},
        {.id = 1, .value = 4001},
        {.id = 2, .value = 3002}},
       {{1, 2}, {2, 3}},
       1},
      {"a multiplexed counter",
       {{.value = 1001, .time_enabled = 50, .time_running = 50},
        {.value = 2001, .time_enabled = 90, .time_running = 80},
        {.value = 3001, .time_enabled = 120, .time_running = 110}},
       {{1, 1}},
       2},
      {"the end of 64 bits", {{.value = UINT64_MAX}}, {{INT64_MAX, 1}}, 0, kHalf},
  };
  for (const auto& [what, values, overshoots, left_out, period] : cases) {
    analysis::SkidInEvents skid;
    OvershootCounter counter(period, skid);
    for (const CounterValue& value : values) counter.add(value);
    EXPECT_EQ(skid.overshoots.counts(), overshoots) << what;
    EXPECT_EQ(skid.left_out, left_out) << what;
  }
}

TEST(SkidInEventsRefusal, NamesWhyValuesShowNoOvershoot) {
  const auto of_type = [](std::uint32_t type, std::uint64_t config = 0) {
    Attribute attribute{.type = type, .config = config, .sample_type = kSampleType};
    attribute.period_or_frequency = 1000;  // no multiple of 64
    return attribute;
  };
  const auto changed = [](Attribute attribute, const std::function<void(Attribute&)>& change) {
    change(attribute);
    return attribute;
  };
  const Attribute faults = of_type(PERF_TYPE_SOFTWARE, 2);
  const Attribute raw = of_type(PERF_TYPE_RAW, 0xc0);
  const Attribute precise = changed(raw, [](Attribute& a) { a.precise_ip = 1; });
  const auto branches = [](Attribute& a) { a.sample_type |= PERF_SAMPLE_BRANCH_STACK; };
  const auto inherited = [](Attribute& a) { a.inherit = true; };
  const auto no_id = [](Attribute& a) { a.sample_type &= ~std::uint64_t{PERF_SAMPLE_ID}; };
  const auto periods = [](Attribute& a) { a.sample_type |= PERF_SAMPLE_PERIOD; };
  const Attribute instructions = of_type(PERF_TYPE_RAW, 0x1c0);
  machine::CpuIdentity intel, broadwell, amd, s390;
  intel.vendor = broadwell.vendor = "GenuineIntel";
  intel.family = broadwell.family = 6;
  intel.model = 94;
  broadwell.model = 61;
  amd.vendor = "AuthenticAMD";
  s390.arch = "s390x";
  struct Case {
    Attribute attribute;
    const char* pmu;
    machine::CpuIdentity cpu;
    const char* reason;  ///< empty: not refused
  };
  const std::vector<Case> cases{
      {faults, "", {}, ""},
      {of_type(PERF_TYPE_TRACEPOINT), "", {}, ""},
      {of_type(PERF_TYPE_BREAKPOINT), "", {}, ""},
      {changed(faults, [](Attribute& a) { a.precise_ip = 2; }), "", {}, ""},
      {raw, "cpu", intel, ""},
      {instructions, "cpu", intel, ""},
      {changed(raw, branches), "cpu", intel, ""},
      {precise, "armv8_pmuv3_0", {}, ""},
      {changed(faults, [](Attribute& a) { a.frequency = true; }), "", {}, "frequency"},
      {changed(faults, inherited), "", {}, "record -i"},
      {changed(faults, no_id), "", {}, "the id"},
      {of_type(PERF_TYPE_SOFTWARE, 0), "", {}, "timer"},
      {of_type(PERF_TYPE_SOFTWARE, 1), "", {}, "timer"},
      {changed(faults, periods), "", {}, "one of every event"},
      {precise, "cpu", intel, "not at the record"},
      {precise, "cpu", amd, "IBS"},
      {of_type(9), "ibs_op", amd, "IBS"},
      {of_type(10), "arm_spe_0", {}, "no counter"},
      {instructions, "cpu", broadwell, "Broadwell"},
      {changed(raw, branches), "cpu", amd, "BRS"},
      {raw, "cpum_cf", s390, "intervals"},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& one = cases[i];
    machine::Machine machine{.cpu = one.cpu};
    const std::string found = no_skid_in_events({.attribute = one.attribute,
                                                 .pmu_name = one.pmu,
                                                 .machine = machine,
                                                 .code = one.attribute.config});
    EXPECT_THAT(found, *one.reason == '\0' ? ::testing::Matcher<std::string>(IsEmpty())
                                           : HasSubstr(one.reason))
        << "case " << i;
  }
}

/// Recordings of page faults with values of their counters.
class RecordedCounters : public ::testing::Test {
 protected:
  static test::EventToBuild event(std::vector<std::uint64_t> ids, std::uint64_t period = 1000) {
    return {.type = PERF_TYPE_SOFTWARE,
            .config = 2,
            .period = period,
            .sample_type = kSampleType,
            .read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST,
            .ids = std::move(ids)};
  }
  void sample(std::uint64_t id, const test::ByteWriter& read) {
    test::add_sample({.id = id, .read = read.bytes()}, event({}), builder_);
  }
  void sample(std::uint64_t id, std::uint64_t value, std::uint64_t lost = 0) {
    sample(id, builder_.writer().u64(value).u64(id).u64(lost));
  }
  /// Of each event; nullopt: nothing of its counter is recorded.
  std::vector<std::optional<analysis::SkidInEvents>> measured() {
    builder_.write(directory_ / "perf.data");
    return test::mapped(measure({.file = directory_ / "perf.data"}, {}).measurements,
                        [](const auto& one) { return one.basis.skid_in_events; });
  }

  test::TemporaryDirectory directory_;
  test::RecordingBuilder builder_;
};

TEST_F(RecordedCounters, GiveTheOvershootOfEachId) {
  builder_.event(event({1, 2}));
  sample(1, 1017);
  sample(2, 1000);
  sample(1, 2031);
  sample(2, 3005, /*lost*/ 1);
  const auto skids = measured();
  ASSERT_EQ(skids.size(), 1u);
  EXPECT_THAT(skids[0].value().overshoots.counts(),
              ElementsAre(Pair(0, 1), Pair(5, 1), Pair(17, 1), Pair(31, 1)));
  EXPECT_EQ(output::skid_in_events_text(*skids[0]),
            "p50 5, p99 31, max 31 events past the overflow (4 samples)");
}

TEST_F(RecordedCounters, OfAGroupAreThoseOfTheSampledMember) {
  test::EventToBuild leader = event({1}), member = event({2}, 100);
  leader.read_format |= PERF_FORMAT_GROUP;
  member.read_format |= PERF_FORMAT_GROUP;
  builder_.event(leader).event(member);
  const auto group = [&](std::uint64_t first, std::uint64_t second) {
    return builder_.writer().u64(2).u64(first).u64(1).u64(0).u64(second).u64(2).u64(0);
  };
  sample(2, group(500, 103));
  sample(1, group(1009, 150));
  EXPECT_THAT(test::mapped(measured(), [](const auto& one) { return one->overshoots.counts(); }),
              ElementsAre(ElementsAre(Pair(9, 1)), ElementsAre(Pair(3, 1))));
}

TEST_F(RecordedCounters, OfTheOtherByteOrderAreTheSame) {
  builder_ = test::RecordingBuilder(/*big_endian=*/true);
  builder_.event(event({1}));
  sample(1, 1017);
  EXPECT_THAT(measured().at(0).value().overshoots.counts(), ElementsAre(Pair(17, 1)));
}

TEST_F(RecordedCounters, ThatEndEarlyAreLeftOut) {
  builder_.event(event({1}));
  sample(1, builder_.writer().u64(1017).u64(1));  // without the number of lost records
  const auto skid = measured().at(0).value();
  EXPECT_EQ(skid.left_out, 1u);
  EXPECT_EQ(output::skid_in_events_text(skid),
            "no samples, 1 left out: the multiple of the period is not known");
}

TEST_F(RecordedCounters, AreRefusedWhereTheyAreInherited) {
  test::EventToBuild inherited = event({1});
  inherited.inherit = true;
  builder_.event(inherited);
  sample(1, 1017);
  const auto skid = measured().at(0).value();
  EXPECT_TRUE(skid.overshoots.empty());
  EXPECT_THAT(output::skid_in_events_text(skid), HasSubstr("not derived: counters of several"));
}

TEST_F(RecordedCounters, AreAbsentWithoutRead) {
  test::EventToBuild bare = event({1});
  bare.sample_type &= ~std::uint64_t{PERF_SAMPLE_READ};
  builder_.event(bare);
  sample(1, builder_.writer());
  EXPECT_FALSE(measured().at(0));
}

}  // namespace
}  // namespace skid::measure
