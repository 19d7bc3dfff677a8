// Which trigger causes which event, and how often.
#include "src/events/catalogue.h"
#include "src/events/event.h"
#include "src/events/triggers.h"
#include "src/machine/machine.h"
#include "tests/support/event_tables.h"
#include "tests/support/trigger_kinds.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::events {
namespace {

using runway::TriggerKind;
using test::catalogue_of;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

struct Known {
  Cpu cpu;
  Event event;
};

Known known(const std::string& cpu, const std::string& name) {
  const Catalogue catalogue = catalogue_of(cpu);
  return {catalogue.cpu(), catalogue.find(name).front()};
}

std::vector<TriggerKind> kinds(const Cpu& cpu, const Event& event) {
  std::vector<TriggerKind> result;
  for (const TriggerCause& cause : triggers_of(cpu, event)) result.push_back(cause.kind);
  return result;
}
std::vector<TriggerKind> kinds(const std::string& cpu, const std::string& name) {
  const auto [about, event] = known(cpu, name);
  return kinds(about, event);
}

std::optional<TriggerKind> best(const std::string& cpu, const std::string& name) {
  const auto [about, event] = known(cpu, name);
  return best_trigger(about, event);
}

/// `triggers`: how many the target has.
std::optional<double> expected(const std::string& cpu, const std::string& name, TriggerKind kind,
                               std::uint32_t triggers = 1) {
  const auto [about, event] = known(cpu, name);
  runway::Specification specification = runway::default_specification(arch_of(about), kind);
  for (std::uint32_t i = 1; i < triggers; ++i) specification.gaps.push_back(1000 * i);
  return expected_events(about, event, specification);
}

TEST(Triggers, CauseTheEventsOfTheDefaultSetOnEachCpu) {
  SKIP_WITHOUT_X86_TABLES();
  for (const char* cpu : {"nhm", "wsm", "snb", "snb_ep", "ivb", "ivb_ep", "hsw", "hsw_ep", "bdw",
                          "bdw_ep", "skl", "skx", "clx", "icl", "icx", "spr", "glm", "tmt"}) {
    const Catalogue catalogue = catalogue_of(cpu);
    std::set<Counted> precise;
    for (const Event& event : catalogue.list({.precise_only = true, .pattern = {}})) {
      precise.insert(counted_by(catalogue.cpu(), event));
    }
    EXPECT_THAT(precise, Contains(Counted::loads)) << cpu;
    EXPECT_THAT(precise, Contains(Counted::stores)) << cpu;
    const bool misses =
        precise.count(Counted::l3_misses) + precise.count(Counted::local_memory) > 0;
    // Tremont's event file has no such event, and Sandy Bridge EP's are not precise.
    EXPECT_TRUE(misses || std::string(cpu) == "tmt" || std::string(cpu) == "snb_ep") << cpu;
    EXPECT_TRUE(precise.count(Counted::taken_branches) + precise.count(Counted::branches) > 0)
        << cpu;
  }
}

TEST(Triggers, CauseTheirEvents) {
  SKIP_WITHOUT_X86_TABLES();
  EXPECT_EQ(best("skl", "MEM_INST_RETIRED.ALL_LOADS"), "load"_trigger);
  EXPECT_EQ(best("hsw", "MEM_UOPS_RETIRED.ALL_STORES"), "store"_trigger);
  EXPECT_EQ(best("skl", "MEM_LOAD_RETIRED.L2_HIT"), "load-l2"_trigger);
  EXPECT_EQ(best("spr", "MEM_LOAD_RETIRED.L3_MISS"), "load-dram"_trigger);
  EXPECT_EQ(best("nhm", "MEM_LOAD_RETIRED.L3_MISS"), "load-dram"_trigger);
  EXPECT_EQ(best("snb", "MEM_LOAD_UOPS_MISC_RETIRED.LLC_MISS"), "load-dram"_trigger);
  EXPECT_EQ(best("icl", "BR_INST_RETIRED.NEAR_TAKEN"), "branch-taken"_trigger);
  EXPECT_EQ(best("icl", "BR_INST_RETIRED.COND_NTAKEN"), "branch-not-taken"_trigger);
  EXPECT_EQ(best("icl", "BR_MISP_RETIRED.COND"), "branch-mispredict"_trigger);
  EXPECT_EQ(best("skl", "BR_MISP_RETIRED.RET"), "ret"_trigger);
  EXPECT_EQ(best("skl", "BR_INST_RETIRED.NEAR_CALL"), "call"_trigger);
  EXPECT_EQ(best("spr", "ARITH.IDIV_ACTIVE"), "div"_trigger);
  EXPECT_EQ(best("skl", "SW_PREFETCH_ACCESS.T0"), "prefetch"_trigger);
  EXPECT_EQ(best("skl", "MEM_INST_RETIRED.LOCK_LOADS"), "lock-rmw"_trigger);
  EXPECT_EQ(best("zen4", "RETIRED_CLFLUSH_INSTRUCTIONS"), "flush"_trigger);
  EXPECT_EQ(best("zen4", "RETIRED_TAKEN_BRANCH_INSTRUCTIONS"), "branch-taken"_trigger);
  EXPECT_EQ(best("zen4", "DIV_OP_COUNT"), "div"_trigger);
  EXPECT_EQ(best("skl", "r003c"), "load-dram"_trigger);
  EXPECT_EQ(best("skl", "IDQ.MITE_UOPS"), std::nullopt);
  EXPECT_EQ(best("skl", "MEM_INST_RETIRED.SPLIT_LOADS"), std::nullopt) << "nothing splits a line";
}

TEST(Triggers, FollowTheCausesOfTheirInstructions) {
  SKIP_WITHOUT_X86_TABLES();
  // MFENCE and CPUID cause no event of these on Skylake, and may on Haswell.
  EXPECT_THAT(kinds("skl", "MEM_LOAD_RETIRED.L1_HIT"), Not(Contains("mfence"_trigger)));
  EXPECT_THAT(kinds("skl", "MEM_INST_RETIRED.ALL_LOADS"), Contains("prefetch"_trigger));
  EXPECT_THAT(kinds("hsw", "MEM_UOPS_RETIRED.ALL_LOADS"), Contains("cpuid"_trigger));
  EXPECT_THAT(kinds("hsw", "MEM_LOAD_UOPS_RETIRED.L1_MISS"), Contains("mfence"_trigger));
  EXPECT_THAT(kinds("skl", "MEM_LOAD_RETIRED.L1_MISS"), Not(Contains("mfence"_trigger)));
  EXPECT_THAT(kinds("skl", "MEM_INST_RETIRED.LOCK_LOADS"), ElementsAre("lock-rmw"_trigger));
  EXPECT_THAT(kinds("skl", "MEM_LOAD_RETIRED.L3_MISS"), ElementsAre("load-dram"_trigger));
}

TEST(Triggers, HaveExpectedCountsPerIteration) {
  SKIP_WITHOUT_X86_TABLES();
  EXPECT_EQ(expected("skl", "MEM_INST_RETIRED.ALL_LOADS", "load"_trigger), 1);
  EXPECT_EQ(expected("skl", "MEM_INST_RETIRED.ALL_LOADS", "store"_trigger), 0);
  EXPECT_EQ(expected("skl", "MEM_LOAD_RETIRED.L3_MISS", "load-dram"_trigger), 1);
  EXPECT_EQ(expected("skl", "MEM_LOAD_RETIRED.L3_MISS", "load-l3"_trigger), 0);
  EXPECT_EQ(expected("skl", "MEM_LOAD_RETIRED.L3_HIT", "load-l3"_trigger), 1);
  EXPECT_EQ(expected("skl", "MEM_LOAD_RETIRED.L1_HIT", "load"_trigger), 1);
  EXPECT_EQ(expected("skl", "MEM_LOAD_RETIRED.L1_HIT", "load-l2"_trigger), 0);
  // The back-edge of the loop is a taken conditional branch.
  EXPECT_EQ(expected("skl", "BR_INST_RETIRED.NEAR_TAKEN", "branch-taken"_trigger), 2);
  EXPECT_EQ(expected("skl", "BR_INST_RETIRED.NEAR_TAKEN", "load"_trigger), 1);
  EXPECT_EQ(expected("icl", "BR_INST_RETIRED.COND_TAKEN", "branch-taken"_trigger), 1);
  EXPECT_EQ(expected("icl", "BR_INST_RETIRED.COND_NTAKEN", "branch-not-taken"_trigger), 1);
  EXPECT_EQ(expected("icl", "BR_MISP_RETIRED.COND", "branch-mispredict"_trigger), 0.5);
  EXPECT_EQ(expected("skl", "BR_MISP_RETIRED.RET", "branch-mispredict"_trigger), 0);
  EXPECT_EQ(expected("zen4", "DIV_OP_COUNT", "div"_trigger), 1);
  EXPECT_EQ(expected("skl", "SW_PREFETCH_ACCESS.T0", "prefetch"_trigger), 1);
  EXPECT_EQ(expected("skl", "SW_PREFETCH_ACCESS.T0", "load"_trigger), 0);
}

TEST(Triggers, CauseTheirEventOnceEach) {
  SKIP_WITHOUT_X86_TABLES();
  EXPECT_EQ(expected("skl", "SW_PREFETCH_ACCESS.T0", "prefetch"_trigger, 3), 3);
  EXPECT_EQ(expected("zen4", "RETIRED_CLFLUSH_INSTRUCTIONS", "flush"_trigger, 3), 3);
  EXPECT_EQ(expected("zen2", "RETIRED_CPUID_INSTRUCTIONS", "cpuid"_trigger, 3), 3);
  EXPECT_EQ(expected("skl", "MEM_INST_RETIRED.ALL_LOADS", "load"_trigger, 3), 3);
  EXPECT_EQ(expected("skl", "BR_INST_RETIRED.NEAR_TAKEN", "branch-taken"_trigger, 3), 4);
  EXPECT_EQ(expected("skl", "SW_PREFETCH_ACCESS.T0", "load"_trigger, 3), 0);
}

TEST(Triggers, HaveNoExpectedCountIfItDepends) {
  SKIP_WITHOUT_X86_TABLES();
  EXPECT_EQ(expected("skl", "ARITH.DIVIDER_ACTIVE", "div"_trigger), std::nullopt) << "cycles";
  EXPECT_EQ(expected("skl", "ARITH.DIVIDER_ACTIVE", "load"_trigger), 0);
  EXPECT_EQ(expected("skl", "MEM_INST_RETIRED.ALL_LOADS", "string-load"_trigger), std::nullopt);
  EXPECT_EQ(expected("skl", "MEM_INST_RETIRED.ALL_LOADS", "prefetch"_trigger), std::nullopt);
  EXPECT_EQ(expected("skl", "MEM_LOAD_RETIRED.L3_MISS", "mfence"_trigger), 0) << "never there";
  EXPECT_EQ(expected("hsw", "MEM_LOAD_UOPS_RETIRED.L3_MISS", "mfence"_trigger), std::nullopt);
  EXPECT_EQ(expected("skl", "LONGEST_LAT_CACHE.MISS", "load-dram"_trigger), std::nullopt);
  EXPECT_EQ(expected("skl", "cycles", "load"_trigger), std::nullopt);
  EXPECT_EQ(expected("skl", "IDQ.MITE_UOPS", "load"_trigger), std::nullopt);
  EXPECT_EQ(expected("skl", "MEM_INST_RETIRED.ALL_LOADS", "ret"_trigger), std::nullopt)
      << "undocumented whether a load of the stack counts";
  EXPECT_EQ(expected("zen4", "LS_DISPATCH.LD_DISPATCH", "load"_trigger), 1);
  EXPECT_EQ(expected("zen4", "LS_DISPATCH.LD_DISPATCH", "lock-rmw"_trigger), std::nullopt);
  EXPECT_EQ(expected("zen4", "LS_DISPATCH.STORE_DISPATCH", "lock-rmw"_trigger), std::nullopt);
}

TEST(Triggers, FilterTheListOfEvents) {
  SKIP_WITHOUT_X86_TABLES();
  const auto names = [](TriggerKind kind, bool precise) {
    std::vector<std::string> result;
    for (const Event& event :
         catalogue_of("skl").list({.precise_only = precise, .pattern = {}, .trigger = kind})) {
      result.push_back(event.name);
    }
    return result;
  };
  EXPECT_THAT(
      names("div"_trigger, false),
      ElementsAre("ARITH.DIVIDER_ACTIVE", "CPU_CLK_UNHALTED.THREAD", "CPU_CLK_UNHALTED.THREAD_P",
                  "INST_RETIRED.TOTAL_CYCLES_PS", "UOPS_RETIRED.TOTAL_CYCLES"));
  EXPECT_THAT(names("store"_trigger, true), Contains("MEM_INST_RETIRED.ALL_STORES"));
  EXPECT_THAT(names("none"_trigger, false), IsEmpty());
}

TEST(Triggers, AreThoseOfArmTargetsOnArm) {
  const Cpu cpu{.name = "arm_n1",
                .description = {},
                .source = "libpfm4",
                .layout = ConfigLayout::arm,
                .core = Core::other};
  Event loads;
  loads.name = "MEM_ACCESS_RD";
  EXPECT_EQ(best_trigger(cpu, loads), "load"_trigger);
  EXPECT_THAT(kinds(cpu, loads), ElementsAre("load"_trigger, "fault"_trigger))
      << "no other load can be built for it";
  Event cycles;
  cycles.name = "CPU_CYCLES";
  EXPECT_EQ(best_trigger(cpu, cycles), "div"_trigger);
}

TEST(Counted, IsOtherForModifiersWithoutAName) {
  SKIP_WITHOUT_X86_TABLES();
  const auto [cpu, stalled] = known("skl", "cpu/event=0xd0,umask=0x81,cmask=1,inv/");
  EXPECT_EQ(counted_by(cpu, stalled), Counted::other);
  EXPECT_THAT(triggers_of(cpu, stalled), IsEmpty());
  EXPECT_EQ(name_of(Counted::l3_misses), "loads that miss the L3");
}

TEST(Counted, IsAnyInstructionIfNopsCauseTheEvent) {
  SKIP_WITHOUT_X86_TABLES();
  for (const auto& [cpu_name, name] :
       std::vector<std::pair<std::string, std::string>>{{"skl", "FRONTEND_RETIRED.L1I_MISS"},
                                                        {"skl", "INST_RETIRED.NOP"},
                                                        {"spr", "INST_RETIRED.MACRO_FUSED"},
                                                        {"hsw", "UOPS_RETIRED.RETIRE_SLOTS"},
                                                        {"nhm", "ITLB_MISS_RETIRED"}}) {
    const auto [cpu, event] = known(cpu_name, name);
    EXPECT_EQ(counted_by(cpu, event), Counted::any_instruction) << name;
    EXPECT_THAT(triggers_of(cpu, event), IsEmpty()) << name;
  }
}

std::string pfm_name(const char* vendor, std::optional<int> family, int model) {
  machine::CpuIdentity cpu;
  cpu.vendor = vendor;
  cpu.family = family;
  cpu.model = model;
  cpu.stepping = 4;
  return pfm_name_of(cpu);
}

TEST(CpuNames, FollowFromFamilyAndModel) {
  EXPECT_EQ(pfm_name("GenuineIntel", 6, 23), "core");
  EXPECT_EQ(pfm_name("GenuineIntel", 6, 94), "") << "in Intel's table";
  EXPECT_EQ(pfm_name("AuthenticAMD", 25, 17), "amd64_fam19h_zen4");
  EXPECT_EQ(pfm_name("AuthenticAMD", 25, 0x61), "amd64_fam19h_zen4");
  EXPECT_EQ(pfm_name("AuthenticAMD", 25, 0x21), "amd64_fam19h_zen3");
  EXPECT_EQ(pfm_name("AuthenticAMD", 23, 0x71), "amd64_fam17h_zen2");
  EXPECT_EQ(pfm_name("AuthenticAMD", 23, 0x08), "amd64_fam17h_zen1");
  EXPECT_EQ(pfm_name("AuthenticAMD", 26, 0x02), "amd64_fam1ah_zen5");
  EXPECT_EQ(pfm_name("0x41", std::nullopt, 0xd0c), "arm_n1");
  EXPECT_EQ(pfm_name("0x48", std::nullopt, 0xd0c), "");
}

TEST(CpuNames, AreThoseOfLibpfm4) {
  SKIP_WITHOUT_X86_TABLES();
  std::set<std::string> pmus;
  for (const PfmPmu& pmu : pfm_core_pmus()) pmus.insert(pmu.name);
  for (int model = 0; model < 256; ++model) {
    for (const auto& [vendor, family] : std::vector<std::pair<const char*, int>>{
             {"GenuineIntel", 6}, {"AuthenticAMD", 23}, {"AuthenticAMD", 25}}) {
      const std::string found = pfm_name(vendor, family, model);
      if (found.empty()) continue;
      EXPECT_THAT(pmus, Contains(found)) << vendor << ' ' << model;
    }
  }
}

}  // namespace
}  // namespace skid::events
