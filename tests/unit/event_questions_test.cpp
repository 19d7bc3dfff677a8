// What a CPU has for something to be sampled.
#include "src/events/catalogue.h"
#include "src/events/questions.h"
#include "tests/support/event_tables.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/text.h"

#include <string>
#include <utility>
#include <vector>

namespace skid::events {
namespace {

using test::catalogue_of;

/// The arguments of perf record -e for a question on a CPU.
std::vector<std::string> answers(const std::string& text, const std::string& cpu) {
  const Question* question = find_question(text);
  if (question == nullptr) return {"no such question"};
  return test::mapped(answers_to(*question, catalogue_of(cpu)), &Answer::perf);
}

TEST(Questions, AreFoundByTheirWords) {
  for (const char* text :
       {"L3 misses", "l3 miss", "LLC misses", "last-level cache misses", "misses of the L3"}) {
    ASSERT_NE(find_question(text), nullptr) << text;
    EXPECT_EQ(name_of(*find_question(text)), "L3 misses") << text;
  }
  for (const auto& [text, name] : {std::pair{"L3 cache misses", "L3 misses"},
                                   {"data cache misses", "L1 misses"},
                                   {"load instructions", "loads"},
                                   {"retired instructions", "instructions"},
                                   {"div", "divides"},
                                   {"mispred branch", "mispredicted branches"},
                                   {"branch", "branches"}}) {
    ASSERT_NE(find_question(text), nullptr) << text;
    EXPECT_EQ(name_of(*find_question(text)), name);
  }
  for (const char* text : {"L4 misses", "store latency", "lo", "cache", "instruction cache",
                           "L1 instruction cache misses", "L2 instruction misses"}) {
    EXPECT_EQ(find_question(text), nullptr) << text;
  }
  EXPECT_EQ(find_question(""), nullptr);
  for (const std::string& name : question_names()) EXPECT_NE(find_question(name), nullptr) << name;
}

TEST(Questions, AreAnsweredByThePreciseEventsOfIntel) {
  SKIP_WITHOUT("x86-64");
  // The codes are those of Intel's event files; on Golden Cove counter 0 has precise distribution.
  EXPECT_THAT(answers("L3 misses", "skl"), ElementsAre("cpu/event=0xd1,umask=0x20/pp"));
  EXPECT_THAT(answers("L3 misses", "spr"), Contains("cpu/event=0xd1,umask=0x20/ppp"));
  EXPECT_THAT(answers("mispredicted branches", "skl"), ElementsAre("cpu/event=0xc5,umask=0x04/pp"));
  EXPECT_THAT(answers("stores", "skl"), ElementsAre("cpu/event=0xd0,umask=0x82/pp"));
  EXPECT_THAT(answers("load latency", "skl"), ElementsAre("cpu/mem-loads,ldlat=30/pp"));
  EXPECT_THAT(answers("load latency", "adl"),
              ElementsAre("cpu_core/mem-loads,ldlat=30/pp", "cpu_atom/mem-loads,ldlat=30/pp"));
  EXPECT_THAT(answers("TLB misses", "skl"),
              IsSupersetOf({"cpu/event=0xd0,umask=0x11/pp", "cpu/event=0xd0,umask=0x12/pp"}));
  EXPECT_THAT(answers("cycles", "skl"),
              ElementsAre("cpu/event=0xc0,umask=0x01,inv=1,cmask=0x0a/pp"))
      << "INST_RETIRED.TOTAL_CYCLES_PS";
  EXPECT_THAT(answers("cycles", "spr"), ElementsAre("cpu/event=0x3c,umask=0x00/"))
      << "no event of cycles is precise";
}

TEST(Questions, AreAnsweredByIbsWithTheFiltersOfTheZen) {
  SKIP_WITHOUT("x86-64");
  EXPECT_EQ(answers("L3 misses", "zen2").front(), "ibs_op/cnt_ctl=1/");
  EXPECT_EQ(answers("L3 misses", "zen4").front(), "ibs_op/cnt_ctl=1,l3missonly=1/");
  EXPECT_EQ(answers("load latency", "zen4").front(), "ibs_op/cnt_ctl=1/");
  EXPECT_EQ(answers("load latency", "zen5").front(), "ibs_op/cnt_ctl=1,ldlat=128/");
  EXPECT_EQ(answers("cycles", "zen4").front(), "ibs_op//");
}

TEST(Questions, AreAnsweredBySpeOnArm) {
  Cpu cpu{.name = "arm_n1", .layout = ConfigLayout::arm};
  const Catalogue without_events(cpu, {});
  const auto perf = [&](const char* text) {
    return test::mapped(answers_to(*find_question(text), without_events), &Answer::perf);
  };
  EXPECT_THAT(perf("branch misses"), ElementsAre("arm_spe_0/branch_filter=1,event_filter=0x80/"));
  EXPECT_THAT(perf("stores"), ElementsAre("arm_spe_0/store_filter=1/"));
  EXPECT_THAT(perf("divides"), IsEmpty());
}

}  // namespace
}  // namespace skid::events
