// Synthetic recordings through our own reader: what is found is what was written, to the sample.
#include "analysis/basis.h"
#include "analysis/measurement.h"
#include "analysis/target_map.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "src/measure/measure.h"
#include "src/perfdata/recording_writer.h"
#include "src/support/address.h"
#include "src/support/file.h"
#include "src/synth/built_in_models.h"
#include "src/synth/model.h"
#include "src/synth/model_reader.h"
#include "src/synth/recording.h"
#include "tests/support/error_message.h"
#include "tests/support/facts.h"
#include "tests/support/random_models.h"
#include "tests/support/temporary_directory.h"
#include "tests/unit/runway_fixture.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace skid::synth {
namespace {

using analysis::Measurement;
using analysis::SampleClass;
using perfdata::WritingChoices;

using test::created;

std::map<std::int64_t, std::uint64_t> offsets_of(const Measurement& measurement) {
  std::map<std::int64_t, std::uint64_t> counts;
  for (const analysis::Bin& bin : measurement.histogram.bins) counts[bin.lo] = bin.count;
  return counts;
}

void expect_found(const RecordingTruth& truth, const measure::Measured& found) {
  EXPECT_THAT(found.faults, SizeIs(0));
  ASSERT_EQ(found.measurements.size(), truth.measurements.size());
  for (std::size_t i = 0; i < truth.measurements.size(); ++i) {
    const MeasurementTruth& wanted = truth.measurements[i];
    const Measurement& measured = found.measurements[i];
    SCOPED_TRACE(wanted.requested);
    EXPECT_TRUE(measured.synthetic);
    EXPECT_EQ(measured.event.requested, wanted.perf_event);
    EXPECT_EQ(measured.event.recorded, wanted.attribute.name);
    EXPECT_EQ(measured.event.type, wanted.attribute.type);
    EXPECT_EQ(measured.event.config, wanted.attribute.config);
    EXPECT_EQ(measured.precise.recorded, static_cast<int>(wanted.attribute.precise_ip));
    for (std::size_t k = 0; k < analysis::kSampleClasses; ++k) {
      const auto sample_class = static_cast<SampleClass>(k);
      EXPECT_EQ(measured.samples[sample_class], wanted.truth.samples[sample_class])
          << analysis::name_of(sample_class);
    }
    EXPECT_EQ(measured.precise.exact_ip_samples, wanted.truth.exact_ip_samples);
    EXPECT_EQ(offsets_of(measured), wanted.truth.offsets);
    const bool has_several = wanted.truth.triggers.size() > 1 && measured.trigger;
    EXPECT_EQ(measured.triggers,
              has_several ? wanted.truth.triggers : std::vector<analysis::TriggerCount>{});
    EXPECT_EQ(measured.histogram.underflow + measured.histogram.overflow, 0u);
    EXPECT_EQ(measured.lost_records, truth.lost);
    EXPECT_EQ(measured.lost_samples, truth.lost_samples);
    EXPECT_EQ(measured.throttled, truth.throttled);
    EXPECT_EQ(measured.unknown_ids, 0u);
    EXPECT_FALSE(measured.read_in_part);
  }
}

class SynthRecording : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!test::why_without({runway::compiler_of(runway::kHost)}).empty()) return;
    files_ = std::make_unique<test::TemporaryDirectory>();
    using Gaps = std::vector<std::uint32_t>;
    for (const auto& [trigger, nops, lead_in, nop_bytes, gaps] :
         {std::tuple{"load"_trigger, 100U, 20U, 1U, Gaps{}},
          std::tuple{"branch-taken"_trigger, 60U, 5U, 3U, Gaps{}},
          std::tuple{"fault"_trigger, 20U, 0U, 1U, Gaps{}},
          std::tuple{"store"_trigger, 50U, 10U, 1U, Gaps{0, 45, 1}}}) {
      runway::Specification specification = runway::specification_of(trigger);
      specification.nops = nops;
      specification.lead_in_nops = lead_in;
      specification.gaps = gaps;
      if (runway::kHost == Arch::x86_64) specification.nop_bytes = nop_bytes;
      const std::string name(runway::name_of(trigger));
      targets_.push_back(runway::build_target(specification, *files_ / name));
    }
  }
  static void TearDownTestSuite() {
    targets_.clear();
    files_.reset();
  }
  void SetUp() override { SKIP_WITHOUT_COMPILER(runway::kHost); }

  std::filesystem::path path() const { return directory_ / "synth.data"; }

  RecordingTruth write(const Model& model, const runway::Target& target,
                       const WritingChoices& choices = {}) const {
    Synthesizer synthesizer(model, target);
    return synthesizer.write(all_of(model), 1, created(path()), path(), choices);
  }
  measure::Measured measured() const {
    return measure::measure({path(), {}, nullptr, nullptr}, {});
  }

  static Model random_model(std::uint64_t seed, const runway::Target& target) {
    return test::RandomModels(seed).model(target.description.specification.nops,
                                          runway::triggers_of(target.description.specification),
                                          !target.description.layout.other_triggers.empty());
  }

  static std::unique_ptr<test::TemporaryDirectory> files_;
  static std::vector<runway::Target> targets_;
  test::TemporaryDirectory directory_;
};

