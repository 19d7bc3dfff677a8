// Which event was requested, which was recorded, and what follows from both.

#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "plots/labels.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "src/locate/filter.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/event_selection.h"
#include "src/measure/event_warnings.h"
#include "src/measure/precision.h"
#include "src/measure/requested_event.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/format.h"
#include "src/run/perftool/event_name.h"
#include "src/run/perftool/perftool.h"
#include "src/run/perftool/record_arguments.h"
#include "src/support/address.h"
#include "src/support/text.h"
#include "tests/support/known_event.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_builder.h"
#include "tests/support/recording_test.h"
#include "tests/support/trigger_kinds.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::measure {
namespace {

using analysis::NotJudged;
using perfdata::Attribute;

Attribute event(std::uint32_t type, std::uint64_t config) {
  return {.type = type, .config = config};
}

TEST(EventSyntax, SeparatesAndAppendsModifiers) {
  for (const char* text : {"cycles", "cycles:upp", "cpu/event=0xd1,umask=0x20/pp", "r412e:u",
                           "mem:0x10/8:rw:p", "mem:0x10:rw", "sched:sched_switch", "cpu/cycles/"}) {
    const auto name = perftool::split_event_name(text);
    EXPECT_EQ(perftool::join_event_name(name), text);
  }
  EXPECT_EQ(perftool::split_event_name("cycles:upp").modifiers, "upp");
  EXPECT_EQ(perftool::split_event_name("cpu/event=0xd1,umask=0x20/pp").modifiers, "pp");
  EXPECT_EQ(perftool::split_event_name("mem:0x10/8:rw:p").modifiers, "p");
  EXPECT_EQ(perftool::split_event_name("mem:0x10:rw").modifiers, "");
  EXPECT_EQ(perftool::split_event_name("sched:sched_switch").modifiers, "");
}

TEST(EventSyntax, SplitsListsOutsideOfTerms) {
  EXPECT_THAT(*perftool::split_event_list("cycles:u,cpu/event=0xd1,umask=0x20/pp,mem:0x10/8:rw,r1"),
              ElementsAre("cycles:u", "cpu/event=0xd1,umask=0x20/pp", "mem:0x10/8:rw", "r1"));
  EXPECT_FALSE(perftool::split_event_list("cpu/event=1,cycles"));
}

TEST(RequestedEvents, AreThoseOfAllArguments) {
  EXPECT_THAT(requested_events({"cycles:pp", "r1,r2"}, 3), ElementsAre("cycles:pp", "r1", "r2"));
  EXPECT_THAT(requested_events({"cycles:pp", "r1"}, 3), IsEmpty()) << "another number of events";
  EXPECT_THAT(requested_events({"{cycles,instructions}"}, 2), IsEmpty()) << "a group";
  EXPECT_THAT(requested_events({"cpu/broken"}, 1), IsEmpty()) << "unreadable";
}

TEST(EventArguments, AreSplitAsPerfSplitsThem) {
  const auto arguments = [](std::string_view line) {
    std::vector<std::string> words;
    while (!line.empty()) words.emplace_back(take_until(' ', line));
    return perftool::event_arguments(words);
  };
  using Words = std::vector<std::string>;
  for (const char* line :
       {"perf record -e cpu-clock", "/usr/bin/perf_6.1 record -ecpu-clock -- x -e y",
        "perf record -ge cpu-clock x -e y", "perf record -ae cpu-clock",
        "perf record --ev cpu-clock", "perf record --event=cpu-clock",
        "perf record -g dwarf -e cpu-clock",
        "perf record -c 100 -F max -o e.data -j any,u -e cpu-clock",
        "perf record --call-graph dwarf --switch-output --off-cpu -e cpu-clock",
        "perf record -Ie -z1 -e cpu-clock x"}) {
    EXPECT_EQ(arguments(line), Words{"cpu-clock"}) << line;
  }
  for (const char* line : {"perf record", "perf record -a sleep 1", "perf record perl -e 1",
                           "perf record -o e.data -- x -e y", "perf record -aR -oe x"}) {
    EXPECT_EQ(arguments(line), Words{}) << line;
  }
  for (const char* line : {"", "perf", "/usr/bin/perf", "simpleperf record", "perf mem record",
                           "perf record -e", "perf record --pfm-events cycles"}) {
    EXPECT_EQ(arguments(line), std::nullopt) << line;
  }
}

/// What is requested of one event by the command line and version of its recording: "cycles:P";
/// "unknown".
class RequestedByCommandLine : public test::RecordingTest {
 protected:
  std::string requested(std::string_view line, const char* version,
                        const test::EventToBuild& event = {}) const {
    test::RecordingBuilder builder;
    builder.event(event).sample(0x1000, 1, 1);
    builder.feature(perfdata::HEADER_VERSION, builder.writer().counted_text(version).bytes());
    auto words = builder.writer();
    words.u32(static_cast<std::uint32_t>(std::ranges::count(line, ' ') + 1));
    while (!line.empty()) words.counted_text(take_until(' ', line));
    builder.feature(perfdata::HEADER_CMDLINE, words.bytes());
    return requested_by_attribute(open(builder)).at(0).value_or("unknown");
  }
};

TEST_F(RequestedByCommandLine, IsTheDefaultOfTheVersionOfPerf) {
  const test::EventToBuild cycles{.type = PERF_TYPE_HARDWARE, .config = 0};
  for (const char* version : {"3.4.2642.g0aa604", "3.12.0", "4.1"}) {
    EXPECT_EQ(requested("/usr/bin/perf record -a", version), "cycles") << version;
    EXPECT_EQ(requested("/usr/bin/perf record -a", version, cycles), "cycles") << version;
  }
  for (const char* version : {"4.3", "6.1.187"}) {
    EXPECT_EQ(requested("/usr/bin/perf record -a", version), "cycles:P") << version;
    EXPECT_EQ(requested("/usr/bin/perf record -a", version, cycles), "cycles:P") << version;
  }
  for (const char* version : {"", "4.2"}) {
    EXPECT_EQ(requested("/usr/bin/perf record", version), "cycles") << version;
    EXPECT_EQ(requested("/usr/bin/perf record", version, cycles), "unknown") << version;
  }
  EXPECT_EQ(requested("perf record", "6.1", {.type = PERF_TYPE_RAW, .config = 0x20d1}), "unknown");
}

TEST_F(RequestedByCommandLine, IsWhatTheCommandLineNames) {
  EXPECT_EQ(requested("perf record -ge cpu-clock", "6.1"), "cpu-clock");
  EXPECT_EQ(requested("perf record -ae cpu-clock:pp sleep 1", "6.1"), "cpu-clock:pp");
  EXPECT_EQ(requested("perf record perl -e 1", "6.1"), "cycles:P");
  EXPECT_EQ(requested("simpleperf record -a", "6.1"), "unknown");
  EXPECT_EQ(requested("/usr/bin/perf", "7.2"), "unknown") << "7.2 writes no arguments";
}

TEST(SelectEvent, TakesNamesWithLevelAndModifiersOrWithout) {
  const analysis::EventIdentity of_run{
      .requested = "r81d0:upp", .recorded = "r81d0:uppH", .label = "r81d0:u"};
  const analysis::EventIdentity bare{.recorded = "r81d0:upp", .label = "r81d0"};
  const auto is_selected = [](const analysis::EventIdentity& event, const char* name) {
    locate::Filtered filtered{.selected = 10};
    const bool selected = select_event(event, {.events = {name}}, 3, filtered);
    EXPECT_EQ(filtered.selected, selected ? 10u : 7u);
    return selected;
  };
  for (const char* name : {"r81d0", "r81d0:u", "r81d0:upp"}) {
    EXPECT_TRUE(is_selected(of_run, name)) << name;
    EXPECT_TRUE(is_selected(bare, name)) << name;
  }
  for (const char* recorded : {"cpu_core/cycles/u", "cpu_core/cycles:pp/", "cpu_core/cycles/"}) {
    const analysis::EventIdentity hybrid{.recorded = recorded, .label = recorded};
    for (const char* name : {"cycles", "cpu_core/cycles/"}) {
      EXPECT_TRUE(is_selected(hybrid, name)) << recorded << ' ' << name;
    }
    EXPECT_FALSE(is_selected(hybrid, "cpu_atom/cycles/"));
  }
  for (const char* name : {"r81", "r81d0:k", "r81d0:upppp", "u"}) {
    EXPECT_FALSE(is_selected(of_run, name)) << name;
    EXPECT_FALSE(is_selected(bare, name)) << name;
  }
}

bool is_substituted_on_intel(const char* requested, const Attribute& recorded) {
  return is_substituted(requested, recorded, events::ConfigLayout::intel);
}

TEST(Substituted, IsAClockInsteadOfCycles) {
  const auto cpu_clock = event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
  EXPECT_TRUE(is_substituted_on_intel("cycles:pp", cpu_clock));
  EXPECT_TRUE(is_substituted_on_intel("r412e:u", cpu_clock));
  EXPECT_FALSE(is_substituted_on_intel("cpu-clock:ppp", cpu_clock));
  EXPECT_FALSE(is_substituted_on_intel("cpu-clock/period=100000/u", cpu_clock));
  EXPECT_TRUE(is_substituted_on_intel("cycles/period=100000/u", cpu_clock));
  EXPECT_FALSE(is_substituted_on_intel("cycles:pp", event(PERF_TYPE_HARDWARE, 0)));
  // A hybrid machine's generic event names its PMU in the upper half of config.
  EXPECT_FALSE(is_substituted_on_intel("cycles", event(PERF_TYPE_HARDWARE, 0x8'0000'0000)));
  EXPECT_TRUE(is_substituted_on_intel("branches", event(PERF_TYPE_HARDWARE, 0)));
}

TEST(Substituted, IsNotAGenericEventThatPerfTakesFromSysfs) {
  // perf 7 records instructions as event 0xc0 of the PMU cpu.
  EXPECT_FALSE(is_substituted_on_intel("instructions:u", event(PERF_TYPE_RAW, 0xc0)));
  EXPECT_FALSE(is_substituted_on_intel("branch-misses", event(10, 0xc5))) << "cpu_atom";
  EXPECT_TRUE(is_substituted_on_intel("instructions", event(PERF_TYPE_RAW, 0xc5)));
  EXPECT_FALSE(
      is_substituted("branch-misses", event(PERF_TYPE_RAW, 0xc3), events::ConfigLayout::amd));
  EXPECT_TRUE(
      is_substituted("branch-misses", event(PERF_TYPE_RAW, 0xc5), events::ConfigLayout::amd));
  EXPECT_TRUE(is_recorded_as_requested("instructions", event(PERF_TYPE_RAW, 0xc0),
                                       events::ConfigLayout::intel));
}

/// On a CPU of Intel that no table has.
NotJudged reason(const Attribute& attribute, const char* pmu = "",
                 const runway::TargetDescription* target = nullptr) {
  const machine::Machine machine{.cpu = {.vendor = "GenuineIntel"}};
  return reason_not_judged(test::known_event(attribute, machine, pmu), target, {});
}

TEST(NotJudgedReason, IsWhatEveryInstructionCausesOrWhatIsNotKnown) {
  EXPECT_EQ(reason(event(PERF_TYPE_SOFTWARE, 0)), NotJudged::timer);
  EXPECT_EQ(reason(event(PERF_TYPE_HARDWARE, 0), "cpu"), NotJudged::every_instruction);
  EXPECT_EQ(reason(event(11, 0), "ibs_op"), NotJudged::every_instruction);
  EXPECT_NE(reason(event(11, 1 << 16), "ibs_op"), NotJudged::every_instruction) << "l3missonly";
  auto precise = event(PERF_TYPE_RAW, 0x20d1);
  precise.precise_ip = 2;
  EXPECT_EQ(reason(precise, "cpu"), NotJudged::unknown_cpu);
  precise.precise_ip = 0;
  EXPECT_EQ(reason(precise, "cpu"), NotJudged::none) << "level 0: arbitrary skid";
  EXPECT_EQ(reason(event(77, 0)), NotJudged::no_core_event) << "a PMU that no mapping names";
  EXPECT_EQ(reason(event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES)),
            NotJudged::no_core_event);
}

