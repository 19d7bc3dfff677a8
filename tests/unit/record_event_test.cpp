#include "src/record/requested_event.h"
#include "src/support/error.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::record {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RequestedEvent parsed(const std::string& text) {
  return parse_events({text}).at(0);
}

std::vector<std::string> texts(const std::vector<std::string>& arguments) {
  std::vector<std::string> result;
  for (const RequestedEvent& event : parse_events(arguments)) result.push_back(event.text());
  return result;
}

std::string fault(const std::vector<std::string>& arguments) {
  try {
    parse_events(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no fault";
}

runway::TargetDescription target() {
  runway::TargetDescription description;
  description.specification.access_bytes = 4;
  description.layout.datum = 0x403000;
  description.layout.trigger = {0x401010, 0x401014};
  return description;
}

TEST(RecordEvent, ListsAreSplitAtCommas) {
  EXPECT_THAT(texts({"access,execute", "cycles"}), ElementsAre("access", "execute", "cycles"));
}

TEST(RecordEvent, CommasBetweenSlashesBelongToTheEvent) {
  EXPECT_THAT(texts({"cpu/event=0xd1,umask=0x20/u,cycles"}),
              ElementsAre("cpu/event=0xd1,umask=0x20/u", "cycles"));
}

TEST(RecordEvent, TheSlashOfABreakpointsLengthOpensNothing) {
  EXPECT_THAT(texts({"mem:0x1000/8:rw,cycles"}), ElementsAre("mem:0x1000/8:rw", "cycles"));
}

TEST(RecordEvent, LevelsFollowTheOtherModifiers) {
  EXPECT_EQ(parsed("cycles").at_level(0), "cycles");
  EXPECT_EQ(parsed("cycles").at_level(2), "cycles:pp");
  EXPECT_EQ(parsed("cycles:u").at_level(3), "cycles:uppp");
  EXPECT_EQ(parsed("r00c4").at_level(1), "r00c4:p");
  EXPECT_EQ(parsed("mem:0x1000/8:rw").at_level(1), "mem:0x1000/8:rw:p");
  EXPECT_EQ(parsed("mem:0x1000/8:rw:u").at_level(1), "mem:0x1000/8:rw:up");
}

TEST(RecordEvent, LevelsOfPmuEventsFollowTheSlash) {
  EXPECT_EQ(parsed("cpu/event=0xd1,umask=0x20/").at_level(2), "cpu/event=0xd1,umask=0x20/pp");
  EXPECT_EQ(parsed("cpu/event=0xd1/u").at_level(2), "cpu/event=0xd1/upp");
}

TEST(RecordEvent, ColonsInNamesAreNotModifiers) {
  EXPECT_EQ(parsed("sched:sched_switch").at_level(1), "sched:sched_switch:p");
  EXPECT_EQ(parsed("mem:0x1000:w").at_level(1), "mem:0x1000:w:p");
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

TEST(RecordEvent, BuiltInOnesBecomeBreakpointsOnTheTarget) {
  EXPECT_EQ(parsed("access").for_perf(2, target()), "mem:0x403000/4:rw:pp");
  EXPECT_EQ(parsed("access:u").for_perf(0, target()), "mem:0x403000/4:rw:u");
  EXPECT_EQ(parsed("execute").for_perf(3, target()), "mem:0x401010:x:ppp");
  EXPECT_EQ(parsed("faults").for_perf(1, target()), "page-faults:p");
  EXPECT_EQ(parsed("cpu-clock").for_perf(0, target()), "cpu-clock");
  EXPECT_EQ(parsed("minor-faults").for_perf(0, target()), "minor-faults");
}

TEST(RecordEvent, KindsFollowFromNames) {
  EXPECT_EQ(parsed("access:u").kind, EventKind::access);
  EXPECT_EQ(parsed("execute").kind, EventKind::execute);
  EXPECT_EQ(parsed("page-faults").kind, EventKind::faults);
  EXPECT_EQ(parsed("task-clock:u").kind, EventKind::clock);
  EXPECT_EQ(parsed("cycles").kind, EventKind::other);
}

TEST(RecordEvent, InvalidEventsAreRefused) {
  EXPECT_THAT(fault({"{cycles,instructions}"}), HasSubstr("is a group"));
  EXPECT_THAT(fault({"cycles,,access"}), HasSubstr("an event has no name"));
  EXPECT_THAT(fault({""}), HasSubstr("an event has no name"));
  EXPECT_THAT(fault({"cpu/event=0xd1,cycles"}), HasSubstr("a '/' is not closed"));
}

TEST(RecordEvent, PLeavesTheLevelToPerf) {
  EXPECT_TRUE(parsed("cycles:P").perf_picks_level());
  EXPECT_EQ(parsed("cycles:P").at_level(0), "cycles:P");
  EXPECT_EQ(parsed("cpu_atom/cycles/uP").text(), "cpu_atom/cycles/uP");
  EXPECT_FALSE(parsed("cycles:ppu").perf_picks_level());
}

TEST(RecordEvent, LevelsThatContradictAreRefused) {
  EXPECT_THAT(fault({"cycles:Pp"}), HasSubstr("has p and P"));
  EXPECT_THAT(fault({"cycles:pppp"}), HasSubstr("has 4 p; expected at most 3"));
}

TEST(RecordEvent, PeriodsAmongTheTermsAreRefused) {
  EXPECT_THAT(fault({"cpu/event=0xd1,period=1000/"}), HasSubstr("name the period with -c"));
  EXPECT_THAT(fault({"cycles/freq=99/u"}), HasSubstr("has freq among its terms"));
  EXPECT_EQ(fault({"cpu/event=0xd1,no_period=1/"}), "no fault");
}

TEST(RecordEvent, DuplicatesAreRefused) {
  EXPECT_THAT(fault({"access,cycles", "access"}), HasSubstr("-e access: is named twice"));
  EXPECT_EQ(fault({"cycles", "cycles:u", "cycles:p", "cycles:pp"}), "no fault");
}

TEST(PreciseLevel, IsWrittenAsPerfsModifiers) {
  EXPECT_EQ(parse_level("none"), 0);
  EXPECT_EQ(parse_level("ppp"), 3);
  EXPECT_EQ(machine::level_name(0), "none");
  EXPECT_EQ(machine::level_name(2), "pp");
  EXPECT_THROW(parse_level("pppp"), UsageError);
  EXPECT_THROW(parse_level(""), UsageError);
  EXPECT_THROW(parse_level("2"), UsageError);
}

}  // namespace
}  // namespace skid::record