std::unique_ptr<test::TemporaryDirectory> SynthRecording::files_;
std::vector<runway::Target> SynthRecording::targets_;

TEST_F(SynthRecording, OfRandomModelsAreFoundToTheSampleInEveryMode) {
  // Each of 19 levels of compression, or none, in files and in pipes.
  constexpr std::uint64_t kModels = 4 * 19;
  for (std::uint64_t seed = 0; seed < kModels; ++seed) {
    SCOPED_TRACE(seed);
    const runway::Target& target = targets_[seed % targets_.size()];
    const Model model = random_model(seed, target);
    const WritingChoices choices{
        .pipe = seed / 2 % 2 == 0,
        .compression =
            seed % 2 == 0 ? std::nullopt : std::optional(static_cast<int>(seed % 19 + 1))};
    const RecordingTruth truth = write(model, target, choices);
    expect_found(truth, measured());
    if (HasFailure()) break;
  }
}

TEST_F(SynthRecording, OfAModelAreTheSameInEveryModeBufferAndCompression) {
  for (std::uint64_t seed = 1000; seed < 1004; ++seed) {
    Model model = random_model(seed, targets_[0]);
    const RecordingTruth truth = write(model, targets_[0]);
    for (const bool pipe : {false, true}) {
      for (const auto& compression : {std::optional<int>(), std::optional(1)}) {
        for (const unsigned cpus : {1U, 7U, 64U}) {
          for (const bool finished_round : {false, true}) {
            model.buffers = {cpus, 1 + seed % 100, finished_round};
            const RecordingTruth again = write(model, targets_[0], {pipe, compression});
            ASSERT_EQ(again.measurements.size(), truth.measurements.size());
            for (std::size_t i = 0; i < truth.measurements.size(); ++i) {
              EXPECT_EQ(again.measurements[i].truth.places, truth.measurements[i].truth.places);
            }
            expect_found(truth, measured());
          }
        }
      }
    }
    // As in a run, where each level has a recording of its own.
    for (std::size_t i = 0; i < truth.measurements.size(); ++i) {
      const RecordingTruth alone =
          Synthesizer(model, targets_[0]).write({all_of(model)[i]}, 1, created(path()), path(), {});
      EXPECT_EQ(alone.measurements[0].truth.places, truth.measurements[i].truth.places);
    }
  }
}

TEST_F(SynthRecording, HaveTheSameBytesForTheSameSeedOnly) {
  for (const WritingChoices choices : {WritingChoices{}, WritingChoices{true, 3}}) {
    Model model = random_model(3, targets_[0]);
    (void)write(model, targets_[0], choices);
    const std::string first = read_file(path(), 1 << 26);
    (void)write(model, targets_[0], choices);
    EXPECT_EQ(read_file(path(), 1 << 26), first);
    ++model.seed;
    (void)write(model, targets_[0], choices);
    EXPECT_NE(read_file(path(), 1 << 26), first);
  }
}