TEST(TagsAnyOperation, UnlessAFilterIsSet) {
  const auto tags = [](const char* pmu, std::uint64_t config, std::uint64_t config1 = 0,
                       std::uint64_t config2 = 0) {
    auto attribute = event(11, config);
    attribute.config1 = config1;
    attribute.config2 = config2;
    return tags_any_operation(pmu, attribute);
  };
  EXPECT_TRUE(tags("ibs_op", 1 << 19)) << "cnt_ctl";
  EXPECT_FALSE(tags("ibs_op", 1 << 16)) << "l3missonly";
  EXPECT_FALSE(tags("ibs_op", 0, 128)) << "ldlat";
  EXPECT_TRUE(tags("arm_spe_0", 1 << 16 | 1)) << "jitter, ts_enable";
  EXPECT_FALSE(tags("arm_spe_0", std::uint64_t{1} << 33)) << "load_filter";
  EXPECT_FALSE(tags("arm_spe_0", 0, 8)) << "event_filter";
  EXPECT_FALSE(tags("arm_spe_0", 0, 0, 30)) << "min_latency";
}

TEST(NotJudgedReason, AsksWhetherTheTriggerCausesTheEvent) {
  runway::TargetDescription target;
  target.layout.trigger = {0x1000, 0x1003};
  target.layout.datum = 0x2000;
  target.expectations = {{"access", 1, 1.0}, {"execute", 0, 1.0}, {"faults", std::nullopt, 0.0}};
  auto on_datum = event(PERF_TYPE_BREAKPOINT, 0);
  on_datum.bp_type = 3;
  on_datum.config1 = 0x2000;
  EXPECT_EQ(builtin_event_of(on_datum, target), "access");
  EXPECT_EQ(reason(on_datum, "", &target), NotJudged::none);
  on_datum.config1 = 0x2008;
  EXPECT_EQ(reason(on_datum, "", &target), NotJudged::not_caused);
  EXPECT_EQ(reason(event(PERF_TYPE_SOFTWARE, 2), "", &target), NotJudged::not_caused);
}

TEST(EqualTriggers, AreNotThoseOfTheExecuteBreakpointAndTheDatumOfAChase) {
  runway::TargetDescription target;
  target.layout.trigger = {0x1000, 0x1003};
  target.layout.datum = 0x2000;
  auto execute = event(PERF_TYPE_BREAKPOINT, 0);
  execute.bp_type = 4;
  execute.config1 = 0x1000;
  auto access = event(PERF_TYPE_BREAKPOINT, 0);
  access.bp_type = 3;
  access.config1 = 0x2000;
  const machine::Machine machine;
  const RecordedEvent of_datum = test::known_event(access, machine, "");
  EXPECT_FALSE(triggers_are_equal(test::known_event(execute, machine, ""), target));
  EXPECT_TRUE(triggers_are_equal(of_datum, target));
  target.specification = runway::default_specification(Arch::x86_64, "load-l2"_trigger);
  EXPECT_FALSE(triggers_are_equal(of_datum, target));
}

}  // namespace
}  // namespace skid::measure
