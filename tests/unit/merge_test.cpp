#include "analysis/merge.h"

#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/repeats.h"
#include "src/commands/distinct_recordings.h"
#include "src/output/report/evidence.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/staged_file.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"
#include "tests/unit/example_measurements.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skid::analysis {
namespace {

using examples::Example;

Measurement of_run(const std::string& run, int repeat, const examples::Offsets& offsets,
                   std::uint64_t kernel = 0) {
  const Example example{.level = 2, .offsets = offsets, .kernel_samples = kernel, .exact = true};
  Measurement m = examples::begin(example);
  m.run = run;
  m.file = run + "/access." + std::to_string(repeat) + ".data";
  m.repeat = repeat;
  return examples::finish(std::move(m), example);
}

Merged merged(std::vector<Measurement> all, RepeatPolicy repeats = RepeatPolicy::pair) {
  std::vector<std::size_t> inputs;
  std::vector<std::string> runs;
  for (const Measurement& m : all) {
    if (runs.empty() || runs.back() != m.run) runs.push_back(m.run);
    inputs.push_back(runs.size() - 1);
  }
  return merge(std::move(all), inputs, repeats);
}

/// The repeats and the samples of all measurements.
std::vector<std::pair<int, std::uint64_t>> samples_of_repeats(const Merged& result) {
  return test::mapped(result.measurements,
                      [](const auto& m) { return std::pair(m.repeat, m.samples.read()); });
}

TEST(Merge, AddsUpWhatIsOfOneConfiguration) {
  Measurement a = of_run("a.run", 1, {{0, 100}, {3, 5}}, 7);
  Measurement b = of_run("b.run", 1, {{-2, 1}, {0, 50}, {3, 5}, {4990, 2}}, 8);
  a.lost_records = 1;
  b.lost_records = 2;
  b.read_in_part = true;
  a.command_lines = {{"skidscan", "record"}};
  b.command_lines = {{"skidscan", "record"}, {"perf", "record"}};
  a.warnings = {"of both", "of a"};
  b.warnings = {"of both", "of b"};
  a.recording_warnings = std::make_shared<std::vector<std::string>>(1, "recording a");
  b.recording_warnings = std::make_shared<std::vector<std::string>>(1, "recording b");
  const auto result = merged({a, b});
  ASSERT_THAT(result.measurements, SizeIs(1));
  EXPECT_THAT(result.differences, IsEmpty());
  const Measurement& sum = result.measurements[0];
  Measurement whole = of_run("", 1, {{-2, 1}, {0, 150}, {3, 10}, {4990, 2}}, 15);
  whole.lost_records = 3;
  complete(whole);
  EXPECT_EQ(sum.samples, whole.samples);
  EXPECT_EQ(sum.basis.tally.instructions.counts(), whole.basis.tally.instructions.counts());
  EXPECT_EQ(sum.basis.tally.bytes.counts(), whole.basis.tally.bytes.counts());
  EXPECT_EQ(output::contract_evidence(sum), output::contract_evidence(whole));
  EXPECT_EQ(sum.hit_ratio.high, whole.hit_ratio.high);
  EXPECT_EQ(sum.instructions->stddev, whole.instructions->stddev);
  EXPECT_EQ(output::count_warnings(sum), output::count_warnings(whole));
  EXPECT_EQ(sum.events_per_iteration.measured, 1.0);
  EXPECT_EQ(sum.lost_records, 3u);
  EXPECT_TRUE(sum.read_in_part);
  EXPECT_THAT(sum.command_lines,
              ElementsAre(ElementsAre("skidscan", "record"), ElementsAre("perf", "record")));
  EXPECT_THAT(sum.warnings, ElementsAre("of both", "of a", "of b"));
  EXPECT_THAT(*sum.recording_warnings, ElementsAre("recording a", "recording b"));
  EXPECT_EQ(sum.parts, 2u);
  ASSERT_THAT(sum.merged_from, SizeIs(2));
  EXPECT_EQ(sum.merged_from[1].file, "b.run/access.1.data");
  EXPECT_EQ(sum.merged_from[1].samples, 66u);
  EXPECT_EQ(sum.run, "a.run and 1 more");
  EXPECT_EQ(sum.file, "a.run/access.1.data and 1 more");
}

TEST(Merge, KeepsRepetitionsApartPoolsOrNumbersThem) {
  const std::vector<Measurement> all{of_run("a.run", 1, {{0, 1}}), of_run("a.run", 2, {{0, 2}}),
                                     of_run("b.run", 1, {{0, 4}}), of_run("b.run", 2, {{0, 8}})};
  EXPECT_THAT(samples_of_repeats(merged(all, RepeatPolicy::pair)),
              ElementsAre(Pair(1, 5), Pair(2, 10)));
  EXPECT_THAT(samples_of_repeats(merged(all, RepeatPolicy::pool)), ElementsAre(Pair(1, 15)));
  EXPECT_THAT(samples_of_repeats(merged(all, RepeatPolicy::apart)),
              ElementsAre(Pair(1, 1), Pair(2, 2), Pair(3, 4), Pair(4, 8)));
  const auto pooled = merged(all, RepeatPolicy::pool).measurements[0];
  EXPECT_EQ(pooled.run, "a.run and 1 more");
  EXPECT_EQ(pooled.merged_from[3].repeat, 2);
}

TEST(Merge, LeavesWhatIsAloneAsItIs) {
  const Measurement a = of_run("a.run", 3, {{0, 1}});
  for (const RepeatPolicy repeats : {RepeatPolicy::pair, RepeatPolicy::pool, RepeatPolicy::apart}) {
    const auto alone = merged({a}, repeats).measurements.at(0);
    EXPECT_EQ(alone.run, "a.run");
    EXPECT_EQ(alone.repeat, repeats == RepeatPolicy::pair ? 3 : 1);
    EXPECT_EQ(alone.parts, 1u);
    EXPECT_THAT(alone.merged_from, IsEmpty());
  }
}

TEST(Merge, AddsUpSkidInEvents) {
  Measurement a = of_run("a.run", 1, {{0, 2}});
  a.basis.skid_in_events.emplace().overshoots.add(7, 2);
  Measurement b = of_run("b.run", 1, {{0, 3}});
  b.basis.skid_in_events.emplace().overshoots.add(7, 1);
  b.basis.skid_in_events->left_out = 2;
  const auto sum = merged({a, b}).measurements.at(0).basis.skid_in_events;
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->overshoots.count_at(7), 3u);
  EXPECT_EQ(sum->left_out, 2u);
}

