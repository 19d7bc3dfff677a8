// Data sources and modes of samples against the instructions that they are at.
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/sample_class.h"
#include "analysis/tally.h"
#include "src/audit/audit.h"
#include "src/measure/measure.h"
#include "src/output/audit/audit.h"
#include "src/output/report/evidence.h"
#include "tests/support/contradicting.h"
#include "tests/support/prelude.h"
#include "tests/support/recorded_program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace skid::audit {
namespace {

using test::Contradicting;

class DataSources : public Contradicting {
 protected:
  void record_sources(std::uint64_t config) { record(raw(config), PERF_SAMPLE_DATA_SRC); }
  void sample_source(const std::string& place, std::uint64_t source,
                     std::uint16_t misc = kUser | kExact) {
    sample(place, {.data_source = source, .misc = misc});
  }
  std::optional<Contradictions> found() override { return audited().events.at(0).data_source; }
  /// Expects that audits and reports have this warning of impossible records; empty: they have
  /// none.
  void expect_warning(const std::string& text) {
    constexpr const char* kBegin = "Impossible records: ";
    const auto audit = audited().events.at(0).warnings;
    const auto report = measured().measurements.at(0).warnings;
    for (const auto& warnings : {audit, report}) {
      if (text.empty()) {
        EXPECT_THAT(warnings, Not(Contains(HasSubstr(kBegin))));
      } else {
        EXPECT_THAT(warnings, Contains(kBegin + text));
      }
    }
  }
};

/// Samples whose mode is not that of their address.
class ModesOfSamples : public Contradicting {
 protected:
  std::optional<Contradictions> found() override { return std::nullopt; }
  void sample_at(std::uint64_t ip, std::uint16_t mode) {
    test::add_sample({.ip = ip, .misc = static_cast<std::uint16_t>(mode | kExact)}, event_,
                     builder_);
  }
  std::uint64_t left_out(NotJudged reason) {
    return audited().events.at(0).not_judged.at(static_cast<std::size_t>(reason));
  }
};

TEST_F(ModesOfSamples, CanContradictTheirAddresses) {
  constexpr std::uint64_t kOfKernel = 0xffffffff8163d9ac, kVsyscall = 0xffffffffff600000;
  record(raw(kAllLoads), 0);
  sample_at(ip_of("load"), PERF_RECORD_MISC_KERNEL);
  sample_at(0x7fd38b756c05, PERF_RECORD_MISC_KERNEL);  // nothing is mapped there
  sample_at(kOfKernel, PERF_RECORD_MISC_USER);
  sample_at(kOfKernel, PERF_RECORD_MISC_KERNEL);
  sample_at(kVsyscall, PERF_RECORD_MISC_USER);
  sample_at(0x7fd38b756c05, PERF_RECORD_MISC_USER);
  sample_at(ip_of("load"), PERF_RECORD_MISC_USER);
  sample_at(0x7fd38b756c05, PERF_RECORD_MISC_GUEST_KERNEL);
  EXPECT_EQ(left_out(NotJudged::mode_contradicts_address), 3u);
  EXPECT_EQ(left_out(NotJudged::kernel), 1u);
  EXPECT_EQ(left_out(NotJudged::unmapped), 2u);
  EXPECT_EQ(left_out(NotJudged::guest), 1u);
  EXPECT_EQ(audited().events.at(0).judged, 1u);
}

TEST_F(DataSources, OfLoadsAndStoresAgreeWithSuchInstructions) {
  record_sources(kLoadLatency);
  sample_source("load", PERF_MEM_OP_LOAD);
  sample_source("store", PERF_MEM_OP_STORE);
  sample_source("load and store", PERF_MEM_OP_LOAD);
  sample_source("load and store", PERF_MEM_OP_STORE);
  sample_source("return", PERF_MEM_OP_LOAD);
  sample_source("load", PERF_MEM_OP_PFETCH);
  expect(0, 6, 6);
}

TEST_F(DataSources, AreContradictedByOtherInstructions) {
  record_sources(kLoadLatency);
  sample_source("no operand", PERF_MEM_OP_LOAD);
  sample_source("no operand", PERF_MEM_OP_STORE);
  sample_source("no operand", PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE);
  sample_source("store", PERF_MEM_OP_LOAD);
  sample_source("load", PERF_MEM_OP_STORE);
  sample_source("load", PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE);
  expect(5, 6, 6);
  EXPECT_GT(found()->share.low, 0.4);
}

TEST_F(DataSources, OfStoreLatenciesOnIntelCpusMayBeThoseOfLoads) {
  cpuid_ = "GenuineIntel,6,190,0";
  record_sources(0x6d0);
  sample_source("store", PERF_MEM_OP_LOAD);
  sample_source("no operand", PERF_MEM_OP_LOAD);
  expect(1, 2, 2);
}

TEST_F(DataSources, AreNotJudgedWithoutEvidence) {
  record_sources(kLoadLatency);
  sample_source("no operand", PERF_MEM_OP_NA);
  sample_source("no operand", PERF_MEM_OP_LOAD, kUser);
  sample_source("no operand", PERF_MEM_OP_LOAD, PERF_RECORD_MISC_KERNEL | kExact);
  EXPECT_FALSE(found());
  sample_source("unknown", PERF_MEM_OP_LOAD);
  expect(0, 0, 1);
}

TEST_F(DataSources, ThatTheHitFunctionContradictsAreNoHits) {
  record_sources(0x81d0);
  sample_source("load", PERF_MEM_OP_LOAD);
  sample_source("load", PERF_MEM_OP_STORE);
  sample_source("no operand", PERF_MEM_OP_LOAD);
  sample_source("no operand", PERF_MEM_OP_LOAD, kUser);  // not exact
  sample_source("no operand", PERF_MEM_OP_NA);
  sample_source("NOP", PERF_MEM_OP_LOAD);
  expect(3, 4, 4);
  const auto m = measured().measurements.at(0);
  using enum analysis::SampleClass;
  EXPECT_EQ(m.samples[hit], 3u);
  EXPECT_EQ(m.samples[loop], 2u);
  EXPECT_EQ(m.samples[skid], 1u);
  EXPECT_EQ(m.basis.tally.contradicted_hits, 2u);
  EXPECT_EQ(m.basis.tally.instructions.count_at(0), 3u);
  EXPECT_THAT(output::contract_evidence(m),
              HasSubstr("2 samples on the trigger have the data source of "
                        "something that it does not do: no hits"));
}

TEST_F(DataSources, OfCachesThatTheCountedLoadsMissedAreImpossible) {
  const auto source = [](std::uint64_t level, std::uint64_t number, std::uint64_t remote = 0) {
    return PERF_MEM_OP_LOAD | level << PERF_MEM_LVL_SHIFT | number << 33U | remote << 37U;
  };
  record_sources(0x20d1);  // MEM_LOAD_RETIRED.L3_MISS
  sample_source("load", source(PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1, 1));
  sample_source("load", source(PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3, 3));
  sample_source("load", source(PERF_MEM_LVL_MISS | PERF_MEM_LVL_L1, 1));
  sample_source("load", source(PERF_MEM_LVL_HIT | PERF_MEM_LVL_LFB, 0xc));
  sample_source("load", source(PERF_MEM_LVL_HIT | PERF_MEM_LVL_LOC_RAM, 0xd));
  sample_source("load", source(PERF_MEM_LVL_HIT | PERF_MEM_LVL_REM_CCE1, 3, 1));
  sample_source("load", source(PERF_MEM_LVL_NA, 0xf));
  expect_warning(
      "2 of 7 samples have the data source of a hit in the L1 to L3, though the event "
      "counts loads that missed there.");
  record_sources(0x81d0);  // MEM_INST_RETIRED.ALL_LOADS
  sample_source("load", source(PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1, 1));
  expect_warning("");
}

TEST_F(DataSources, BelowTheThresholdOfTheLatencyAreImpossible) {
  test::EventToBuild event = raw(kLoadLatency);
  event.config1 = 30;
  const auto record_weights = [&](std::uint64_t field, std::uint64_t others = 0) {
    record(event, field);
    for (const std::uint64_t weight : {29U, 30U, 31U, 0U}) {
      sample("load", {.weight = weight | others});
    }
  };
  constexpr const char* kExpected =
      "1 of 4 samples have a latency below the threshold of 30 cycles (ldlat), above which alone "
      "the event counts a load.";
  record_weights(PERF_SAMPLE_WEIGHT);
  expect_warning(kExpected);
  record_weights(PERF_SAMPLE_WEIGHT_STRUCT, std::uint64_t{7} << 48);
  expect_warning(kExpected);
  cpuid_ = "GenuineIntel,6,143,8";  // two latencies
  expect_warning("");
  cpuid_ = "AuthenticAMD,25,97,2";
  expect_warning("");
  cpuid_ = "GenuineIntel,6,94,3";
  event.config = kAllLoads;  // has no threshold
  record_weights(PERF_SAMPLE_WEIGHT);
  expect_warning("");
}

TEST_F(DataSources, AreARowOfTheCsv) {
  record_sources(kLoadLatency);
  for (const char* place : {"no operand", "load", "load", "unknown"}) {
    sample_source(place, PERF_MEM_OP_LOAD);
  }
  EXPECT_THAT(output::audit_csv({audited()}), HasSubstr(",data_source,,,,,,,,,,,4,3,1,0.06"));
}

TEST_F(DataSources, AndListsAreTheSameInAnyOrderOfTheSamples) {
  std::vector<std::pair<const char*, std::uint64_t>> samples{
      {"store", PERF_MEM_OP_STORE},  {"no operand", PERF_MEM_OP_LOAD},
      {"return", PERF_MEM_OP_STORE}, {"load", PERF_MEM_OP_LOAD},
      {"store", PERF_MEM_OP_LOAD},   {"no operand", PERF_MEM_OP_LOAD},
      {"unknown", PERF_MEM_OP_LOAD}, {"load and store", PERF_MEM_OP_STORE}};
  std::set<std::string> outputs;
  for (int turn = 0; turn < 8; ++turn) {
    std::rotate(samples.begin(), samples.begin() + 3, samples.end());
    record_sources(kAllLoads);
    for (const auto& [place, source] : samples) sample_source(place, source);
    const Audit all = audited();
    outputs.insert(output::audit_json({all}) + output::audit_csv({all}));
    const auto& instructions = all.events.at(0).instructions;
    ASSERT_EQ(instructions.size(), 2U);
    EXPECT_EQ(instructions[0].address, program_->at("store")) << "equal counts: by place";
    EXPECT_EQ(instructions[1].address, program_->at("no operand"));
  }
  EXPECT_EQ(outputs.size(), 1U);
}

}  // namespace
}  // namespace skid::audit
