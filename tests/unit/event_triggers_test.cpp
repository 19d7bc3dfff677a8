// Which trigger causes which event, and how often.
#include "runway/specification.h"
#include "runway/trigger.h"
#include "src/events/catalogue.h"
#include "src/events/causes.h"
#include "src/events/counted.h"
#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/events/pfm_tables.h"
#include "src/instructions/counted.h"
#include "src/machine/machine.h"
#include "src/support/names.h"
#include "tests/support/event_tables.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/text.h"
#include "tests/support/trigger_kinds.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::events {
namespace {

using runway::TriggerKind;
using test::catalogue_of;

Event known(const std::string& cpu, const std::string& name) {
  return test::find_events(catalogue_of(cpu), name).front();
}

std::vector<TriggerKind> kinds(const std::string& cpu, const std::string& name) {
  return test::mapped(triggers_of(known(cpu, name)), &TriggerCause::kind);
}

TEST(Triggers, CauseTheEventsOfTheDefaultSetOnEachCpu) {
  SKIP_WITHOUT("x86-64");
  for (const char* cpu : {"nhm", "wsm", "snb", "snb_ep", "ivb", "ivb_ep", "hsw", "hsw_ep", "bdw",
                          "bdw_ep", "skl", "skx", "clx", "icl", "icx", "spr", "glm", "tmt"}) {
    const Catalogue catalogue = catalogue_of(cpu);
    const auto all =
        test::mapped(catalogue.list({.precise_only = true, .pattern = {}}), counted_by);
    const std::set<Counted> precise(all.begin(), all.end());
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

TEST(Triggers, CauseTheirEventsSoOftenInAnIteration) {
  SKIP_WITHOUT("x86-64");
  // CPUs, events, the best trigger of each ("-": none), and triggers with the events that they
  // cause in an iteration ("?": it depends). The back-edge of the loop is a taken conditional
  // branch.
  const std::string table =
      R"(skl MEM_INST_RETIRED.ALL_LOADS load load=1 store=0 string-load=? prefetch=?
    skl MEM_INST_RETIRED.ALL_LOADS load ret=?
    hsw MEM_UOPS_RETIRED.ALL_STORES store
    skl MEM_INST_RETIRED.LOCK_LOADS lock-rmw
    skl MEM_INST_RETIRED.SPLIT_LOADS -
    skl MEM_LOAD_RETIRED.L1_HIT load load=1 load-l2=0
    skl MEM_LOAD_RETIRED.L2_HIT load-l2
    skl MEM_LOAD_RETIRED.L3_HIT load-l3 load-l3=1
    skl MEM_LOAD_RETIRED.L3_MISS load-dram load-dram=1 load-l3=0 mfence=0
    spr MEM_LOAD_RETIRED.L3_MISS load-dram
    nhm MEM_LOAD_RETIRED.L3_MISS load-dram
    hsw MEM_LOAD_UOPS_RETIRED.L3_MISS load-dram mfence=?
    snb MEM_LOAD_UOPS_MISC_RETIRED.LLC_MISS load-dram
    skl LONGEST_LAT_CACHE.MISS load-dram load-dram=?
    skl SW_PREFETCH_ACCESS.T0 prefetch prefetch=1 load=0
    skl BR_INST_RETIRED.NEAR_TAKEN branch-taken branch-taken=2 load=1
    icl BR_INST_RETIRED.NEAR_TAKEN branch-taken
    icl BR_INST_RETIRED.COND_TAKEN branch-mispredict branch-taken=1
    icl BR_INST_RETIRED.COND_NTAKEN branch-not-taken branch-not-taken=1
    icl BR_MISP_RETIRED.COND branch-mispredict branch-mispredict=0.5
    skl BR_MISP_RETIRED.RET ret branch-mispredict=0
    skl BR_INST_RETIRED.NEAR_CALL call
    skl ARITH.DIVIDER_ACTIVE div div=? load=0
    spr ARITH.IDIV_ACTIVE div
    skl cycles load-dram load=?
    skl r003c load-dram
    skl IDQ.MITE_UOPS - load=?
    zen4 DIV_OP_COUNT div div=1
    zen4 RETIRED_CLFLUSH_INSTRUCTIONS flush
    zen4 RETIRED_TAKEN_BRANCH_INSTRUCTIONS branch-taken
    zen4 LS_DISPATCH.LD_DISPATCH load load=1 lock-rmw=?
    zen4 LS_DISPATCH.STORE_DISPATCH store lock-rmw=?)";
  for (const std::string& line : test::lines_of(table)) {
    const auto words = test::words_of(line);
    const Event event = known(words.at(0), words.at(1));
    const auto best = best_trigger(event);
    EXPECT_EQ(best ? runway::name_of(*best) : "-", words.at(2)) << line;
    for (auto word = words.begin() + 3; word != words.end(); ++word) {
      const std::string kind = word->substr(0, word->find('='));
      const auto count = expected_events(
          event,
          runway::default_specification(arch_of(event.layout), runway::trigger_kind_from(kind)));
      EXPECT_EQ(kind + "=" + (count ? fmt::to_string(*count) : "?"), *word) << line;
    }
  }
}

TEST(Triggers, FollowTheCausesOfTheirInstructions) {
  SKIP_WITHOUT("x86-64");
  // MFENCE and CPUID cause no event of these on Skylake, and may on Haswell.
  EXPECT_THAT(kinds("skl", "MEM_LOAD_RETIRED.L1_HIT"), Not(Contains("mfence"_trigger)));
  EXPECT_THAT(kinds("skl", "MEM_INST_RETIRED.ALL_LOADS"), Contains("prefetch"_trigger));
  EXPECT_THAT(kinds("hsw", "MEM_UOPS_RETIRED.ALL_LOADS"), Contains("cpuid"_trigger));
  EXPECT_THAT(kinds("hsw", "MEM_LOAD_UOPS_RETIRED.L1_MISS"), Contains("mfence"_trigger));
  EXPECT_THAT(kinds("skl", "MEM_LOAD_RETIRED.L1_MISS"), Not(Contains("mfence"_trigger)));
  EXPECT_THAT(kinds("skl", "MEM_INST_RETIRED.LOCK_LOADS"), ElementsAre("lock-rmw"_trigger));
  EXPECT_THAT(kinds("skl", "MEM_LOAD_RETIRED.L3_MISS"), ElementsAre("load-dram"_trigger));
}

TEST(Triggers, CauseTheirEventOnceEach) {
  SKIP_WITHOUT("x86-64");
  const auto of_three = [](const std::string& cpu, const std::string& name, TriggerKind kind) {
    const Event event = known(cpu, name);
    runway::Specification specification =
        runway::default_specification(arch_of(event.layout), kind);
    specification.gaps = {1000, 2000};
    return expected_events(event, specification);
  };
  EXPECT_EQ(of_three("skl", "SW_PREFETCH_ACCESS.T0", "prefetch"_trigger), 3);
  EXPECT_EQ(of_three("zen4", "RETIRED_CLFLUSH_INSTRUCTIONS", "flush"_trigger), 3);
  EXPECT_EQ(of_three("zen2", "RETIRED_CPUID_INSTRUCTIONS", "cpuid"_trigger), 3);
  EXPECT_EQ(of_three("skl", "MEM_INST_RETIRED.ALL_LOADS", "load"_trigger), 3);
  EXPECT_EQ(of_three("skl", "BR_INST_RETIRED.NEAR_TAKEN", "branch-taken"_trigger), 4);
  EXPECT_EQ(of_three("skl", "SW_PREFETCH_ACCESS.T0", "load"_trigger), 0);
}

TEST(Triggers, FilterTheListOfEvents) {
  SKIP_WITHOUT("x86-64");
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
  const Event loads{.name = "MEM_ACCESS_RD", .layout = ConfigLayout::arm};
  EXPECT_EQ(best_trigger(loads), "load"_trigger);
  EXPECT_THAT(test::mapped(triggers_of(loads), &TriggerCause::kind),
              ElementsAre("load"_trigger, "load-l2"_trigger, "load-l3"_trigger, "load-dram"_trigger,
                          "fault"_trigger))
      << "no other load can be built for it";
  const Event cycles{.name = "CPU_CYCLES", .layout = ConfigLayout::arm};
  EXPECT_EQ(best_trigger(cycles), "load-dram"_trigger);
}

TEST(Counted, IsOtherForModifiersWithoutAName) {
  SKIP_WITHOUT("x86-64");
  const Event stalled = known("skl", "cpu/event=0xd0,umask=0x81,cmask=1,inv/");
  EXPECT_EQ(counted_by(stalled), Counted::other);
  EXPECT_THAT(triggers_of(stalled), IsEmpty());
}

TEST(Counted, IsAnyInstructionIfNopsCauseTheEvent) {
  SKIP_WITHOUT("x86-64");
  for (const auto& [cpu_name, name] :
       std::vector<std::pair<std::string, std::string>>{{"skl", "FRONTEND_RETIRED.L1I_MISS"},
                                                        {"hsw", "UOPS_RETIRED.RETIRE_SLOTS"},
                                                        {"nhm", "ITLB_MISS_RETIRED"}}) {
    const Event event = known(cpu_name, name);
    EXPECT_EQ(counted_by(event), Counted::any_instruction) << name;
    EXPECT_THAT(triggers_of(event), IsEmpty()) << name;
  }
}

TEST(Counted, IsNotAnyInstructionIfTheNameDefinesTheCauses) {
  SKIP_WITHOUT("x86-64");
  for (const auto& [cpu_name, name] : std::vector<std::pair<std::string, std::string>>{
           {"icl", "INST_RETIRED.NOP"},
           {"spr", "INST_RETIRED.MACRO_FUSED"},
           {"spr", "INST_RETIRED.REP_ITERATION"},
           {"bdw", "INST_RETIRED.X87"},
           {"arl_lnc", "FRONTEND_RETIRED.UNKNOWN_BRANCH"},
           {"adl_grt", "UOPS_RETIRED.IDIV"},
           {"adl_grt", "UOPS_RETIRED.FPDIV"},
           {"adl_grt", "UOPS_RETIRED.X87"}}) {
    const Event event = known(cpu_name, name);
    EXPECT_NE(counted_by(event), Counted::any_instruction) << name;
    EXPECT_EQ(
        verdict_on(causes_of(event), {Category::return_near, Category::branch}) == Verdict::never,
        name != "FRONTEND_RETIRED.UNKNOWN_BRANCH" && name != "INST_RETIRED.MACRO_FUSED")
        << name;
    EXPECT_EQ(verdict_on(causes_of(event), {Category::lea}), Verdict::never) << name;
  }
}

TEST(Triggers, DoNotCauseEventsOfAnotherDirectionOrAlignment) {
  SKIP_WITHOUT("x86-64");
  // Branches of targets go forward, and no access crosses a cache line.
  for (const auto& [cpu_name, name] : std::vector<std::pair<std::string, std::string>>{
           {"arl_lnc", "BR_INST_RETIRED.COND_TAKEN_BWD"},
           {"arl_lnc", "BR_MISP_RETIRED.COND_TAKEN_BWD"},
           {"arl_lnc", "BR_MISP_RETIRED.COND_TAKEN_BWD_COST"},
           {"skl", "MEM_INST_RETIRED.SPLIT_LOADS"},
           {"skl", "MEM_INST_RETIRED.SPLIT_STORES"},
           {"hsw", "MEM_UOPS_RETIRED.SPLIT_LOADS"},
           {"srf", "MEM_UOPS_RETIRED.SPLIT"}}) {
    const Event event = known(cpu_name, name);
    EXPECT_THAT(triggers_of(event), IsEmpty()) << name;
    EXPECT_NE(counted_by(event), Counted::other) << name << " would be judged";
  }
  const Event forward = known("arl_lnc", "BR_INST_RETIRED.COND_TAKEN_FWD");
  EXPECT_THAT(test::mapped(triggers_of(forward), &TriggerCause::kind),
              ElementsAre(runway::trigger_kind_from("branch-mispredict")));
}

TEST(CpuNames, FollowFromFamilyAndModel) {
  const auto name = [](const char* vendor, std::optional<int> family, int model) {
    return pfm_name_of({.vendor = vendor, .family = family, .model = model, .stepping = 1});
  };
  EXPECT_EQ(name("GenuineIntel", 6, 23), "core");
  EXPECT_EQ(name("GenuineIntel", 6, 94), "") << "in Intel's table";
  EXPECT_EQ(name("AuthenticAMD", 25, 17), "amd64_fam19h_zen4");
  EXPECT_EQ(name("AuthenticAMD", 25, 0x61), "amd64_fam19h_zen4");
  EXPECT_EQ(name("AuthenticAMD", 25, 0x21), "amd64_fam19h_zen3");
  EXPECT_EQ(name("AuthenticAMD", 23, 0x71), "amd64_fam17h_zen2");
  EXPECT_EQ(name("AuthenticAMD", 23, 0x08), "amd64_fam17h_zen1");
  EXPECT_EQ(name("AuthenticAMD", 26, 0x02), "amd64_fam1ah_zen5");
  for (const int zen_5 : {0x44, 0x60, 0x70}) {
    EXPECT_EQ(name("AuthenticAMD", 26, zen_5), "amd64_fam1ah_zen5") << zen_5;
  }
  for (const int zen_6 : {0x50, 0x90, 0xaf, 0xc0}) {
    EXPECT_EQ(name("AuthenticAMD", 26, zen_6), "amd64_fam1ah_zen6") << zen_6;
  }
  EXPECT_EQ(name("0x41", std::nullopt, 0xd0c), "arm_n1");
  EXPECT_EQ(name("0x48", std::nullopt, 0xd0c), "");
}

TEST(CpuNames, AreThoseOfLibpfm4) {
  SKIP_WITHOUT("x86-64");
  std::set<std::string> pmus;
  for (const PfmPmu& pmu : pfm_core_pmus()) pmus.insert(pmu.name);
  for (int model = 0; model < 256; ++model) {
    for (const auto& [vendor, family] : std::vector<std::pair<const char*, int>>{
             {"GenuineIntel", 6}, {"AuthenticAMD", 23}, {"AuthenticAMD", 25}}) {
      const std::string name =
          pfm_name_of({.vendor = vendor, .family = family, .model = model, .stepping = 4});
      if (name.empty()) continue;
      EXPECT_THAT(pmus, Contains(name)) << vendor << ' ' << model;
    }
  }
}

}  // namespace
}  // namespace skid::events
