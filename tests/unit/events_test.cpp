// Events of known CPUs: spellings, codes, causes, how often an instruction causes them, and errata.
#include "src/events/catalogue.h"
#include "src/events/causes.h"
#include "src/events/counted.h"
#include "src/events/cpu.h"
#include "src/events/errata.h"
#include "src/events/event.h"
#include "src/events/intel_table.h"
#include "src/events/pfm_tables.h"
#include "src/events/spelling.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/machine/cpu_identity.h"
#include "src/output/catalogue/unknown_event.h"
#include "src/support/error.h"
#include "src/support/names.h"
#include "tests/support/error_message.h"
#include "tests/support/event_tables.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/text.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

namespace skid::events {
namespace {

using test::catalogue_of;
using test::message_of;

Event one(const Catalogue& catalogue, const std::string& spelling) {
  const auto found = test::find_events(catalogue, spelling);
  EXPECT_THAT(found, SizeIs(1)) << spelling;
  return found.empty() ? Event() : found.front();
}

std::vector<std::string> names_of(const std::vector<Event>& events) {
  return test::mapped(events, &Event::name);
}

Verdict verdict(Core core, std::uint64_t config, Category category) {
  return verdict_on(measured_causes(core, config), {category});
}

/// "MEM_LOAD_RETIRED.L3_MISS 20d1 precise": an event, its code, and whether it is precise, if that
/// is known.
std::string described(const std::string& cpu, const std::string& spelling) {
  const Event event = one(catalogue_of(cpu), spelling);
  const char* precision = !event.precise ? "" : *event.precise ? " precise" : " imprecise";
  return fmt::format("{} {:x}{}", event.name, event.config, precision);
}

TEST(Events, AreFoundByAnySpelling) {
  SKIP_WITHOUT("x86-64");
  const std::string l3_miss = "MEM_LOAD_RETIRED.L3_MISS 20d1 precise";
  const std::vector<std::tuple<const char*, const char*, std::string>> known{
      {"skl", "MEM_LOAD_RETIRED.L3_MISS", l3_miss},
      {"skl", "mem_load_retired.l3_miss:pp", l3_miss},
      {"skl", "Mem_Load_Retired:L3_Miss", l3_miss},
      {"skl", "skl::MEM_LOAD_RETIRED:L3_MISS", l3_miss},
      {"skl", "cpu/mem_load_retired.l3_miss/pp", l3_miss},
      {"skl", "r20d1:ppp", l3_miss},
      {"skl", "0x20D1", l3_miss},
      {"skl", "cpu/event=0xd1,umask=0x20/", l3_miss},
      {"skl", "cpu/event=209,umask=32,name=x/u", l3_miss},
      {"skl", "cpu/config=0x20d1/", l3_miss},
      {"hsw", "r20d1", "MEM_LOAD_UOPS_RETIRED.L3_MISS 20d1 precise"},
      {"skl", "r412e", "LONGEST_LAT_CACHE.MISS 412e imprecise"},
      {"hsw", "r412e", "LONGEST_LAT_CACHE.MISS 412e imprecise"},
      {"skl", "cache-misses", "LONGEST_LAT_CACHE.MISS 412e imprecise"},
      {"skl", "r81d0", "MEM_INST_RETIRED.ALL_LOADS 81d0 precise"},
      {"hsw", "r81d0", "MEM_UOPS_RETIRED.ALL_LOADS 81d0 precise"},
      // With modifiers the precision is not known.
      {"skl", "cpu/event=0xd0,umask=0x81,cmask=1,inv/",
       "MEM_INST_RETIRED.ALL_LOADS with inv=1,cmask=0x01 18081d0"},
      // Codes without a result have the name of their umask.
      {"hsw", "r0424", "L2_RQSTS.0x04 424 imprecise"},
      {"skl", "r0424", "L2_RQSTS.0x04 424 imprecise"},
      // The name of libpfm4.
      {"skl", "L2_RQSTS.DEMAND_RFO_HIT", "L2_RQSTS.RFO_HIT c224 imprecise"},
      // perf's names and AMD's, of which IBS samples cycles.
      {"zen4", "cycles:u", "CYCLES_NOT_IN_HALT 76 precise"},
      {"zen4", "ls_dmnd_fills_from_sys.local_ccx",
       "ls_dmnd_fills_from_sys.local_ccx 243 imprecise"},
      // The terms that the kernel takes.
      {"skl", "cpu/event=0xc6,umask=0x1,frontend=0x13/", "FRONTEND_RETIRED.L2_MISS 1c6 precise"}};
  for (const auto& [cpu, spelling, expected] : known) {
    EXPECT_EQ(described(cpu, spelling), expected) << cpu << ' ' << spelling;
  }
  for (const char* cpu : {"ivb", "hsw", "bdw", "skl"}) {
    EXPECT_EQ(one(catalogue_of(cpu), "BR_INST_RETIRED.ALL_BRANCHES").precise, false) << cpu;
    EXPECT_EQ(described(cpu, "r4c4"), "BR_INST_RETIRED.ALL_BRANCHES_PEBS 4c4 precise") << cpu;
  }
  for (const char* cpu : {"hsw", "skl"}) {
    EXPECT_EQ(one(catalogue_of(cpu), "L2_RQSTS:0x04").config, 0x0424U) << cpu;
  }
  // Hits include modified lines.
  for (const char* cpu : {"hsw", "bdw", "hsw_ep", "bdw_ep", "skl"}) {
    EXPECT_EQ(one(catalogue_of(cpu), "L2_RQSTS.DEMAND_DATA_RD_HIT").config, 0xc124U) << cpu;
    EXPECT_EQ(one(catalogue_of(cpu), "L2_RQSTS.RFO_HIT").config, 0xc224U) << cpu;
    EXPECT_EQ(one(catalogue_of(cpu), "L2_RQSTS.CODE_RD_HIT").config, 0xc424U) << cpu;
  }
  for (const char* cpu : {"zen1", "zen2", "zen3", "zen4", "zen5"}) {
    EXPECT_EQ(one(catalogue_of(cpu), "ex_ret_brn_misp").config, 0xc3U) << cpu;
    EXPECT_EQ(one(catalogue_of(cpu), "ex_ret_brn_misp").precise, false) << cpu;
    EXPECT_EQ(one(catalogue_of(cpu), "cycles").precise, true) << cpu << ": by IBS";
  }
  const Event latency = one(catalogue_of("skylake"), "cpu/mem-loads,ldlat=30/");
  EXPECT_EQ(latency.config, 0x1cdU);
  EXPECT_EQ(latency.config1, 30U);
}

TEST(Events, HaveTheEncodingThatPerfAccepts) {
  SKIP_WITHOUT("x86-64");
  const Catalogue skylake = catalogue_of("skl");
  const Event miss = one(skylake, "LONGEST_LAT_CACHE.MISS");
  EXPECT_EQ(perf_encoding(miss), "cpu/event=0x2e,umask=0x41/");
  EXPECT_EQ(raw_encoding(miss), "r412e");
  const Event stalls = one(skylake, "INST_RETIRED:ANY_P:c=1:i");
  EXPECT_EQ(perf_encoding(stalls), "cpu/event=0xc0,umask=0x00,inv=1,cmask=0x01/");
  const Event offcore = one(skylake, "OFFCORE_RESPONSE_0:DMND_DATA_RD:L3_MISS");
  EXPECT_THAT(perf_encoding(offcore), HasSubstr("cpu/event=0xb7,umask=0x01,config1=0x"));
  EXPECT_EQ(raw_encoding(offcore), "");
  const Event amd{.layout = ConfigLayout::amd,
                  .config = 0x100000043 | 0x0800};  // bits 11:8 of the event in 35:32
  EXPECT_EQ(perf_encoding(amd), "cpu/event=0x143,umask=0x08/");
  Event reserved{.config = 0x10003c | 1ULL << 60};
  EXPECT_EQ(perf_encoding(reserved), "cpu/config=0x100000000010003c/");
}

TEST(Events, ExplainL2RequestsBitByBit) {
  const auto code_reads = l2_requests(Core::skylake, 0x0424);
  ASSERT_TRUE(code_reads);
  EXPECT_THAT(code_reads->origins, ElementsAre("code read"));
  EXPECT_THAT(code_reads->results, IsEmpty());
  EXPECT_TRUE(code_reads->always_zero());
  EXPECT_TRUE(l2_requests(Core::haswell, 0x0424)->always_zero());
  EXPECT_TRUE(l2_requests(Core::skylake, 0xe024)->always_zero());
  const auto all = l2_requests(Core::broadwell, 0xff24);
  EXPECT_THAT(all->origins, SizeIs(5));
  EXPECT_THAT(all->results, SizeIs(3));
  EXPECT_FALSE(all->always_zero());
  EXPECT_THAT(l2_requests(Core::skylake, 0x2124)->results, ElementsAre("miss"));
  EXPECT_FALSE(l2_requests(Core::ivy_bridge, 0x0424)) << "the bits mean something else there";
  EXPECT_FALSE(l2_requests(Core::icelake, 0x0424));
  EXPECT_FALSE(l2_requests(Core::skylake, 0x0425));
}

TEST(Events, CorrectTheUmasksOfTheManual) {
  EXPECT_EQ(corrected_umask(0x41), 0xc1);
  EXPECT_EQ(corrected_umask(0x42), 0xc2);
  EXPECT_EQ(corrected_umask(0x44), 0xc4);
  EXPECT_EQ(corrected_umask(0xef), 0xff);
  EXPECT_EQ(corrected_umask(0xc1), std::nullopt);
  EXPECT_EQ(corrected_umask(0x21), std::nullopt);
  EXPECT_THAT(manual_error(*l2_requests(Core::skylake, 0x4124)), HasSubstr("0x41"));
  EXPECT_THAT(manual_error(*l2_requests(Core::skylake, 0xc124)), IsEmpty());
}

TEST(Events, ListLoadsAndNotTheCacheAsPrecise) {
  SKIP_WITHOUT("x86-64");
  const Catalogue skylake = catalogue_of("skl");
  const auto precise = names_of(skylake.list({.precise_only = true, .pattern = {}}));
  EXPECT_THAT(precise, Contains("MEM_INST_RETIRED.ALL_LOADS"));
  EXPECT_THAT(precise, Not(Contains("LONGEST_LAT_CACHE.MISS")));
  EXPECT_TRUE(std::ranges::is_sorted(precise));
  EXPECT_THAT(names_of(skylake.list({.precise_only = false, .pattern = "longest_lat"})),
              ElementsAre("LONGEST_LAT_CACHE.MISS", "LONGEST_LAT_CACHE.REFERENCE"));
  EXPECT_THAT(names_of(skylake.list({.precise_only = false, .pattern = "l?ngest*.MISS"})),
              ElementsAre("LONGEST_LAT_CACHE.MISS"));
  EXPECT_THAT(skylake.list({.precise_only = false, .pattern = "no such event"}), IsEmpty());
}

TEST(Events, RefusesUnknownNamesWithARemedy) {
  SKIP_WITHOUT("x86-64");
  const Catalogue skylake = catalogue_of("skl");
  for (const auto& [spelling, message] :
       std::map<std::string, const char*>{{"NO_SUCH.EVENT", "--list --cpu skylake"},
                                          {"MEM_LOAD_RETIRED.NO_SUCH", "no such event"},
                                          {"r00ff", "no such event in Intel's event file skylake"},
                                          {"cpu/event=0xd1", "not closed"},
                                          {"cpu/event=0x1d1/", "'event=0x1d1'"},
                                          {"cpu/umask=x,event=1/", "'umask=x'"},
                                          {std::string(5000, 'A'), "5000 bytes"}}) {
    EXPECT_THAT(test::find_events(skylake, spelling), IsEmpty());
    EXPECT_THAT(output::explain_unknown_event(spelling, skylake), HasSubstr(message));
  }
  EXPECT_THROW(catalogue_of("no_such_cpu"), ValueError);
  EXPECT_THAT(message_of(catalogue_of, "no_such_cpu"), HasSubstr("newer event files"));
}

TEST(Events, UsesThisCpuByDefault) {
  const std::vector<PfmPmu> pmus{{"hsw", "Intel Haswell", false}, {"skl", "Intel Skylake", true}};
  machine::CpuIdentity here = test::intel_cpu(255, 2);
  here.model_name = "A CPU";
  EXPECT_EQ(choose_pmu(pmus, "", here).name, "skl");
  EXPECT_EQ(choose_pmu(pmus, "HSW", here).name, "hsw");
  try {
    choose_pmu({pmus.front()}, "", here);
    ADD_FAILURE() << "no PMU is present";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::failed);
    for (const char* part : {"A CPU, family 6, model 255", "another CPU", "directory of Intel's"}) {
      EXPECT_THAT(error.what(), HasSubstr(part));
    }
  }
}

/// Lines with a CPU, an event, and verdicts with the categories of instructions that have them:
/// "skl r20d1 never NOP NOMEM conditional GP_LOAD". Remarks begin with '#'.
void expect_causes(const std::string& table) {
  for (const std::string& line : test::lines_of(table)) {
    const auto words = test::words_of(line);
    if (words.front() == "#") continue;
    const Catalogue catalogue = catalogue_of(words.at(0));
    std::map<std::string_view, std::string_view> verdicts;
    for (const Cause& cause : causes_of(one(catalogue, words.at(1)))) {
      verdicts[name_of(cause.category)] = name_of(cause.verdict);
    }
    std::string expected;
    for (auto word = words.begin() + 2; word != words.end(); ++word) {
      if (std::islower(word->front()) != 0) {
        expected = *word;
      } else {
        EXPECT_EQ(verdicts[*word], expected) << *word << " of: " << line;
      }
    }
  }
}

TEST(Causes, FollowTheArticleElseTheNameOfTheEvent) {
  expect_causes(R"(hsw r81d0 can GP_LOAD IO
    skl r81d0 never IO maybe MFENCE
    hsw r20d1 maybe MFENCE
    skl r20d1 conditional GP_LOAD never MFENCE NOP NOMEM
    skl r21d0 can LOCKED_LOAD never GP_LOAD
    skx MEM_INST_RETIRED.LOCK_LOADS maybe OTHER_LOAD never GP_LOAD
    spr MEM_INST_RETIRED.ANY can STORE never LEA
    # Load latency with a threshold of its own:
    spr cpu/event=0xcd,umask=1,config1=0x7/ never NOMEM
    spr MEM_TRANS_RETIRED.STORE_SAMPLE conditional STORE
    lnl_lnc MEM_INST_RETIRED.ALL_SWPF can PREFETCH never GP_LOAD
    skx BR_INST_RETIRED.CONDITIONAL can COND_BRANCH never JUMP IND_JUMP CALL IND_CALL RETURN NOMEM
    spr BR_INST_RETIRED.COND_NTAKEN conditional COND_BRANCH never JUMP IND_JUMP CALL IND_CALL RETURN NOMEM
    spr BR_INST_RETIRED.NEAR_TAKEN conditional COND_BRANCH JUMP IND_JUMP CALL IND_CALL RETURN never NOMEM
    spr BR_INST_RETIRED.NEAR_CALL can CALL IND_CALL never COND_BRANCH JUMP IND_JUMP RETURN NOMEM
    spr BR_MISP_RETIRED.RET conditional RETURN never COND_BRANCH JUMP IND_JUMP CALL IND_CALL NOMEM
    spr BR_MISP_RETIRED.ALL_BRANCHES conditional COND_BRANCH JUMP IND_JUMP CALL IND_CALL RETURN never NOMEM
    gnr BR_MISP_RETIRED.COND_TAKEN_COST conditional COND_BRANCH never JUMP IND_JUMP CALL IND_CALL RETURN NOMEM
    srf BR_INST_RETIRED.REL_JMP can JUMP never COND_BRANCH IND_JUMP CALL IND_CALL RETURN NOMEM
    # Interrupts are far branches, and so are aborted transactions.
    hsw BR_INST_RETIRED.ALL_BRANCHES_PEBS can COND_BRANCH JUMP IND_JUMP CALL IND_CALL RETURN unknown NOMEM
    spr BR_INST_RETIRED.INDIRECT can IND_JUMP IND_CALL unknown COND_BRANCH JUMP CALL RETURN NOMEM
    skx BR_INST_RETIRED.FAR_BRANCH unknown COND_BRANCH JUMP IND_JUMP CALL IND_CALL RETURN NOMEM)");
  EXPECT_EQ(counting_unit({.core = Core::haswell, .config = 0x20d1}), "uops");
  EXPECT_EQ(counting_unit({.core = Core::skylake, .config = 0x20d1}), "instructions");
  EXPECT_EQ(counting_unit({.core = Core::skylake, .config = 0x412e}), "");
}

TEST(Causes, AreUnknownIfTheArticleIsSilent) {
  for (const Core core : {Core::ivy_bridge, Core::haswell, Core::broadwell, Core::skylake}) {
    for (const std::uint64_t config :
         {0x81d0U, 0x21d0U, 0x01d1U, 0x02d1U, 0x04d1U, 0x08d1U, 0x10d1U, 0x20d1U, 0x40d1U}) {
      EXPECT_EQ(verdict(core, config, Category::zmm_load), Verdict::unknown) << config;
      EXPECT_EQ(verdict(core, config, Category::other), Verdict::unknown) << config;
    }
    EXPECT_EQ(verdict(core, 0x02d1, Category::locked_load), Verdict::unknown);
    EXPECT_EQ(verdict(core, 0x02d1, Category::prefetch), Verdict::unknown);
  }
  EXPECT_EQ(verdict(Core::ivy_bridge, 0x02d1, Category::ymm_load), Verdict::unknown);
  for (const Core core : {Core::other, Core::skylake_server, Core::icelake, Core::golden_cove}) {
    for (const Cause& cause : measured_causes(core, 0x20d1))
      EXPECT_EQ(cause.verdict, Verdict::unknown);
  }
  for (const Cause& cause : measured_causes(Core::skylake, 0x412e)) {
    EXPECT_EQ(cause.verdict, Verdict::unknown);
  }
  EXPECT_EQ(verdict_on({}, {Category::gp_load}), Verdict::unknown);
}

TEST(Causes, OfAnInstructionFollowItsMostLikelyCategory) {
  const auto causes = measured_causes(Core::skylake, 0x20d1);
  const auto of_all = [&](Categories categories) { return verdict_on(causes, categories); };
  EXPECT_EQ(of_all({Category::no_memory}), Verdict::never);
  EXPECT_EQ(of_all({Category::branch, Category::store}), Verdict::never) << "a call";
  EXPECT_EQ(of_all({Category::div, Category::gp_load}), Verdict::conditional);
  EXPECT_EQ(of_all({Category::store, Category::gp_load}), Verdict::conditional) << "inc [rax]";
  EXPECT_EQ(of_all({Category::store, Category::locked_load}), Verdict::maybe);
  EXPECT_EQ(of_all({Category::branch, Category::other}), Verdict::unknown) << "ret";
  EXPECT_EQ(of_all({Category::branch, Category::other, Category::gp_load}), Verdict::conditional);
  EXPECT_EQ(of_all({}), Verdict::unknown);
  EXPECT_EQ(
      verdict_on(measured_causes(Core::skylake, 0x81d0), {Category::gp_load, Category::other}),
      Verdict::can);
}

TEST(Causes, OfRetiredAccessesFollowTheNameOfTheEvent) {
  for (const char* cpu : {"nehalemep", "jkt", "skx", "icx", "spr", "gnr", "srf", "adl_glc",
                          "adl_grt", "pantherlake_cougarcove"}) {
    SCOPED_TRACE(cpu);
    const Catalogue catalogue = catalogue_of(cpu);
    for (const Event& event : catalogue.events()) {
      if (event.name == "MEM_INST_RETIRED.ALL_LOADS" ||
          event.name == "MEM_UOPS_RETIRED.ALL_LOADS") {
        const auto causes = causes_of(event);
        EXPECT_EQ(verdict_on(causes, {Category::zmm_load}), Verdict::can);
        EXPECT_EQ(verdict_on(causes, {Category::other_load}), Verdict::maybe) << "pop";
        EXPECT_EQ(verdict_on(causes, {Category::prefetch}), Verdict::maybe);
        EXPECT_EQ(verdict_on(causes, {Category::store}), Verdict::never);
        EXPECT_EQ(verdict_on(causes, {Category::nop}), Verdict::never);
        EXPECT_EQ(verdict_on(causes, {Category::other}), Verdict::unknown);
      }
      if (event.name == "MEM_INST_RETIRED.STLB_MISS_STORES" ||
          event.name == "MEM_UOPS_RETIRED.SPLIT_STORES") {
        const auto causes = causes_of(event);
        EXPECT_EQ(verdict_on(causes, {Category::store}), Verdict::conditional);
        EXPECT_EQ(verdict_on(causes, {Category::gp_load}), Verdict::never);
        EXPECT_EQ(verdict_on(causes, {Category::store, Category::branch, Category::call}),
                  Verdict::conditional);
      }
    }
  }
}

TEST(Causes, AreKnownOfEveryCore) {
  for (const IntelFile& file : intel_files()) {
    for (const Event& event : intel_events(file)) {
      const bool covered =
          event.precise == true && !event.name.ends_with(".FAR_BRANCH") &&
          (event.name.starts_with("MEM_") || event.name.starts_with("BR_") ||
           event.name.starts_with("FP_INST_") || event.name.starts_with("FP_FLOPS_"));
      if (!covered) continue;
      const auto causes = causes_of(event);
      const auto likely = std::ranges::min_element(
          causes, [](const Cause& a, const Cause& b) { return a.verdict < b.verdict; });
      EXPECT_LT(likely->verdict, Verdict::maybe) << file.name << ' ' << event.name;
      EXPECT_GE(verdict_on(causes, {Category::nop}), Verdict::unknown) << event.name;
      EXPECT_EQ(verdict_on(causes, {Category::other}), Verdict::unknown) << event.name;
    }
  }
}

TEST(Causes, OfSeveralNamesOfACodeAreTheMostLenient) {
  Event event{.name = "BR_INST_RETIRED.NEAR_CALL"};
  EXPECT_EQ(verdict_on(causes_of(event), {Category::return_near}), Verdict::never);
  event.aliases = {"BR_INST_RETIRED.NEAR_RETURN"};
  EXPECT_EQ(verdict_on(causes_of(event), {Category::return_near}), Verdict::can);
  EXPECT_EQ(verdict_on(causes_of(event), {Category::nop}), Verdict::never);
  event.aliases.emplace_back("AN_EVENT.WITHOUT_A_FAMILY");
  EXPECT_EQ(verdict_on(causes_of(event), {Category::nop}), Verdict::unknown);
  event.layout = ConfigLayout::amd;
  EXPECT_EQ(verdict_on(causes_of(event), {Category::call}), Verdict::unknown);
}

TEST(Errata, AreThoseOfTheCoreAndTheEvent) {
  const auto ids = [](const char* cpu, const char* code) {
    const Catalogue catalogue = catalogue_of(cpu);
    std::string all;
    for (const Erratum& erratum : errata_of(one(catalogue, code))) {
      all += erratum.ids + (erratum.effect.empty() ? "?" : "") + (erratum.of_smt ? " smt" : "") +
             (erratum.of_one_mode ? " mode" : "") + ";";
    }
    return all;
  };
  EXPECT_EQ(ids("skl", "r20d1"), "SKL128, SKW118, KBL073, KBW73, Coffee Lake 070 mode;");
  EXPECT_EQ(ids("skl", "r01c4"), "SKL091?;") << "the event file has the id alone";
  EXPECT_EQ(ids("hsw", "r04d1"), "HSD74?;HSD29, HSM30 smt;HSD25, HSM26;HSD169, HSM179 mode;");
  EXPECT_EQ(ids("bdw", "r02d1"), "BDM35;BDD113 mode;") << "BDM100 is of the L3 alone";
  EXPECT_EQ(ids("ivb", "r02d1"), "BV98, BU101, BW98, CA93, CF89 smt;");
  EXPECT_EQ(ids("ivb", "r08d1"), "") << "all but L1_MISS";
  EXPECT_EQ(ids("skl", "r81d0"), "");
  EXPECT_EQ(ids("skx", "r20d1"), "") << "another core";
}

Event named(const std::string& name, std::uint64_t config = 0xc0) {
  return {.name = name, .config = config};
}

TEST(ExactlyOnce, IsOfCountsOfRetiredInstructionsOnly) {
  const std::map<std::string, std::optional<Counted>> expected{
      {"INST_RETIRED.PREC_DIST", Counted::instructions},
      {"inst_retired:any_p", Counted::instructions},
      {"MEM_INST_RETIRED.ALL_LOADS", Counted::loads},
      {"MEM_INST_RETIRED.STORES", Counted::stores},
      {"BR_INST_RETIRED.CONDITIONAL", Counted::conditional_branches},
      {"BR_INST_RETIRED.NEAR_TAKEN", Counted::taken_branches},
      {"MEM_UOPS_RETIRED.ALL_LOADS", {}},
      {"UOPS_RETIRED.ALL", {}},
      {"MEM_LOAD_RETIRED.L1_HIT", {}},
      {"BR_MISP_RETIRED.ALL_BRANCHES", {}},
      {"BR_INST_RETIRED.COND_TAKEN", {}},
      {"INST_RETIRED.TOTAL_CYCLES", {}},
      {"MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4", {}}};
  for (const auto& [name, once] : expected) {
    EXPECT_EQ(caused_once_by(named(name)), once) << name;
  }
  Event alias = named("SOMETHING_ELSE");
  alias.aliases = {"BR_INST_RETIRED.JCC"};
  EXPECT_EQ(caused_once_by(alias), Counted::conditional_branches);
}

TEST(ExactlyOnce, IsNotOfModifiersNorOfOtherVendors) {
  EXPECT_FALSE(caused_once_by(named("INST_RETIRED.ANY_P", 0x10001c0)));
  EXPECT_FALSE(caused_once_by({.name = "INST_RETIRED.ANY_P", .layout = ConfigLayout::arm}));
}

TEST(ExactlyOnce, HasPreciseEventsOfServersAndSmallCores) {
  for (const char* name : {"NehalemEP", "skylakex", "alderlake_gracemont"}) {
    const auto files = intel_files();
    const auto file =
        std::ranges::find_if(files, [&](const IntelFile& one) { return one.name == name; });
    ASSERT_NE(file, files.end()) << name;
    std::set<Counted> found;
    for (const Event& event : intel_events(*file)) {
      const auto once = caused_once_by(event);
      if (once && event.precise == true) found.insert(*once);
    }
    EXPECT_THAT(found, Contains(Counted::instructions)) << name;
    EXPECT_EQ(found.contains(Counted::loads), std::string(name) != "alderlake_gracemont") << name;
  }
}

}  // namespace
}  // namespace skid::events
