// The measurement of two recordings together is the merge of the two measurements.
#include "analysis/measurement.h"
#include "src/output/report/report.h"
#include "src/synth/draw.h"
#include "src/synth/loop_path.h"
#include "tests/support/random_models.h"

#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skid::synth {
namespace {

using analysis::Place;

constexpr std::int64_t kNops = 120;
constexpr std::size_t kTriggers = 2;

std::vector<std::uint64_t> nops(std::uint64_t begin, std::uint64_t count) {
  std::vector<std::uint64_t> starts(count);
  std::iota(starts.begin(), starts.end(), begin);
  return starts;
}

/// A lead-in, two triggers of three bytes with runways, and an end of two instructions of which the
/// first causes the event too.
struct Target {
  LoopParts parts;
  analysis::TargetMap map = make();

 private:
  analysis::TargetMap make() {
    constexpr std::uint64_t kLeadIn = 0x401000;
    constexpr std::uint64_t kLeadInNops = 30;
    const auto add = [this](const std::vector<std::uint64_t>& starts) {
      parts.starts.insert(parts.starts.end(), starts.begin(), starts.end());
    };
    std::uint64_t at = kLeadIn + kLeadInNops;
    parts.lead_in = {kLeadIn, at};
    add(nops(kLeadIn, kLeadInNops));
    std::vector<analysis::TriggerBlock> trigger_blocks;
    for (std::size_t i = 0; i < kTriggers; ++i) {
      const AddressRange trigger{at, at + 3}, runway{at + 3, at + 3 + kNops};
      parts.trigger_blocks.push_back({trigger, runway});
      add({at});
      add(nops(runway.begin, kNops));
      trigger_blocks.push_back({{trigger, {at}}, {runway, nops(runway.begin, kNops)}});
      at = runway.end;
    }
    parts.other_triggers = {{at, at + 3}};
    add({at, at + 3});
    return analysis::TargetMap::of_target({parts.lead_in, nops(kLeadIn, kLeadInNops)},
                                          trigger_blocks, {kLeadIn, at + 5}, parts.other_triggers);
  }
};

Place place_of(const DrawnSample& sample) {
  if (sample.mode == perfdata::CpuMode::kernel) return Place::kernel;
  constexpr std::uint64_t kBehindTheTarget = 0x1000'0000;
  if (sample.origin == Origin::target) {
    return sample.address < kBehindTheTarget ? Place::target : Place::unmapped;
  }
  return Place::other_user;
}

analysis::Tally tally_of(const std::map<DrawnSample, std::uint64_t>& places,
                         const analysis::TargetMap& map) {
  analysis::Tally tally;
  for (const auto& [sample, samples] : places) {
    tally.add({place_of(sample), sample.address, samples, sample.exact}, &map);
  }
  return tally;
}

std::string report_of(const analysis::Tally& tally, const analysis::TargetMap& map, int level) {
  analysis::Measurement measurement;
  measurement.event.label = measurement.event.recorded = "r100";
  measurement.precise.recorded = level;
  analysis::complete(measurement, tally, &map, analysis::NotJudged::none, false, 0.25, 1);
  return output::report_json({measurement});
}

TEST(Merging, OfTalliesIsTheTallyOfAllSamples) {
  const Target target;
  const LoopPath path(target.parts);
  test::RandomModels models(2027);
  std::mt19937_64 random(5);
  int measurements = 0;
  for (int round = 0; round < 60; ++round) {
    const Model model = models.model(kNops, kTriggers, true);
    for (const EventModel& event : model.events) {
      for (const LevelModel& level : event.levels) {
        const Drawn drawn = draw(level, path, random(), event.name);
        const std::size_t parts = 2 + random() % 4;
        std::vector<std::map<DrawnSample, std::uint64_t>> places(parts);
        for (const DrawnSample& sample : drawn.samples) ++places[random() % parts][sample];
        analysis::Tally merged;
        for (const auto& part : places) merged += tally_of(part, target.map);
        const analysis::Tally whole = tally_of(drawn.truth.places, target.map);
        ASSERT_EQ(whole.ledger, drawn.truth.samples);
        ASSERT_EQ(merged.ledger, whole.ledger);
        ASSERT_EQ(merged.instructions.counts(), whole.instructions.counts());
        ASSERT_EQ(merged.bytes.counts(), whole.bytes.counts());
        ASSERT_EQ(merged.exact_samples, drawn.truth.exact_ip_samples);
        ASSERT_EQ(merged.exact_hits, drawn.truth.exact_hits);
        ASSERT_EQ(merged.exact_off_trigger, drawn.truth.exact_off_trigger);
        ASSERT_EQ(merged.triggers, whole.triggers);
        ASSERT_EQ(report_of(merged, target.map, level.precise_ip),
                  report_of(whole, target.map, level.precise_ip));
        ++measurements;
      }
    }
  }
  EXPECT_GT(measurements, 100);
}

}  // namespace
}  // namespace skid::synth
