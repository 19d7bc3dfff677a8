// The output of perf stat -j and -x, events by name and code, and input that is refused.
#include "analysis/rates.h"
#include "src/events/event.h"
#include "src/events/intel_table.h"
#include "src/perfstat/reading.h"
#include "src/perfstat/selection.h"
#include "src/support/error.h"
#include "tests/support/error_message.h"
#include "tests/support/prelude.h"

#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::perfstat {
namespace {

using analysis::Quantity;
using namespace std::string_literals;

Reading read(const std::string& text) {
  return read_counts(text, "counts");
}

std::string error_of(const std::string& text) {
  return test::message_of<InputError>([&] { return select_counts(read(text)); });
}

TEST(EventNames, AreOfTheCodesThatIntelsEventFilesGiveThem) {
  std::size_t known = 0;
  for (const std::string cpu :
       {"ivybridge", "haswell", "broadwell", "skylake", "icelake", "sapphirerapids"}) {
    for (const events::Event& row : events::intel_events(events::intel_files_of(cpu).at(0))) {
      // The umasks of L2_RQSTS mean what they are taken for on Haswell to Coffee Lake.
      const bool l2_holds = cpu == "haswell" || cpu == "broadwell" || cpu == "skylake";
      if (row.config1 != 0 || (!l2_holds && row.name.starts_with("L2_RQSTS"))) continue;
      // The code of the fixed counter there; perf counts 3c by that name.
      if (row.name == "CPU_CLK_UNHALTED.THREAD") continue;
      const KnownEvent by_name = identify_event(row.name);
      if (!by_name.known() || by_name.quantity >= Quantity::instructions) continue;
      const KnownEvent by_code = identify_event(fmt::format("cpu/config=0x{:x}/", row.config));
      EXPECT_EQ(by_name.quantity, by_code.quantity) << cpu << ' ' << row.name;
      EXPECT_EQ(by_name.l2_umask, by_code.l2_umask) << cpu << ' ' << row.name;
      ++known;
    }
  }
  EXPECT_GT(known, 100U) << "of six CPUs";
}

/// The name of its quantity, the umask of L2_RQSTS, or "-" for an event that no rate uses.
std::string meaning_of(const std::string& name) {
  const KnownEvent event = identify_event(name);
  if (event.l2_umask) return fmt::format("{:#04x}", *event.l2_umask);
  return event.quantity ? std::string(analysis::name_of(*event.quantity)) : "-";
}

TEST(EventNames, HaveTheMeaningOfTheirCode) {
  std::istringstream table(R"(
    r3c cycles  cpu_core/cycles/ cycles  CPU_CLK_UNHALTED.THREAD cycles  r81d0 ALL_LOADS
    r40d1 HIT_LFB  r1d1 L1_HIT  r8d1 L1_MISS  r2d1 L2_HIT  r10d1 L2_MISS  r4d1 L3_HIT
    R20D1:k L3_MISS  MEM_LOAD_UOPS_RETIRED.LLC_MISS L3_MISS  cpu/mem_load_retired.l3_miss/ L3_MISS
    skl::MEM_LOAD_RETIRED:L3_MISS:u L3_MISS  cpu/umask=32,event=209,period=7/upp L3_MISS
    r40004a3 cycle_activity.cycles_no_execute  r08a2 resource_stalls.sb
    cycle_activity:stalls_l1d_miss cycle_activity.stalls_l1d_pending
    r1000248 l1d_pend_miss.fb_full  r248 l1d_pend_miss.fb_full
    r1b2 offcore_requests_buffer.sq_full
    r2124 0x21  r24 0x00  L2_RQSTS.PF_MISS 0x38  skl::L2_RQSTS:0x21 0x21  l2_rqsts.rfo_hit 0xc2
    l2_rqsts.l2_pf_miss 0x30
    / -  // -  :u -  cpu/ -  cpu// -  instructions instructions  r20d2 -  cpu_atom/cycles/ cycles  cpu_atom/r20d1/ -  l2_rqsts:0x121 -
    uncore_imc_0/event=0xd1,umask=0x20/ -  cpu/event=0xd1,umask=0x20,inv/ -  cycles:frob -
    cpu/cycles,cmask=2/ -  cpu/event=0x1d1,umask=0x20/ -  cpu/event=0xd1,umask=0x20/frob -)");
  for (std::string name, meaning; table >> name >> meaning;) {
    EXPECT_EQ(meaning_of(name), meaning) << name;
  }
  EXPECT_EQ(meaning_of(""), "-");
}

TEST(EventNames, OfAnotherUmaskInOtherTablesHaveARemark) {
  EXPECT_THAT(identify_event("l2_rqsts.rfo_hit").remark, HasSubstr("modified lines"));
  EXPECT_THAT(identify_event("l2_rqsts.l2_pf_miss").remark, HasSubstr("libpfm4"));
  EXPECT_THAT(identify_event("rc224").remark, IsEmpty());
}

struct Count {
  const char* name;
  const char* value;  ///< digits, or <not …>
  const char* percent;
};

const std::vector<Count> kCounts = {
    {"cpu-cycles", "6219060933176", "83.33"},
    {"cpu/event=0xd1,umask=0x20/u", "1234567", "100.00"},
    {"r2124", "999", "66.67"},
    {"page-faults", "49", "100.00"},
    {"cycle_activity.stalls_total", "<not counted>", "0.00"},
    {"resource_stalls.sb", "<not supported>", "0.00"},
};

std::string as_json() {
  std::string text = "# started on Thu Jan  1 00:00:00 1970\n\n";
  for (const auto& [name, value, percent] : kCounts) {
    const std::string number = value[0] == '<' ? value : std::string(value) + ".000000";
    text += fmt::format(
        R"({{"counter-value" : "{}", "unit" : "", "event" : "{}", "event-runtime" : 1000, )"
        R"("pcnt-running" : {}, "metric-value" : 0.000000, "metric-unit" : ""}})"
        "\n",
        number, name, percent);
  }
  return text;
}

std::string as_separated(const std::string& front = "") {
  std::string text = "# started on Thu Jan  1 00:00:00 1970\n\n";
  for (const auto& [name, value, percent] : kCounts) {
    text += fmt::format("{}{},,{},1000,{},,\n", front, value, name, percent);
  }
  return text;
}

void expect_counts(const Reading& reading, double times = 1) {
  ASSERT_THAT(reading.events, SizeIs(kCounts.size()));
  EXPECT_EQ(reading.other_lines, 0U);
  for (std::size_t i = 0; i < kCounts.size(); ++i) {
    const EventCount& event = reading.events[i];
    const std::string value = kCounts[i].value;
    EXPECT_EQ(event.name, kCounts[i].name);
    EXPECT_EQ(event.repeated_on_line, 0U);
    if (value == "<not counted>") {
      EXPECT_EQ(event.state, State::not_counted);
    } else if (value == "<not supported>") {
      EXPECT_EQ(event.state, State::not_supported);
    } else {
      EXPECT_EQ(event.state, State::counted);
      EXPECT_EQ(event.value, times * std::stod(value)) << event.name;
      EXPECT_EQ(event.running_percent, std::stod(kCounts[i].percent)) << event.name;
    }
  }
}

TEST(PerfStat, GivesTheSameInBothForms) {
  EXPECT_EQ(read(as_json()).form, Form::json);
  expect_counts(read(as_json()));
  EXPECT_EQ(read(as_separated()).form, Form::separated);
  expect_counts(read(as_separated()));
}

/// `text` with another separator, except within the events.
std::string separated_by(const std::string& separator, const std::string& text) {
  std::string changed;
  bool in_event = false;
  for (const char c : text) {
    if (c == '/') in_event = !in_event;
    changed += c == ',' && !in_event ? separator : std::string(1, c);
  }
  return changed;
}

TEST(PerfStat, FindsTheSeparator) {
  for (const std::string separator : {";", "|", "\t", "::", "@!"}) {
    SCOPED_TRACE(separator);
    const auto reading =
        read("it says: 3 lines; and 7|8 more\n" + separated_by(separator, as_separated()));
    EXPECT_EQ(reading.separator, separator);
    EXPECT_THAT(reading.events, SizeIs(kCounts.size()));
    expect_counts(read(separated_by(separator, as_separated("0.01,S0,2,"))));
  }
  EXPECT_EQ(read(as_separated()).separator, ",");
  std::string program;
  for (int i = 1; i < 20; ++i)
    program += fmt::format("{0}: a\n{0}) b\n{0} - c\n{0}{1}x\n", i,
                           std::string(static_cast<std::size_t>(i), '!'));
  EXPECT_EQ(read(program + "100;;cycles;1;100.00;;\n").separator, ";");
  const auto german = read("1,5;msec;task-clock;100;83,33;;\n");
  EXPECT_EQ(german.events.at(0).value, 1.5);
  EXPECT_EQ(german.events.at(0).running_percent, 83.33);
}

TEST(PerfStat, KeepsTheCountsOfCoreTypesApart) {
  const auto selection =
      select_counts(read("7,,cpu_core/cycles/,1,0.43,,\n30,,cpu_atom/cycles/u,1,99.57,,\n60,,"
                         "cpu_atom/instructions/u,1,99.57,,\n5,,cpu_core/r20d1/,1,0.43,,\n"));
  ASSERT_THAT(selection.cores, SizeIs(2));
  EXPECT_EQ(selection.cores[0].core_type, "cpu_atom");
  EXPECT_EQ(selection.cores[0].running_percent, 99.57);
  EXPECT_EQ(selection.cores[0].counts[Quantity::instructions], 60);
  EXPECT_EQ(selection.cores[0].counts[Quantity::cycles], 30);
  EXPECT_EQ(selection.cores[1].counts[Quantity::cycles], 7);
  EXPECT_EQ(selection.cores[1].counts[Quantity::l3_miss], 5);
  EXPECT_THAT(selection.warnings, Contains(HasSubstr("elsewhere than on their core type")));
  EXPECT_THAT(error_of("7,,cpu_core/cycles/,1,1.00,,\n8,,cpu_core/cycles/,1,1.00,,\n"),
              HasSubstr("a second count of cycles on cpu_core"));
}

TEST(PerfStat, TakesEventsWithoutACoreTypeForThoseOfCpuCore) {
  const std::string rest = "5,,r20d1,1,100.00,,\n7,,mem_load_retired.l1_hit,1,100.00,,\n";
  const auto hybrid = select_counts(read("7,,cpu_core/cycles/,1,0.43,,\n" + rest));
  ASSERT_THAT(hybrid.cores, SizeIs(1));
  EXPECT_EQ(hybrid.cores[0].core_type, "cpu_core");
  EXPECT_EQ(hybrid.cores[0].counts[Quantity::l3_miss], 5);
  EXPECT_EQ(hybrid.cores[0].counts[Quantity::l1_hit], 7);
  EXPECT_THAT(select_counts(read("7,,cpu_atom/cycles/,1,0.43,,\n" + rest)).cores, SizeIs(2));
}

TEST(PerfStat, UsesTheFirstOfSeveralCountsOfOneQuantity) {
  const auto first = [](const std::string& one, const std::string& other) {
    return select_counts(read(one + ",1,100.00,,\n" + other + ",1,100.00,,\n"));
  };
  for (const std::string other :
       {"50,,instructions:k", "50,,inst_retired.any:u", "50,,instructions"}) {
    const auto selection = first("100,,instructions:u", other);
    EXPECT_EQ(selection.cores[0].counts[Quantity::instructions], 100) << other;
    EXPECT_THAT(selection.remarks,
                ElementsAre("'" + other.substr(4) +
                            "' is a second count of instructions; rates use that of "
                            "'instructions:u'"));
    EXPECT_THAT(selection.warnings, IsEmpty()) << "one mode is used";
  }
  EXPECT_EQ(first("7,,r20d1", "8,,mem_load_retired.l3_miss").cores[0].counts[Quantity::l3_miss], 7);
  const auto l2 = first("7,,r2124", "8,,l2_rqsts.demand_data_rd_miss");
  EXPECT_EQ(l2.cores[0].counts.l2_requests.at(0x21), 7);
  EXPECT_THAT(l2.remarks, Contains(HasSubstr("L2_RQSTS with umask 0x21")));
  EXPECT_EQ(first("<not supported>,,cycles", "8,,r3c").cores[0].counts[Quantity::cycles], 8);
}

TEST(PerfStat, AddsUpIntervalsAndCpus) {
  expect_counts(read(as_separated("     0.010095109,") + as_separated("0.02,")), 2);
  expect_counts(read(as_separated("CPU0,") + as_separated("CPU1,")), 2);
  expect_counts(
      read(as_separated("0.01,S0,2,") + as_separated("0.01,S1,2,") + as_separated("0.02,S0,2,")),
      3);
  const auto json = [](const char* scope) {
    return fmt::format(R"({{{}, "counter-value" : "5.0", "unit" : "", "event" : "cycles"}})",
                       scope) +
           "\n";
  };
  for (const auto& [one, other] : {std::pair{R"("cpu" : "0")", R"("cpu" : "1")"},
                                   {R"("interval" : 0.1)", R"("interval" : 0.2)"},
                                   {R"("socket" : "S0")", R"("socket" : "S1")"},
                                   {R"("thread" : "a-1")", R"("thread" : "a-2")"}}) {
    const auto reading = read(json(one) + json(other));
    ASSERT_THAT(reading.events, SizeIs(1));
    EXPECT_EQ(reading.events[0].value, 10);
    EXPECT_EQ(reading.events[0].rows, 2U);
  }
}

/// Texts, and what the messages contain with which they are refused.
void expect_refused(const std::vector<std::pair<std::string, const char*>>& texts) {
  for (const auto& [text, message] : texts) EXPECT_THAT(error_of(text), HasSubstr(message)) << text;
}

TEST(PerfStat, RefusesWhatCannotBeSummed) {
  const std::string twice = "7,,cycles,100,100.00,,\n8,,cycles,100,100.00,,\n";
  expect_refused({{twice, "counts: line 2: a second count of cycles: 'cycles', as on line 1"},
                  {twice, "cannot be summed"},
                  {"0.1,7,,cycles,1,100.00,,\nsummary,7,,cycles,1,100.00,,\n", "--summary"},
                  {"0.1,7,,cycles,1,100.00,,\n7,,cycles,1,100.00,,\n",
                   "line 2: a count of 'cycles' that is of no interval"},
                  {"7,,cycles,mine,1,100.00,,\n", "control group 'mine'"},
                  {R"({"counter-value" : "7", "event" : "cycles", "cgroup" : "mine"})",
                   "control group 'mine'"}});
  EXPECT_EQ(error_of("7,,page-faults,1,100.00,,\n8,,page-faults,1,100.00,,\n"), "no error")
      << "two counts of an event that no rate uses";
}

TEST(PerfStat, RefusesWhatIsDamaged) {
  const auto recording = "PERFILE2h\0\0\0 7 cycles\n\x01 8 cycles\n9\x02 \x7f\n"s;
  EXPECT_THAT(error_of(recording), HasSubstr("no count of perf stat"));
  for (const char* text : {"", "\n\n", "# started on\n", "Hello, world\n", "{}\n", "[1,2]\n",
                           " Performance counter stats for 'x':\n\n 7 cycles\n",
                           "nan,,cycles,1,100.00,,\n", "7;,cycles;1,100.00;,\n"}) {
    EXPECT_THAT(error_of(text), HasSubstr("no count of perf stat")) << text;
  }
  expect_refused({{R"({"counter-value" : "7", "event" : )", "line 1"},
                  {R"({"counter-value" : "7", "event" : )", "no JSON object"},
                  {R"({"counter-value" : 1e999, "event" : "cycles"})", "no JSON object"},
                  {R"({"counter-value" : null, "event" : "cycles"})", "\"counter-value\""},
                  {R"({"counter-value" : "7"})", "\"event\""},
                  {R"({"counter-value" : "7", "event" : 5})", "a string"},
                  {R"({"counter-value" : [7], "event" : "cycles"})", "a string"},
                  {R"({"counter-value" : "seven", "event" : "cycles"})", "'seven'"},
                  {"-7,,cycles,1,100.00,,\n", "expected 0 to"},
                  {"1e30,,cycles,1,100.00,,\n", "expected 0 to"},
                  {"7,,cycles,1,170.00,,\n", "expected 0% to 100%"},
                  {std::string(70'000, 'x'), "a line of 70000 bytes"}});
  EXPECT_THAT(error_of(std::string(kMostBytes + 1, '\n')), HasSubstr("more than"));
  std::string many;
  for (int i = 0; i < 5000; ++i) many += fmt::format("7,,event{},1,100.00,,\n", i);
  EXPECT_THAT(error_of(many), HasSubstr("at most 4096"));
}

TEST(PerfStat, LeavesOutTheLinesOfTheCountedProgram) {
  const auto program =
      "it says: hello, world\n{\"log\": \"begin\"}\n{ braces }\n"
      "9,,\0cycles,1,100.00,,\n9,,cy\x1b[1mcles,1,100.00,,\n"s;
  const std::string metrics =
      ",,,,,,1.5,insn per cycle\n{\"metric-value\" : \"1\", \"metric-unit\" : \"x\"}\n";
  for (const auto& [counts, form] :
       {std::pair{as_json(), Form::json}, {as_separated(), Form::separated}}) {
    const auto reading = read(program + counts + metrics);
    EXPECT_EQ(reading.form, form);
    EXPECT_THAT(reading.events, SizeIs(kCounts.size()));
    EXPECT_EQ(reading.first_other_line, 1U);
    EXPECT_THAT(select_counts(reading).remarks, Contains(HasSubstr("5 lines are no counts")));
  }
}

TEST(PerfStat, ReadsMetricsWithEachScopeAndSeparator) {
  for (const std::string separator : {",", ";", "\t", "::"}) {
    SCOPED_TRACE(separator);
    for (const std::string scope : {"", "S0,8,", "0.01,", "0.01,S0,8,"}) {
      const auto reading = read(separated_by(
          separator, scope + "7,,cycles,1,100.00,,\n" + scope + ",,,,,0.5,insn per cycle\n"));
      EXPECT_EQ(reading.events.at(0).value, 7);
      EXPECT_EQ(reading.other_lines, 0U) << scope;
    }
  }
}

TEST(PerfStat, ReportsWhatWasMultiplexedOrNotCounted) {
  const auto selection = select_counts(read(as_separated()));
  EXPECT_EQ(selection.cores[0].counts[Quantity::cycles], 6219060933176.0);
  EXPECT_FALSE(selection.cores[0].counts[Quantity::cycles_no_execute]);
  EXPECT_THAT(selection.warnings, Contains(HasSubstr("'cpu-cycles' (83.33%), 'r2124' (66.67%)")));
  EXPECT_THAT(selection.warnings,
              Contains(HasSubstr("'cycle_activity.stalls_total' was not counted")));
  EXPECT_THAT(selection.warnings, Contains(HasSubstr("'resource_stalls.sb' is not supported")));
  EXPECT_THAT(selection.warnings, Contains(HasSubstr("different modes")));
  EXPECT_THAT(selection.warnings, Contains(HasSubstr("SKL128")));
  EXPECT_THAT(selection.warnings, Each(Not(HasSubstr("page-faults"))));

  const auto part =
      select_counts(read("0.1,7,,cycles,1,100.00,,\n0.2,<not counted>,,cycles,0,"
                         "100.00,,\n"));
  EXPECT_EQ(part.cores[0].counts[Quantity::cycles], 7.0);
  EXPECT_THAT(part.warnings, Contains(HasSubstr("not counted in 1 of 2")));
}

TEST(PerfStat, ReportsWhichUmaskCountsNothing) {
  const auto selection = select_counts(read("0,,r0424,1,100.00,,\n0,,re024,1,100.00,,\n"));
  EXPECT_THAT(selection.remarks, Contains(HasSubstr("'r0424' has no result")));
  EXPECT_THAT(selection.remarks, Contains(HasSubstr("'re024' has no origin")));
}

}  // namespace
}  // namespace skid::perfstat
