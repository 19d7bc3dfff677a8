// What reports of the parts of a recording say together is what the report of the whole says.
#include "analysis/measurement.h"
#include "analysis/merge.h"
#include "analysis/repeats.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/trigger.h"
#include "src/measure/measure.h"
#include "src/output/report/report.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording_writer.h"
#include "src/support/file.h"
#include "src/synth/model.h"
#include "src/synth/recording.h"
#include "tests/support/random_models.h"
#include "tests/support/temporary_directory.h"
#include "tests/unit/runway_fixture.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <ios>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace skid {
namespace {

class MergeRecordings : public ::testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_COMPILER(runway::kHost); }

  runway::Target target(runway::TriggerKind trigger, std::vector<std::uint32_t> gaps) const {
    runway::Specification specification = runway::specification_of(trigger);
    specification.nops = 60;
    specification.lead_in_nops = 10;
    specification.gaps = std::move(gaps);
    return runway::build_target(specification, directory_ / "target");
  }

  /// A recording of `model` as perf writes it into a pipe.
  std::string recording(const synth::Model& model, const runway::Target& target) const {
    const auto path = directory_ / "whole.data";
    synth::Synthesizer synthesizer(model, target);
    (void)synthesizer.write(all_of(model), 1, test::created(path), path,
                            {.pipe = true, .compression = {}});
    return read_file(path, std::uint64_t{1} << 28);
  }

  std::vector<analysis::Measurement> measured(const std::string& name,
                                              const std::string& bytes) const {
    const auto path = directory_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return measure::measure({path, {}, nullptr, nullptr}, {}).measurements;
  }

  test::TemporaryDirectory directory_;
};

/// The samples and losses of a recording spread over several, the rest in each of them. How long
/// counters were throttled does not add up, and is left out.
std::vector<std::string> split(std::string_view whole, std::size_t parts, std::mt19937& random) {
  constexpr std::size_t kHeader = 16;
  std::vector<std::string> split(parts, std::string(whole.substr(0, kHeader)));
  for (std::size_t at = kHeader; at < whole.size();) {
    std::uint32_t type = 0;
    std::uint16_t size = 0;
    std::memcpy(&type, whole.data() + at, sizeof type);
    std::memcpy(&size, whole.data() + at + 6, sizeof size);
    const std::string_view record = whole.substr(at, size);
    at += size;
    if (type == PERF_RECORD_UNTHROTTLE) continue;
    const bool counted = type == PERF_RECORD_SAMPLE || type == PERF_RECORD_LOST ||
                         type == PERF_RECORD_LOST_SAMPLES || type == PERF_RECORD_THROTTLE;
    if (counted) {
      split[random() % parts] += record;
    } else {
      for (std::string& part : split) part += record;
    }
  }
  return split;
}

/// What does not follow from the samples is left out.
std::string figures(const std::vector<analysis::Measurement>& measurements) {
  json report = json::parse(output::report_json(measurements));
  for (json& measurement : report["measurements"]) {
    for (const char* key : {"run", "file", "parts", "merged_from", "time"}) measurement.erase(key);
  }
  return report.dump(1);
}

TEST_F(MergeRecordings, ReportsOfThePartsAddUpToTheReportOfTheWhole) {
  for (const auto& gaps : {std::vector<std::uint32_t>{}, {20, 35}}) {
    const auto built = target("store"_trigger, gaps);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SCOPED_TRACE(seed);
      const synth::Model model =
          test::RandomModels(seed).model(built.description.specification.nops,
                                         runway::triggers_of(built.description.specification),
                                         !built.description.layout.other_triggers.empty());
      std::mt19937 random(static_cast<unsigned>(seed));
      const std::string whole = split(recording(model, built), 1, random).front();
      std::vector<analysis::Measurement> all;
      std::vector<std::size_t> inputs;
      const auto parts = split(whole, 2 + seed % 3, random);
      for (std::size_t part = 0; part < parts.size(); ++part) {
        const auto of_part = measured("part" + std::to_string(part), parts[part]);
        const std::string report = output::report_json(of_part);
        for (auto& measurement : output::read_report(report, "part.json")) {
          all.push_back(std::move(measurement));
          inputs.push_back(part);
        }
        EXPECT_EQ(output::report_json(output::read_report(report, "part.json")), report);
      }
      const auto merged = analysis::merge(all, inputs, analysis::RepeatPolicy::pair);
      EXPECT_THAT(merged.differences, ::testing::IsEmpty());
      ASSERT_EQ(figures(merged.measurements), figures(measured("whole", whole)));
    }
  }
}

}  // namespace
}  // namespace skid