TEST(Merge, NamesTheFirstDifferenceOfWhatItLeavesBeside) {
  const std::vector<std::pair<std::string, std::function<void(Measurement&)>>> changes{
      {"kernel: 6.1.0-18-amd64 and 6.2", [](auto& m) { m.kernel = "6.2"; }},
      {"microcode: 0xf0 and 0xf1", [](auto& m) { m.cpu.microcode = "0xf1"; }},
      {"CPU model: 94 and unknown", [](auto& m) { m.cpu.model.reset(); }},
      {"hypervisor: unknown and KVM", [](auto& m) { m.cpu.hypervisor = "KVM"; }},
      {"event recorded: access:pp and cpu-clock", [](auto& m) { m.event.recorded = "cpu-clock"; }},
      {"config: 0x0 and 0x1", [](auto& m) { m.event.config = 1; }},
      {"config2: 0x0 and 0x8", [](auto& m) { m.event.config2 = 8; }},
      {"modes left out:  and kernel, host",
       [](auto& m) {
         m.event.excluded.assign({"kernel", "host"});
       }},
      {"level recorded: 2 and 1", [](auto& m) { m.precise.recorded = 1; }},
      {"period requested: 100 and 7", [](auto& m) { m.period.requested = 7; }},
      {"period: 100 and of each sample", [](auto& m) { m.basis.period_sum = 1; }},
      {"trigger: load and store", [](auto& m) { m.trigger->kind = "store"; }},
      {"runway: 5000 and 4000", [](auto& m) { m.basis.geometry->highest_offset = 4000; }},
      {"lead-in: 200 and 100", [](auto& m) { m.basis.geometry->lowest_offset = -100; }},
      {"triggers: 0x4010c8 and 0x1", [](auto& m) { m.basis.geometry->trigger_addresses = {1}; }},
      {"geometry: known and unknown", [](auto& m) { m.basis.geometry.reset(); }},
      {"skid in events: not recorded and recorded",
       [](auto& m) { m.basis.skid_in_events.emplace(); }},
      {"judged: yes and timer", [](auto& m) { m.basis.not_judged = NotJudged::timer; }},
      {"synthetic: no and yes", [](auto& m) { m.synthetic = true; }},
      {"tracepoint beside it: none and page_fault",
       [](auto& m) {
         m.ip_check = IpCheck{"page_fault", 0, 0, 0, std::nullopt};
       }},
  };
  for (const auto& [difference, change] : changes) {
    const Measurement a = of_run("a.run", 1, {{0, 1}});
    Measurement b = of_run("b.run", 1, {{0, 1}});
    change(b);
    const auto result = merged({a, b, b});
    EXPECT_THAT(result.measurements, SizeIs(3)) << difference;
    EXPECT_THAT(result.differences, ElementsAre("access:pp: " + difference));
  }
}

TEST(Merge, DoesNotReportOtherEventsAndLevels) {
  Measurement other = of_run("b.run", 1, {{0, 1}});
  other.event.label = other.event.recorded = "execute";
  other.event.requested = "execute:pp";
  EXPECT_THAT(merged({of_run("a.run", 1, {{0, 1}}), other}).differences, IsEmpty());
}

TEST(Merge, NeverAddsUpTheEventsOfOneRecording) {
  const std::vector<Measurement> twice{of_run("a.run", 1, {{0, 1}}), of_run("a.run", 1, {{0, 2}})};
  for (const RepeatPolicy repeats : {RepeatPolicy::pair, RepeatPolicy::pool}) {
    EXPECT_THAT(merged(twice, repeats).measurements, SizeIs(2));
    auto both = twice;
    both.push_back(of_run("b.run", 1, {{0, 4}}));
    both.push_back(of_run("b.run", 1, {{0, 8}}));
    EXPECT_THAT(samples_of_repeats(merged(both, repeats)), ElementsAre(Pair(1, 5), Pair(1, 10)));
  }
}

