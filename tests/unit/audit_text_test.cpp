// The text of an audit: whole, and as one screen.
#include "analysis/not_judged.h"
#include "analysis/share.h"
#include "src/audit/audit.h"
#include "src/audit/branch_records.h"
#include "src/audit/contradictions.h"
#include "src/audit/file_judge.h"
#include "src/audit/findings.h"
#include "src/audit/rule.h"
#include "src/output/audit/audit.h"
#include "src/output/page.h"
#include "tests/support/golden.h"
#include "tests/support/prelude.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <linux/perf_event.h>

namespace skid::audit {
namespace {

using events::Verdict;

/// One event of a recording, with impossible samples at one instruction.
EventAudit audited_event(int number, std::uint64_t impossible) {
  EventAudit event;
  event.identity.label = "event-" + std::to_string(number);
  event.identity.requested = event.identity.label + ":pp";
  event.identity.recorded = "r20d1:pp";
  event.catalogue = "libpfm4, skl";
  event.level = 2;
  event.rule = Rule::sampled;
  event.samples = 1100;
  event.judged = 1000;
  event.not_judged[static_cast<std::size_t>(NotJudged::kernel)] = 100;
  event.wrong = event.impossible = analysis::wilson_interval(impossible, 1000);
  event.impossible_functions = 1;
  event.impossible_instructions = 3;
  event.functions.push_back({"/bin/prog", "function" + std::to_string(number), 1000, impossible});
  InstructionFinding instruction;
  instruction.module = "/bin/prog";
  instruction.function = event.functions.back().function;
  instruction.samples = impossible;
  instruction.text = "nop";
  instruction.verdict = Verdict::never;
  event.instructions.push_back(instruction);
  return event;
}

TEST(AuditDetails, ContainEachEventAndRecording) {
  Audit audit;
  audit.file = "first.data";
  audit.cpu.model_name = "a CPU";
  audit.kernel = "6.1";
  audit.remarks = {"a file is missing"};
  audit.events = {audited_event(1, 30)};
  Audit other = audit;
  other.file = "second.data";
  other.kernel = "6.2";
  test::expect_golden("audit_details.txt", output::audit_text({audit, other}, {.width = 80}));
}

TEST(AuditScreen, ExplainsEachMissingFileOnce) {
  Audit audit;
  audit.events = {audited_event(1, 0)};
  for (const char* name : {"/a", "/b", "/c", "/d"}) {
    audit.remarks.push_back(std::string(name) + ": no such file");
    audit.missing.push_back({name, "abab", audit.remarks.back(), 1000});
  }
  audit.remarks.emplace_back("/e: taken as it is now");
  const auto text = output::audit_text({audit}, {.width = 80, .details = false});
  EXPECT_THAT(text,
              HasSubstr("4,000 samples are in 4 files whose code is missing: /a: no such file\n"
                        "           /b: no such file\n           /c: no such file\n"
                        "           and 1 file more: --details\n           On the recorded"));
  EXPECT_THAT(text, HasSubstr("warning    /e: taken as it is now\n"));
  EXPECT_THAT(text, Not(HasSubstr("warning    /a")));
  EXPECT_THAT(output::audit_text({audit}, {.width = 80}),
              HasSubstr("           /d: no such file\n"));
}

/// An audit of one event whose 100 samples are not judged.
Audit not_judged(NotJudged reason) {
  Audit audit;
  EventAudit& event = audit.events.emplace_back();
  event.samples = event.not_judged[static_cast<std::size_t>(reason)] = 100;
  return audit;
}

TEST(AuditScreen, AdvisesOnTimersWhatTheCpuHas) {
  Audit audit = not_judged(NotJudged::timer);
  audit.cpu.arch = "x86_64";
  EXPECT_THAT(output::why_none_is_judged({audit}),
              HasSubstr("an event of the CPU ('skidscan doctor'"));
  audit.cpu.arch = "aarch64";
  EXPECT_THAT(output::why_none_is_judged({audit}),
              AllOf(HasSubstr("sample with SPE"), Not(HasSubstr(":pp"))));
}

TEST(AuditScreen, AdvisesNoPreciseLevelThatWasRecordedToo) {
  Audit audit = not_judged(NotJudged::level_0);
  audit.events[0].identity.config = 0x81d0;
  audit.events[0].advice = "record it with :pp";
  Audit precise;
  EventAudit& event = precise.events.emplace_back();
  event.identity.config = 0x81d0;
  event.level = 2;
  event.samples = event.judged = event.wrong.total = 50;
  const auto answer = [&] { return output::audit_answer({audit, precise}); };
  EXPECT_THAT(answer(), HasSubstr("level 0: arbitrary skid; the event's samples at pp are judged"));
  precise.events[0].identity.config = 0x82d0;
  EXPECT_THAT(answer(), HasSubstr("level 0: arbitrary skid; record it with :pp"));
}

TEST(AuditScreen, AdvisesToCopyARecordingThatWasCutOff) {
  Audit audit = not_judged(NotJudged::unrecorded_cpu);
  EXPECT_THAT(output::audit_answer({audit}), HasSubstr("a newer perf"));
  audit.read_in_part = true;
  EXPECT_THAT(output::audit_answer({audit}),
              AllOf(HasSubstr("copy the whole file"), Not(HasSubstr("a newer perf"))));
}

TEST(AuditScreen, AnswersWithTheWorstOfAllThatWasJudged) {
  Audit audit = not_judged(NotJudged::level_0);
  audit.events[0].advice = "record it with :pp";
  const auto first_line = [&audit] {
    const std::string text = output::audit_text({audit}, {.width = 1000, .details = false});
    return text.substr(0, text.find('\n'));
  };
  const std::string none =
      "none of 100 samples could be judged: level 0: arbitrary skid; record it with :pp";
  EXPECT_EQ(first_line(), none);
  auto& records = audit.events[0].branch_records.emplace();
  EXPECT_EQ(first_line(), none);
  records.stacks = records.empty_stacks = 20;
  EXPECT_THAT(first_line(),
              AllOf(StartsWith("all 20 branch stacks are empty: "), EndsWith("; " + none)));
  records.empty_stacks = 0;
  records.records = 3200;
  records.not_judged[static_cast<std::size_t>(BranchUnjudged::guest)] = 200;
  records.not_judged[static_cast<std::size_t>(BranchUnjudged::no_file)] = 3000;
  EXPECT_EQ(first_line(),
            "none of 3,200 branch records could be judged: the file is missing, of another build, "
            "or has no code there; " +
                none);
  records.not_judged = {};
  records.judged = 3200;
  EXPECT_EQ(first_line(), "0 of 3,200 judged branch records (0%) are impossible; " + none);
  records.impossible = analysis::wilson_interval(1088, 3200);
  const std::string branches = "1,088 of 3,200 judged branch records (34.00%) are impossible";
  EXPECT_EQ(first_line(), branches + "; " + none);
  audit.events[0].data_source = Contradictions{.samples = 90, .share = {}};
  audit.events[0].data_source->share = analysis::wilson_interval(90, 90);
  EXPECT_EQ(first_line(),
            "90 of 90 judged samples (100%) are at instructions that do not load or store as in "
            "their data source; " +
                branches +
                "; no sample is judged by its event: level 0: arbitrary skid; record it with :pp");
  audit.events[0].wrong = analysis::wilson_interval(0, 40);
  EXPECT_THAT(first_line(), HasSubstr("; 60 samples are not judged by their event: level 0"));
}

TEST(AuditScreen, NamesNoPreciseLevelThatACpuMayNotHave) {
  // AMD's CPUs record particular instructions by IBS alone, which 'skidscan events --for' prints.
  EXPECT_EQ(
      output::audit_answer({not_judged(NotJudged::level_0)}),
      "none of 100 samples could be judged: level 0: arbitrary skid; record an event of "
      "particular instructions precisely ('skidscan events --for WHAT --cpu CPU' prints how)");
}

TEST(AuditScreen, NamesNoCommandForEventsThatTheCatalogueOfACpuCannotHave) {
  Audit audit = not_judged(NotJudged::unknown_cause);
  EXPECT_THAT(output::audit_answer({audit}), HasSubstr("'skidscan events EVENT --cpu CPU'"));
  for (const std::uint32_t type :
       {PERF_TYPE_SOFTWARE, PERF_TYPE_TRACEPOINT, PERF_TYPE_BREAKPOINT}) {
    audit.events[0].identity.type = type;
    EXPECT_THAT(output::audit_answer({audit}), EndsWith("can cause the event is not known"));
  }
}

TEST(AuditScreen, NamesTheMissingFileOfTaggedRecordsIfThereAreRecords) {
  Audit audit = not_judged(NotJudged::every_instruction);
  audit.missing = {{.file = "/a"}};
  auto& records = audit.events[0].ibs_record.emplace();
  records.without = 100;
  EXPECT_THAT(output::audit_answer({audit}), HasSubstr("any instruction can cause this event"));
  records.samples = 100;
  EXPECT_THAT(output::audit_answer({audit}),
              AllOf(HasSubstr("the binary is missing"), HasSubstr("--binary FILE")));
}

TEST(AuditScreen, StatesADamageOnce) {
  Audit audit;
  audit.read_in_part = true;
  audit.no_samples = "no samples were read: the recording is damaged";
  EXPECT_EQ(output::audit_answer({audit}), audit.no_samples);
}

TEST(AuditScreen, NamesTheMostFrequentReasonOfSeveral) {
  Audit audit;
  EventAudit event;
  event.samples = 100;
  event.not_judged[static_cast<std::size_t>(NotJudged::timer)] = 70;
  event.not_judged[static_cast<std::size_t>(NotJudged::kernel)] = 30;
  audit.events = {event};
  EXPECT_THAT(output::why_none_is_judged({audit}),
              HasSubstr("could be judged; the most frequent reason: a timer samples any"));
}

TEST(AuditScreen, AnswersFirstAndListsTheWorst) {
  Audit audit;
  audit.file = "perf.data";
  audit.cpu.model_name = "a CPU\x1b[31m";
  audit.kernel = "6.1";
  audit.synthetic = true;
  audit.remarks = {"a file is missing"};
  for (int i = 0; i < 40; ++i) {
    audit.events.push_back(audited_event(i, static_cast<std::uint64_t>(i)));
  }
  const auto text = output::audit_text({audit, audit}, {.width = 80, .details = false});
  EXPECT_THAT(
      text,
      StartsWith("1,560 of 80,000 judged samples (1.95%) are at instructions that "
                 "cannot cause\ntheir event; 8,000 samples are not judged: "
                 "in kernel mode, whose code the kernel\npatches; record user mode alone (:u)\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("SYNTHETIC"), HasSubstr("warning    a file is missing"),
                          HasSubstr("64 more events, none of them worse"),
                          HasSubstr("function39+0x0 (prog)"), HasSubstr("8,000  "),
                          HasSubstr("a CPU\\x1b[31m"), Not(HasSubstr("function20"))));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 60);
}

}  // namespace
}  // namespace skid::audit