TEST_F(SynthRecording, OfTheBuiltInEventsAreTakenForWhatTheyAre) {
  Model model = random_model(1, targets_[0]);
  LevelModel level{.samples = 100, .offsets = always(1)};
  model.events = {{"access", "", {"access", 5, 0}, 7, std::nullopt, {level}},
                  {"execute", "u", {"execute", 5, 0}, 7, std::nullopt, {level}},
                  {"cycles", "", {"cpu-clock", 1, 0}, 7, std::nullopt, {level}}};
  const RecordingTruth truth = write(model, targets_[0]);
  expect_found(truth, measured());
  const auto found = measured().measurements;
  EXPECT_EQ(found[0].events_per_iteration.expected, 1.0);
  EXPECT_THAT(found[0].event.recorded, HasSubstr("mem:0x"));
  EXPECT_FALSE(found[0].event.substituted);
  EXPECT_EQ(found[1].events_per_iteration.expected, 1.0);
  EXPECT_TRUE(found[2].event.substituted);
}

TEST_F(SynthRecording, ReproduceThePublishedHistogramBarByBar) {
  const Model model = parse_model(built_in_model_text("gregg-2017"), "gregg-2017");
  if (model.target.arch != runway::kHost) GTEST_SKIP() << "needs x86_64";
  const auto target = runway::build_target(model.target, directory_ / "target");
  const RecordingTruth truth = write(model, target);
  expect_found(truth, measured());
  const Measurement found = measured().measurements.at(0);
  EXPECT_EQ(found.samples[SampleClass::hit], 131u);
  EXPECT_EQ(found.samples[SampleClass::skid], 152'166u);
  EXPECT_EQ(found.samples.read(), 152'297u);
  // The bars as published: NOP offset n is runway instruction n + 1.
  const std::vector<std::uint64_t> bars{
      6353,  6390, 18293, 8882, 20470, 11938, 13191, 9917, 4800, 1,  21, 2607, 18906, 13812,
      13984, 1175, 247,   44,   19,    13,    21,    28,   28,   12, 16, 13,   16,    23,
      15,    19,   18,    19,   12,    25,    16,    17,   29,   19, 13, 13,   12,    15,
      26,    26,   39,    24,   54,    93,    86,    81,   53,   32, 29, 87,   74};
  ASSERT_EQ(bars.size(), 55u);
  const auto counts = offsets_of(found);
  constexpr std::int64_t kWidth = 80;
  for (std::size_t bar = 0; bar < bars.size(); ++bar) {
    const std::int64_t first = static_cast<std::int64_t>(bar) * kWidth + 1;
    std::uint64_t sum = 0;
    std::uint64_t fewest = bars[bar], most = 0;
    for (std::int64_t offset = first; offset < first + kWidth; ++offset) {
      const std::uint64_t count = counts.contains(offset) ? counts.at(offset) : 0;
      sum += count;
      fewest = std::min(fewest, count);
      most = std::max(most, count);
    }
    EXPECT_EQ(sum, bars[bar]) << "bar " << bar;
    EXPECT_LE(most - fewest, 1u) << "not spread evenly in bar " << bar;
  }
}

TEST_F(SynthRecording, RefuseMoreSamplesThanAreAllowed) {
  Model model = random_model(1, targets_[0]);
  LevelModel level{.samples = kMostSamples, .offsets = always(1)};
  model.events = {{"r1", "", {"r1", 4, 1}, 7, std::nullopt, {level}}};
  model.events[0].levels.push_back(level);
  EXPECT_THAT(test::message_of([&] { (void)write(model, targets_[0]); }),
              HasSubstr("20000000 samples, expected at most 10000000"));
}

}  // namespace
}  // namespace skid::synth