/// Adds the measurements of inputs "1", "2", …, one each.
auto adding(const std::vector<Measurement>& all) {
  return [all] {
    std::vector<std::string> inputs;
    for (std::size_t i = 0; i < all.size(); ++i) inputs.push_back(std::to_string(i + 1));
    commands::DistinctRecordings recordings(inputs, ", please");
    for (std::size_t i = 0; i < all.size(); ++i) recordings.add(all[i], i);
  };
}

auto refuses(const std::string& first, const std::string& second, const std::string& file) {
  return ThrowsMessage<Error>(HasSubstr(first + " and " + second + ": both contain the recording " +
                                        file +
                                        ", whose samples would count twice; leave one out, "
                                        "please"));
}

TEST(DistinctRecordings, RefusesToCountARecordingTwice) {
  const Measurement a = of_run("a.run", 1, {{0, 1}}), b = of_run("b.run", 1, {{0, 1}});
  const Measurement sum = merged({a, b}).measurements.at(0);
  EXPECT_NO_THROW(adding({a, b})());
  EXPECT_THAT(adding({a, b, a}), refuses("1", "3", "a.run/access.1.data"));
  EXPECT_THAT(adding({sum, b}), refuses("1", "2", "b.run/access.1.data"));
  Measurement other_path = a, without_run = a;
  other_path.file = "b.run/../a.run/access.1.data";
  without_run.run = "";
  EXPECT_THAT(adding({a, other_path}), refuses("1", "2", other_path.file));
  EXPECT_THAT(adding({a, without_run}), refuses("1", "2", a.file));
  Measurement other_event = a;
  other_event.event.config = 0x1234;
  EXPECT_NO_THROW(adding({a, other_event})());
  Measurement later = a;
  later.time = SampleTime{1, 2};
  EXPECT_NO_THROW(adding({a, later})()) << "of another time";
  Measurement copy = later;
  copy.run = "c.run";
  copy.file = "c.run/access.1.data";
  copy.cpu.microcode = "0x1";  // which only a run contains
  EXPECT_THAT(adding({later, copy}), refuses("1", "2", copy.file));
}

TEST(DistinctRecordings, KnowsSyntheticOnesByTheirContents) {
  const test::TemporaryDirectory directory;
  const auto of_file = [&](const std::string& name, const std::string& contents) {
    write_file_atomically(directory / name, contents);
    Measurement m = of_run("a.run", 1, {{0, 1}});
    m.file = (directory / name).string();
    m.synthetic = true;
    m.time = SampleTime{1, 2};  // by the model, which all have in common
    return m;
  };
  const Measurement a = of_file("a", "contents"), copy = of_file("b", "contents"),
                    other = of_file("c", "Contents");
  EXPECT_NO_THROW(adding({a, other})());
  EXPECT_THAT(adding({a, other, copy}), refuses("1", "3", copy.file));
}

TEST(Merge, DropsWhatDoesNotFollowFromTheParts) {
  Measurement a = of_run("a.run", 1, {{0, 1}, {4, 4}}), b = of_run("b.run", 1, {{0, 1}, {4, 4}});
  a.basis.ticks_per_instruction = b.basis.ticks_per_instruction = 0.5;
  const auto same = merged({a, b}).measurements.at(0);
  ASSERT_TRUE(same.tsc_ticks);
  EXPECT_EQ(same.tsc_ticks->max, 2);
  b.basis.ticks_per_instruction = 0.25;
  b.basis.iterations.reset();
  const auto other = merged({a, b}).measurements.at(0);
  EXPECT_FALSE(other.tsc_ticks);
  EXPECT_FALSE(other.events_per_iteration.measured);
  EXPECT_THAT(other.warnings, Contains(HasSubstr("different ticks per instruction")));
}

TEST(Merge, BoundsWhatItLists) {
  std::vector<Measurement> all;
  for (int i = 0; i < 1200; ++i) {
    all.push_back(of_run("run" + std::to_string(i), 1, {{0, 1}}));
    all.back().warnings = {"warning " + std::to_string(i)};
  }
  const auto half = all.begin() + 600;
  const auto first = merged({all.begin(), half}).measurements.at(0);
  const auto sum = merged({first, merged({half, all.end()}).measurements.at(0)}).measurements.at(0);
  EXPECT_EQ(sum.samples.read(), 1200u);
  EXPECT_EQ(sum.parts, 1200u);
  EXPECT_THAT(sum.merged_from, SizeIs(kMostParts));
  EXPECT_THAT(sum.warnings, SizeIs(21));
  EXPECT_THAT(sum.warnings.back(), HasSubstr("Further warnings"));
  EXPECT_EQ(sum.run, "run0 and 1199 more");
}

}  // namespace
}  // namespace skid::analysis
