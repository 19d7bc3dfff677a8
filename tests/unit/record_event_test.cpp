#include "analysis/measurement.h"
#include "runway/target.h"
#include "src/machine/machine.h"
#include "src/record/choice.h"
#include "src/support/error.h"
#include "tests/support/error_message.h"
#include "tests/support/prelude.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace skid::record {
namespace {

RequestedEvent parsed(const std::string& text) {
  return parse_events({text}).at(0);
}

std::string fault(const std::vector<std::string>& arguments) {
  return test::message_of<ValueError>(parse_events, arguments);
}

runway::TargetDescription target() {
  runway::TargetDescription description;
  description.specification.access_bytes = 4;
  description.layout.datum = 0x403000;
  description.layout.trigger = {0x401010, 0x401014};
  return description;
}

TEST(RecordEvent, LevelsFollowTheOtherModifiersOrTheSlash) {
  for (const auto& [event, level, expected] :
       std::vector<std::tuple<const char*, int, const char*>>{
           {"cycles", 0, "cycles"},
           {"cycles", 2, "cycles:pp"},
           {"cycles:u", 3, "cycles:uppp"},
           {"r00c4", 1, "r00c4:p"},
           {"mem:0x1000/8:rw", 1, "mem:0x1000/8:rw:p"},
           {"mem:0x1000/8:rw:u", 1, "mem:0x1000/8:rw:up"},
           {"cpu/event=0xd1,umask=0x20/", 2, "cpu/event=0xd1,umask=0x20/pp"},
           {"cpu/event=0xd1/u", 2, "cpu/event=0xd1/upp"},
           // Colons in names are not modifiers.
           {"sched:sched_switch", 1, "sched:sched_switch:p"},
           {"mem:0x1000:w", 1, "mem:0x1000:w:p"}}) {
    EXPECT_EQ(parsed(event).at_level(level), expected);
  }
  EXPECT_EQ(parsed("sched:sched_switch").modifiers, "");
}

TEST(RecordEvent, LevelsInTheEventAreExtracted) {
  const RequestedEvent event = parsed("cycles:ppu");
  EXPECT_EQ(event.own_level, 2);
  EXPECT_EQ(event.text(), "cycles:u");
  EXPECT_EQ(event.at_level(2), "cycles:upp");
  EXPECT_EQ(parsed("cpu/event=0xd1/p").own_level, 1);
  EXPECT_EQ(parsed("cycles:u").own_level, std::nullopt);
}

TEST(RecordEvent, KindsAndBreakpointsFollowFromNames) {
  using enum EventKind;
  for (const auto& [event, level, kind, for_perf] :
       std::vector<std::tuple<const char*, int, EventKind, const char*>>{
           {"access", 2, access, "mem:0x403000/4:rw:pp"},
           {"access:u", 0, access, "mem:0x403000/4:rw:u"},
           {"execute", 3, execute, "mem:0x401010:x:ppp"},
           {"faults", 1, faults, "page-faults:p"},
           {"page-faults", 0, faults, "page-faults"},
           {"minor-faults", 0, faults, "minor-faults"},
           {"cpu-clock", 0, clock, "cpu-clock"},
           {"task-clock:u", 0, clock, "task-clock:u"},
           {"cycles", 0, other, "cycles"}}) {
    EXPECT_EQ(parsed(event).for_perf(level, target()), for_perf);
    EXPECT_EQ(parsed(event).kind, kind) << event;
  }
}

TEST(RecordEvent, PLeavesTheLevelToPerf) {
  EXPECT_TRUE(parsed("cycles:P").perf_picks_level());
  EXPECT_EQ(parsed("cycles:P").at_level(0), "cycles:P");
  EXPECT_EQ(parsed("cpu_atom/cycles/uP").text(), "cpu_atom/cycles/uP");
  EXPECT_FALSE(parsed("cycles:ppu").perf_picks_level());
}

TEST(RecordEvent, InvalidEventsAreRefused) {
  for (const auto& [event, message] : std::map<std::string, const char*>{
           {"{cycles,instructions}", "is a group"},
           {"cycles,,access", "an event has no name"},
           {"", "an event has no name"},
           {"cpu/event=0xd1,cycles", "a '/' is not closed"},
           {"cycles:Pp", "has p and P"},
           {"cycles:pppp", "has 4 p; expected at most 3"},
           {"cpu/event=0xd1,period=1000/", "name the period with -c"},
           {"cycles/freq=99/u", "has freq among its terms"}}) {
    EXPECT_THAT(fault({event}), HasSubstr(message)) << event;
  }
  EXPECT_EQ(fault({"cpu/event=0xd1,no_period=1/"}), "no error");
  EXPECT_THAT(fault({"access,cycles", "access"}), HasSubstr("access: is named twice"));
  EXPECT_EQ(fault({"cycles", "cycles:u", "cycles:p", "cycles:pp"}), "no error");
}

TEST(PreciseLevel, IsWrittenAsPerfsModifiers) {
  EXPECT_EQ(machine::level_named("none"), 0);
  EXPECT_EQ(machine::level_named("ppp"), 3);
  EXPECT_EQ(machine::level_name(0), "none");
  EXPECT_EQ(machine::level_name(2), "pp");
  for (const char* other : {"pppp", "", "2"}) EXPECT_FALSE(machine::level_named(other)) << other;
}

}  // namespace
}  // namespace skid::record
