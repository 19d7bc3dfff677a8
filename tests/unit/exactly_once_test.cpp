#include "src/events/exactly_once.h"

#include "src/events/intel_table.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::events {
namespace {

using ::testing::Contains;

Event named(const std::string& name, std::uint64_t config = 0xc0) {
  Event event;
  event.name = name;
  event.config = config;
  return event;
}

TEST(ExactlyOnce, IsOfCountsOfRetiredInstructionsOnly) {
  const Cpu intel;
  const std::map<std::string, std::optional<OncePer>> expected{
      {"INST_RETIRED.PREC_DIST", OncePer::instruction},
      {"inst_retired:any_p", OncePer::instruction},
      {"MEM_INST_RETIRED.ALL_LOADS", OncePer::load},
      {"MEM_INST_RETIRED.STORES", OncePer::store},
      {"BR_INST_RETIRED.CONDITIONAL", OncePer::conditional_branch},
      {"BR_INST_RETIRED.NEAR_TAKEN", OncePer::taken_branch},
      {"MEM_UOPS_RETIRED.ALL_LOADS", {}},
      {"UOPS_RETIRED.ALL", {}},
      {"MEM_LOAD_RETIRED.L1_HIT", {}},
      {"BR_MISP_RETIRED.ALL_BRANCHES", {}},
      {"BR_INST_RETIRED.COND_TAKEN", {}},
      {"INST_RETIRED.TOTAL_CYCLES", {}},
      {"MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4", {}}};
  for (const auto& [name, once] : expected) {
    EXPECT_EQ(caused_once_by(intel, named(name)), once) << name;
  }
  Event alias = named("SOMETHING_ELSE");
  alias.aliases = {"BR_INST_RETIRED.JCC"};
  EXPECT_EQ(caused_once_by(intel, alias), OncePer::conditional_branch);
}

TEST(ExactlyOnce, IsNotOfModifiersNorOfOtherVendors) {
  Cpu cpu;
  EXPECT_FALSE(caused_once_by(cpu, named("INST_RETIRED.ANY_P", 0x10001c0)));
  cpu.layout = ConfigLayout::arm;
  EXPECT_FALSE(caused_once_by(cpu, named("INST_RETIRED.ANY_P")));
}

TEST(ExactlyOnce, HasPreciseEventsOfServersAndSmallCores) {
  for (const char* name : {"NehalemEP", "skylakex", "alderlake_gracemont"}) {
    const auto files = intel_files();
    const auto file = std::find_if(files.begin(), files.end(),
                                   [&](const IntelFile& one) { return one.name == name; });
    ASSERT_NE(file, files.end()) << name;
    std::set<OncePer> found;
    for (const Event& event : intel_events(*file)) {
      const auto once = caused_once_by(Cpu(), event);
      if (once && event.precise == true) found.insert(*once);
    }
    EXPECT_THAT(found, Contains(OncePer::instruction)) << name;
    EXPECT_EQ(found.contains(OncePer::load), std::string(name) != "alderlake_gracemont") << name;
  }
}

}  // namespace
}  // namespace skid::events
