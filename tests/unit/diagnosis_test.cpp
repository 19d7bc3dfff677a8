// What can be sampled on machines that are not here: those of tests/machines, which are written by
// hand from the kernel's documentation and have texts beside them, and machines that differ from
// them in something. Their kernels are answers that a test states.
#include "src/machine/diagnosis.h"

#include "src/commands/doctor.h"
#include "src/commands/output_options.h"
#include "src/events/catalogue.h"
#include "src/events/kernel_refusal.h"
#include "src/locate/symbolizer.h"
#include "src/machine/event_attempt.h"
#include "src/machine/sampled_event.h"
#include "src/machine/sampling_support.h"
#include "src/record/plan.h"
#include "src/support/error.h"
#include "src/support/text.h"
#include "tests/support/event_tables.h"
#include "tests/support/facts.h"
#include "tests/support/golden.h"
#include "tests/support/prelude.h"
#include "tests/support/text.h"
#include "tests/support/variable.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <nlohmann/json.hpp>

namespace skid::machine {
namespace {

/// Of tests/machines.
SamplingSupport tree(const std::string& name) {
  SamplingSupport support = read_sampling_support(SKIDSCAN_TEST_DATA "/machines/" + name);
  support.perf = parse_perf_version("perf version 6.1.76");
  return support;
}

Diagnosis diagnose(const SamplingSupport& support, const EventTrial& trial) {
  const auto catalogue = events::find_catalogue(support.machine);
  return record::diagnose(support, catalogue ? &*catalogue : nullptr, trial);
}

constexpr std::uint64_t kOfTransactions =
    PERF_SAMPLE_BRANCH_ABORT_TX | PERF_SAMPLE_BRANCH_IN_TX | PERF_SAMPLE_BRANCH_NO_TX;

bool is_hardware(const EventAttempt& attempt) {
  return attempt.type != PERF_TYPE_SOFTWARE && attempt.type != PERF_TYPE_BREAKPOINT;
}

/// A kernel that takes all events but precise levels of the CPU's above `highest`.
EventTrial levels_up_to(int highest) {
  return [highest](const EventAttempt& attempt) {
    return is_hardware(attempt) && attempt.precise_ip > highest ? EOPNOTSUPP : kAccepted;
  };
}

/// The kernel of a machine of tests/machines.
EventTrial kernel_of(const std::string& name) {
  return [name](const EventAttempt& attempt) {
    constexpr std::uint32_t kIbsOp = 9;
    const bool user_only = name == "skylake" || name == "zen4-user";
    if (name == "container" || (user_only && !attempt.user_only)) return EACCES;
    if (name == "neoverse-n1" && attempt.branch_stack) return EOPNOTSUPP;
    constexpr std::uint64_t kNotOfZen4 = PERF_SAMPLE_BRANCH_CALL_STACK | kOfTransactions;
    if (name.starts_with("zen4") && (attempt.branch_filter & kNotOfZen4) != 0) return EOPNOTSUPP;
    const bool by_ibs = name.starts_with("zen4") && is_hardware(attempt) &&
                        attempt.type != kIbsOp && attempt.precise_ip > 0;
    if (by_ibs && (attempt.precise_ip == 3 || attempt.branch_stack)) return EOPNOTSUPP;
    return by_ibs && attempt.user_only ? EINVAL : kAccepted;
  };
}

Diagnosis diagnose(const std::string& name) {
  return diagnose(tree(name), kernel_of(name));
}

/// Why the kernel refuses an event with an error.
std::string why(const SamplingSupport& support, EventAttempt attempt, int error) {
  if (attempt.type == 0) attempt.type = PERF_TYPE_RAW;
  return events::explanation_on(support)(attempt, error).what;
}

/// Skylake where all may sample the kernel.
SamplingSupport open_skylake() {
  SamplingSupport support = tree("skylake");
  support.machine.perf_event_paranoid = 1;
  return support;
}

/// "cycles 0123 user and kernel": an event, its levels, its modes.
std::vector<std::string> events_of(const Diagnosis& diagnosis) {
  return test::mapped(diagnosis.events, [](const SampledEvent& event) {
    return fmt::format("{} {} {}", event.name, fmt::join(event.levels, ""), name_of(event.modes));
  });
}

/// "nmi_watchdog: sysctl kernel.nmi_watchdog=0": a problem and its remedy.
std::vector<std::string> problems_of(const Diagnosis& diagnosis) {
  return test::mapped(diagnosis.problems,
                      [](const Problem& problem) { return problem.id + ": " + problem.remedy; });
}

/// What doctor prints, and its exit status.
std::pair<std::string, ExitStatus> printed(const SamplingSupport& support, const EventTrial& kernel,
                                           int columns, const commands::OutputOptions& options) {
  const test::Variable width("COLUMNS", std::to_string(columns));
  ::testing::internal::CaptureStdout();
  const ExitStatus status = commands::print_diagnosis(support, kernel, options);
  return {::testing::internal::GetCapturedStdout(), status};
}

/// What `skidscan doctor --details --ascii` prints on a machine, its exit status, and the names of
/// all problems and events.
std::string doctor_text(const std::string& name) {
  const auto [output, status] =
      printed(tree(name), kernel_of(name), 160, {.ascii = true, .details = true});
  // Versions of libpfm4 have more and more events.
  const std::regex counts("[0-9]+ of [0-9]+ events are precise \\(libpfm4");
  std::string text = std::regex_replace(output, counts, "some events are precise (libpfm4");
  text += fmt::format("\nexit status {}\n", static_cast<int>(status));
  const Diagnosis diagnosis = diagnose(name);
  text += "problems:";
  for (const Problem& problem : diagnosis.problems) text += " " + problem.id;
  text += "\nevents:";
  for (const SampledEvent& event : diagnosis.events) text += " " + event.name;
  return text + "\n";
}

void expect_diagnosis_of_text(const std::string& name) {
  test::expect_golden(name + ".doctor.txt", doctor_text(name), "machines");
}

TEST(MachineTrees, AreDiagnosedAsInTheirTexts) {
  for (const char* name : {"skylake", "alder-lake", "vm-without-pmu", "container"}) {
    expect_diagnosis_of_text(name);
  }
  const Diagnosis nothing =
      diagnose(tree("no such directory"), [](const EventAttempt&) { return ENOSYS; });
  EXPECT_EQ(nothing.status, ExitStatus::failed);
  EXPECT_THAT(problems_of(nothing), ElementsAre(StartsWith("no_perf_events: ")));
}

TEST(MachineTrees, WithEventsOfLibpfm4AreDiagnosedAsInTheirTexts) {
  SKIP_WITHOUT("x86-64");
  for (const char* name : {"zen4", "zen4-user", "neoverse-n1"}) expect_diagnosis_of_text(name);
}

TEST(Doctor, PrintsOneScreen) {
  SKIP_WITHOUT("x86-64");
  for (const char* name :
       {"skylake", "alder-lake", "zen4", "neoverse-n1", "vm-without-pmu", "container"}) {
    for (const bool details : {false, true}) {
      auto text = printed(tree(name), kernel_of(name), 80, {.ascii = true, .details = details});
      int lines = 0;
      for (std::string_view rest = text.first; !rest.empty(); ++lines) {
        const std::string_view line = take_until('\n', rest);
        EXPECT_LE(line.size(), 80U) << name << ": " << line;
        EXPECT_FALSE(line.ends_with(' ')) << name << ": " << line;
      }
      EXPECT_LE(lines, details ? 70 : 40) << name;
    }
  }
}

TEST(Doctor, PrintsAsJsonWhatItFound) {
  SKIP_WITHOUT("x86-64");
  const auto document = [](const char* name) {
    return nlohmann::json::parse(
        printed(tree(name), kernel_of(name), 80, {.format = commands::Format::json}).first);
  };
  const auto zen4 = document("zen4");
  EXPECT_EQ(zen4["schema"], "skidscan.doctor/1");
  EXPECT_EQ(zen4["cpu"]["midr"], nullptr);
  EXPECT_EQ(zen4["settings"]["perf_event_max_sample_rate"], 8000);
  EXPECT_EQ(zen4["events"][5]["name"], "r076");
  EXPECT_EQ(zen4["events"][5]["answers"][3],
            nlohmann::json::parse(R"({"level": 3, "acceptance": "refused", "remedy": null,
                "error": "operation not supported", "reason": "IBS has no level 3"})"));
  EXPECT_EQ(zen4["cpu_events"]["default_set"][1]["levels"], nlohmann::json({0, 1, 2}));
  const auto neoverse = document("neoverse-n1");
  EXPECT_EQ(neoverse["cpu"]["core_name"], "Neoverse N1 r3p1");
  EXPECT_EQ(neoverse["pmus"][0]["caps"]["count_size"], "12");
  const auto container = document("container");
  EXPECT_EQ(container["exit_status"], 1);
  EXPECT_EQ(container["rights"]["seccomp_filter"], true);
  EXPECT_EQ(container["events"][4]["remark"], "not permitted");
}

TEST(Doctor, EscapesNames) {
  SamplingSupport support = tree("skylake");
  support.machine.kernel = "6.1\x1b[2J";
  find_by(support.pmus, &Pmu::name, "cpu")->caps["pmu_name"] = "\x1b]0;x\a\n\nsky";
  support.pmus.push_back({.name = "evil\x1b[31m\npmu", .type = 99, .core = true});
  for (const auto format : {commands::Format::text, commands::Format::json}) {
    const auto text =
        printed(support, kernel_of("skylake"), 80, {.format = format, .details = true}).first;
    EXPECT_THAT(text, HasSubstr(format == commands::Format::json ? "evil\\u001b[31m\\npmu"
                                                                 : "evil\\x1b[31m\\x0apmu"));
    EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\a")), Not(HasSubstr("\npmu"))));
  }
}

TEST(MachineTrees, HavePmusWithFormatsAndMasks) {
  const auto pmu = [](const char* name, const char* pmu) {
    return *find_pmu(tree(name).pmus, pmu);
  };
  EXPECT_THAT(pmu("skylake", "cpu").formats, Contains("offcore_rsp"));
  EXPECT_THAT(pmu("skylake", "uncore_cbox_3").cpumask, ElementsAre(0));
  EXPECT_THAT(pmu("zen4", "ibs_op").formats, ElementsAre("cnt_ctl", "l3missonly"));
  EXPECT_EQ(pmu("neoverse-n1", "arm_spe_0").cpumask.size(), 80U);
}

TEST(AlderLake, ReportsPerformanceCoresOutsideTheAffinity) {
  SamplingSupport support = tree("alder-lake");
  support.machine.allowed_cpus = {13, 14};
  EXPECT_THAT(problems_of(diagnose(support, kernel_of("alder-lake"))),
              ElementsAre("cpus_not_allowed: taskset -c 0 skidscan record",
                          "nmi_watchdog: sysctl kernel.nmi_watchdog=0"));
}

TEST(KernelSymbols, AreHiddenByTheRulesOfTheKernel) {
  SamplingSupport support = tree("zen4");
  const auto remedy = [&](std::uint64_t capabilities, int paranoid, int restriction) {
    support.rights.effective_capabilities = capabilities;
    support.machine.perf_event_paranoid = paranoid;
    support.kptr_restrict = restriction;
    const Diagnosis diagnosis = diagnose(support, [&](const EventAttempt& attempt) {
      return capabilities == 0 && !attempt.user_only ? EACCES : kAccepted;
    });
    const Problem* problem = find_by(diagnosis.problems, &Problem::id, "kernel_symbols_hidden");
    return problem == nullptr ? "none needed" : problem->remedy;
  };
  const std::uint64_t perfmon = std::uint64_t{1} << 38;  // linux/capability.h
  const std::uint64_t syslog = std::uint64_t{1} << 34;
  EXPECT_EQ(remedy(perfmon | syslog, 2, 1), "none needed");
  EXPECT_EQ(remedy(perfmon | syslog, 2, 2), "sysctl kernel.kptr_restrict=0");
  EXPECT_EQ(remedy(perfmon, 1, 0), "none needed");
  EXPECT_EQ(remedy(perfmon, 1, 1), "sysctl kernel.kptr_restrict=0");
  EXPECT_EQ(remedy(perfmon, 2, 0), "sysctl kernel.perf_event_paranoid=1")
      << "what docker run --cap-add PERFMON gives";
  EXPECT_EQ(remedy(perfmon, 2, 1), "sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
  EXPECT_EQ(remedy(0, 2, 2), "none needed") << "the kernel is not sampled";
}

TEST(Zen4, HasNoPreciseLevelWithoutPermissionToSampleTheKernel) {
  SamplingSupport support = tree("zen4");
  support.rights.effective_capabilities = 0;
  support.machine.perf_event_paranoid = 2;
  const Diagnosis diagnosis = diagnose(support, kernel_of("zen4-user"));
  EXPECT_THAT(events_of(diagnosis), Contains("cycles 0 user"));
  EXPECT_THAT(problems_of(diagnosis),
              Contains("ibs_needs_kernel: sysctl kernel.perf_event_paranoid=1"));
}

TEST(Zen4, SamplesOperationsOfUserModeByTheKernelsFilter) {
  EXPECT_THAT(events_of(diagnose("zen4-user")),
              AllOf(Contains("cycles 0 user"), Contains("ibs_op/swfilt=1/u 0 user")));
  const SamplingSupport support = tree("zen4-user");
  EventAttempt operations{.type = support.machine.ibs_op->type, .user_only = true};
  EXPECT_THAT(why(support, operations, EINVAL), HasSubstr("only with swfilt"));
  operations.config2 = 1;
  EXPECT_EQ(why(support, operations, EINVAL), "invalid argument");
}

TEST(Zen6, LeavesTheKernelOutInHardware) {
  SamplingSupport support = tree("zen4-user");
  support.machine.cpu.family = 0x1a;
  support.machine.cpu.model = 0x50;
  const EventAttempt cycles{
      .type = PERF_TYPE_RAW, .config = 0x76, .precise_ip = 2, .user_only = true};
  EXPECT_THAT(why(support, cycles, EINVAL), HasSubstr("only with swfilt"))
      << "Linux 6.14 does not know the filter";
  support.machine.kernel = "7.2.0";
  EXPECT_EQ(why(support, cycles, EINVAL), "invalid argument");
}

TEST(Zen4, WithoutIbsHasNoPreciseLevel) {
  SamplingSupport support = tree("zen4");
  std::erase_if(support.pmus, is_amd_ibs);
  const Diagnosis diagnosis = diagnose(support, levels_up_to(0));
  EXPECT_THAT(diagnosis.events.back().remark, HasSubstr("ibs_op, which samples precise levels,"));
  EXPECT_THAT(events_of(diagnosis), Contains("cycles 0 user and kernel"));
  EXPECT_THAT(events_of(diagnosis), Contains("r076 0 user and kernel"));
  EXPECT_THAT(problems_of(diagnosis),
              Contains("no_precise_level: switch IBS on in the firmware setup, then see: dmesg | "
                       "grep -i ibs"));
}

TEST(VmWithoutPmu, HasARemedyForEachHypervisor) {
  SamplingSupport support = tree("vm-without-pmu");
  std::vector<std::string> remedies;
  for (const char* name : {"KVM", "VMware", "Hyper-V", "Xen", "Amazon EC2", "bhyve"}) {
    support.machine.cpu.hypervisor = name;
    remedies.push_back(diagnose(support, kernel_of("vm-without-pmu")).problems.at(0).remedy);
  }
  support.machine.cpu.hypervisor = "KVM";
  support.machine.cpu.vendor = "GenuineIntel";
  support.machine.cpu.family = 6;
  support.machine.cpu.model = 151;  // Alder Lake
  remedies.push_back(diagnose(support, kernel_of("vm-without-pmu")).problems.at(0).remedy);
  EXPECT_THAT(remedies.back(), Not(HasSubstr("pmu=on")));
  support.machine.cpu.hypervisor = std::nullopt;
  remedies.push_back(diagnose(support, kernel_of("vm-without-pmu")).problems.at(0).remedy);
  std::sort(remedies.begin(), remedies.end());
  EXPECT_EQ(std::unique(remedies.begin(), remedies.end()), remedies.end());
}

TEST(Container, IsClosedToCapPerfmonByDebiansSetting) {
  SamplingSupport support = tree("container");
  support.rights.effective_capabilities = std::uint64_t{1} << ProcessRights::kPerfmon;
  const Diagnosis closed = diagnose(support, kernel_of("container"));
  EXPECT_EQ(closed.status, ExitStatus::failed);
  EXPECT_EQ(closed.problems.at(0).id, "no_permission");
}

TEST(Trial, OverridesTheLevelsOfSysfs) {
  const SamplingSupport support = open_skylake();
  const Diagnosis diagnosis = diagnose(support, levels_up_to(1));
  EXPECT_THAT(events_of(diagnosis), Contains("cycles:P 01 user and kernel"));
  EXPECT_THAT(events_of(diagnosis), Contains("access 0123 user and kernel"));
  EXPECT_THAT(problems_of(diagnosis),
              ElementsAre("level_refused: ask for no more: skidscan record -p none,p",
                          "nmi_watchdog: sudo sysctl kernel.nmi_watchdog=0"));
}

TEST(Trial, OverridesThePmuOfSysfs) {
  const Diagnosis diagnosis = diagnose(open_skylake(), [](const EventAttempt& attempt) {
    return is_hardware(attempt) ? ENOENT : 0;
  });
  EXPECT_THAT(events_of(diagnosis), Contains("cycles:P  none"));
  EXPECT_EQ(diagnosis.events[4].refusal, ENOENT);
  EXPECT_EQ(diagnosis.status, ExitStatus::builtin_events_only);
  ASSERT_EQ(diagnosis.problems.size(), 1U);  // the watchdog prevents nothing here
  EXPECT_EQ(diagnosis.problems[0].id, "event_refused");
  EXPECT_THAT(diagnosis.problems[0].what, StartsWith("cpu: the kernel refuses to open "));
  EXPECT_THAT(diagnosis.problems[0].what,
              EndsWith("cycles:P for sampling: no such file or directory"));
}

TEST(Trial, FindsUserModeIfTheKernelIsNotPermitted) {
  std::vector<EventAttempt> attempts;
  const Diagnosis diagnosis = diagnose(tree("skylake"), [&](const EventAttempt& attempt) {
    attempts.push_back(attempt);
    return attempt.user_only ? 0 : EACCES;
  });
  EXPECT_THAT(events_of(diagnosis), Contains("cycles:P 0123 user"));
  EXPECT_EQ(diagnosis.problems.at(0).id, "user_only");
  ASSERT_GE(attempts.size(), 5U);
  EXPECT_EQ(attempts[0].type, static_cast<std::uint32_t>(PERF_TYPE_BREAKPOINT));
  EXPECT_EQ(attempts[0].breakpoint, static_cast<std::uint32_t>(HW_BREAKPOINT_RW));
  EXPECT_EQ(attempts[4].precise_ip, 3);
  EXPECT_TRUE(attempts[4].user_only);
  EXPECT_EQ(attempts[4].period, 7U) << "as record samples it";
  EXPECT_EQ(attempts[4].cpu, 7) << "that record pins to";
}

TEST(Trial, BlamesTheSystemCallFilterIfParanoiaAllowsSampling) {
  SamplingSupport support = tree("vm-without-pmu");
  const Diagnosis diagnosis = diagnose(support, [](const EventAttempt&) { return EPERM; });
  EXPECT_EQ(diagnosis.status, ExitStatus::failed);
  EXPECT_EQ(diagnosis.problems.at(0).id, "system_call_filter");
}

TEST(Trial, OpensEventsOfEachPmuOfAHybridMachine) {
  std::map<std::uint64_t, int> events;  // by the number of the PMU
  diagnose(tree("alder-lake"), [&](const EventAttempt& attempt) {
    if (!is_hardware(attempt)) return 0;
    const bool is_generic = attempt.type == PERF_TYPE_HARDWARE;
    const std::uint64_t pmu = is_generic ? attempt.config >> 32U : attempt.type;
    EXPECT_EQ(attempt.cpu, pmu == 10 ? 15 : 11);
    const bool counts = attempt.precise_ip == 0 && !attempt.whole_cpu && !attempt.branch_stack;
    if (counts) ++events[pmu];
    return 0;
  });
  EXPECT_THAT(events, ElementsAre(std::pair(4U, 8), std::pair(10U, 8)))
      << "seven of the catalogue and cycles:P";
}

TEST(Trial, LeavesNothingToRecordWithoutPerf) {
  SamplingSupport support = tree("vm-without-pmu");
  support.perf_missing = {.what = "perf: not found in PATH; it was removed",
                          .remedy = "install it (apt install linux-perf)"};
  const Diagnosis diagnosis = diagnose(support, [](const EventAttempt&) { return 0; });
  EXPECT_EQ(diagnosis.status, ExitStatus::failed);
  EXPECT_EQ(diagnosis.problems.at(0).what, "perf: not found in PATH; it was removed");
  EXPECT_EQ(diagnosis.problems.at(0).remedy, "install it (apt install linux-perf)");
}

TEST(Trial, IsRefusedBranchStacksOfSoftwareEventsAndUnknownEventsByThisKernel) {
  EXPECT_EQ(try_event({.type = PERF_TYPE_SOFTWARE, .branch_stack = true}), EOPNOTSUPP);
  EXPECT_NE(try_event({.type = 0x7fffffff}), 0);
}

/// "012" and the remark of cycles:P.
std::string cycles_on(const SamplingSupport& support, const EventTrial& kernel) {
  for (const SampledEvent& event : diagnose(support, kernel).events) {
    if (event.name == "cycles:P") {
      return fmt::format("{} {}", fmt::join(event.levels, ""), event.remark);
    }
  }
  return "none";
}

TEST(Zen4, IsSampledPerCpuBeforeLinux62) {
  SamplingSupport support = tree("zen4");
  support.machine.kernel = "6.1.0-18-amd64";
  bool may_sample_cpus = true;
  const EventTrial kernel = [&](const EventAttempt& attempt) {
    if (!is_hardware(attempt) || attempt.precise_ip == 0) return kAccepted;
    if (attempt.precise_ip == 3) return EOPNOTSUPP;
    if (!attempt.whole_cpu) return EINVAL;
    return may_sample_cpus ? kAccepted : EACCES;
  };
  const Diagnosis diagnosis = diagnose(support, kernel);
  const SampledEvent& cycles = diagnosis.events.back();
  EXPECT_EQ(cycles.answers.at(1).acceptance, Acceptance::per_cpu);
  EXPECT_EQ(cycles.answers.at(2).acceptance, Acceptance::per_cpu);
  EXPECT_EQ(cycles_on(support, kernel),
            "012 p, pp: IBS samples CPUs, not tasks, before Linux 6.2; ppp: IBS has no level 3");
  for (const Problem& problem : diagnosis.problems) {
    EXPECT_THAT(problem.remedy, Not(HasSubstr("perf_event_paranoid"))) << "root has no use for it";
  }
  may_sample_cpus = false;
  EXPECT_THAT(cycles_on(support, kernel), StartsWith("0 p, pp: IBS samples CPUs"));
}

TEST(Intel, RefusesLevelsThatSysfsDoesNotState) {
  SamplingSupport support = open_skylake();
  find_by(support.pmus, &Pmu::name, "cpu")->caps["max_precise"] = "2";
  EXPECT_EQ(cycles_on(support, levels_up_to(2)), "012 ppp: caps/max_precise is 2");
  find_by(support.pmus, &Pmu::name, "cpu")->caps["max_precise"] = "0";
  EXPECT_EQ(cycles_on(support, levels_up_to(0)),
            "0 p, pp, ppp: PEBS is not available (caps/max_precise)");
}

/// Answers for one raw event, as the guest's kernel gives them.
SampledEvent asked(const SamplingSupport& support, EventAttempt attempt, const EventTrial& trial) {
  if (attempt.type == 0) attempt.type = 4;
  return ask({.event = {.name = "event", .pmu = "cpu"}, .attempt = attempt}, trial,
             events::explanation_on(support));
}

TEST(Intel, WithoutThePebsBaselineAGuestHasLoadsAndStoresOnly) {
  SamplingSupport support = open_skylake();
  support.machine.cpu.model = 106;  // Ice Lake server
  support.machine.cpu.hypervisor = "KVM";
  const EventTrial guest = [](const EventAttempt& attempt) {
    return attempt.precise_ip > 0 && attempt.config != 0x81d0 ? EINVAL : 0;
  };
  EXPECT_THAT(asked(support, {.config = 0x81d0}, guest).levels, ElementsAre(0, 1, 2, 3));
  const SampledEvent branches = asked(support, {.config = 0x20c4}, guest);
  EXPECT_THAT(branches.levels, ElementsAre(0));
  EXPECT_THAT(
      branches.remark,
      HasSubstr(
          "p, pp, ppp: refused; a guest with PEBS but without PERF_CAP_PEBS_BASELINE takes only"));
}

TEST(Intel, AcceptedWithoutSamplesIsAnOutcomeOfItsOwn) {
  SamplingSupport support = open_skylake();
  support.machine.cpu.hypervisor = "KVM";
  const Diagnosis diagnosis = diagnose(support, [](const EventAttempt& attempt) {
    return is_hardware(attempt) && attempt.precise_ip > 0 ? kNoSamples : 0;
  });
  const SampledEvent& cycles = diagnosis.events.back();
  EXPECT_EQ(cycles.answers.at(2).acceptance, Acceptance::no_samples);
  EXPECT_EQ(cycles.refusal, std::nullopt);
  EXPECT_THAT(cycles.levels, ElementsAre(0));
  EXPECT_THAT(cycles.remark, HasSubstr("while the host itself uses PEBS"));
  EXPECT_EQ(diagnosis.problems.at(0).id, "no_samples");
}

TEST(Breakpoints, ThatNeverFireAreNoEventsThatCanBeSampled) {
  const Diagnosis diagnosis = diagnose(tree("vm-without-pmu"), [](const EventAttempt& attempt) {
    return attempt.type == PERF_TYPE_BREAKPOINT ? kNoSamples : 0;
  });
  EXPECT_THAT(events_of(diagnosis),
              ElementsAre("access  user and kernel", "execute  user and kernel",
                          "faults 0123 user and kernel", "cpu-clock 0123 user and kernel"));
  EXPECT_TRUE(is_never_sampled(diagnosis.events.front().answers));
  EXPECT_FALSE(is_never_sampled(diagnosis.events.back().answers));
  EXPECT_FALSE(is_never_sampled({})) << "the kernel was not asked";
}

TEST(Intel, PeriodsBelowTheMinimumAreRefused) {
  SamplingSupport support = open_skylake();
  const std::string unknown = "invalid argument";
  const auto reason = [&](int model, EventAttempt attempt) {
    support.machine.cpu.model = model;
    return why(support, attempt, EINVAL);
  };
  EXPECT_EQ(reason(26, {.config = 0x010b, .period = 31}), "Nehalem takes periods from 32");
  EXPECT_EQ(reason(60, {.config = 0x20c4, .period = 31}), unknown) << "before Linux 6.11";
  support.machine.kernel = "6.11.0";
  EXPECT_EQ(reason(60, {.config = 0x20c4, .period = 31}), "Haswell takes periods from 32");
  EXPECT_THAT(reason(60, {.config = 0x01c0, .period = 127}), HasSubstr("from 128"));
  EXPECT_EQ(reason(61, {.config = 0x01c0, .period = 130}), unknown) << "rounded, not refused";
  EXPECT_THAT(reason(61, {.config = 0x01c0, .period = 127}), HasSubstr("from 128"));
  EXPECT_EQ(reason(143, {.config = 0x20d1, .precise_ip = 3, .period = 127}),
            "precise distribution (level 3) takes periods from 128");
  EXPECT_EQ(reason(143, {.config = 0x20d1, .precise_ip = 2, .period = 127}), unknown);
  EXPECT_EQ(reason(143, {.config = 0x20d1, .precise_ip = 3, .period = 128}), unknown);
  const EventAttempt often{.config = 0x20d1, .precise_ip = 3, .period = 99, .frequency = true};
  EXPECT_THAT(reason(143, often), HasSubstr("before Linux 6.14"));
  support.machine.kernel = "6.14.0";
  EXPECT_EQ(reason(143, often), unknown);
  const EventAttempt loads{.config = 0x81d0, .precise_ip = 3, .period = 127};
  EXPECT_THAT(reason(0xaf, loads), HasSubstr("precise distribution")) << "E-core";
  EXPECT_EQ(reason(0x9c, loads), unknown) << "Tremont";
}

TEST(Zen4, RefusesShortPeriodsFromLinux615On) {
  SamplingSupport support = tree("zen4");
  const EventAttempt cycles{.config = 0x76, .precise_ip = 1, .period = 143};
  support.machine.kernel = "6.14.0";
  EXPECT_EQ(why(support, cycles, EINVAL), "invalid argument");
  support.machine.kernel = "6.15.0";
  EXPECT_EQ(why(support, cycles, EINVAL), "IBS takes periods from 144");
}

TEST(Intel, EarlyCpusRefuseEventsOutsideTheirPebsTables) {
  SamplingSupport support = open_skylake();
  const auto reason = [&](int model, int level) {
    support.machine.cpu.model = model;
    return why(support, {.config = 0x412e, .precise_ip = level}, EINVAL);
  };
  for (const int model : {23, 26, 44}) {
    EXPECT_EQ(reason(model, 1), "not in this CPU's table of PEBS events");
    EXPECT_EQ(reason(model, 0), "invalid argument");
  }
  EXPECT_EQ(reason(42, 1), "invalid argument") << "Sandy Bridge accepts any event";
}

TEST(BranchRecords, AreReportedWithTheEventThatHasThem) {
  const auto answer = [](const SamplingSupport& support, const EventTrial& kernel) {
    const auto found = diagnose(support, kernel).branch_records;
    return found ? fmt::format("{} {} {}", found->name, fmt::join(found->levels, ""),
                               found->answers.at(0).reason.remedy)
                 : std::string("no PMU");
  };
  EXPECT_EQ(answer(open_skylake(), levels_up_to(3)), "cycles 0123 ");
  EXPECT_EQ(answer(tree("zen4"), kernel_of("zen4")), "cycles 0 ") << "any event, none of IBS";
  EXPECT_EQ(answer(tree("vm-without-pmu"), kernel_of("vm-without-pmu")), "no PMU");
  EXPECT_EQ(answer(tree("zen4"),
                   [](const EventAttempt& attempt) {  // Zen 3
                     if (!attempt.branch_stack) return kAccepted;
                     if (attempt.precise_ip > 0) return EOPNOTSUPP;
                     return attempt.config == 0xc4 ? kAccepted : EINVAL;
                   }),
            "r00c4 0 ");
  SamplingSupport support = open_skylake();
  support.machine.cpu.hypervisor = "KVM";
  find_by(support.pmus, &Pmu::name, "cpu")->caps["branches"] = "0";
  EXPECT_THAT(answer(support, [](const EventAttempt&) { return EOPNOTSUPP; }),
              AllOf(StartsWith("cycles  "), HasSubstr("lbr-fmt")));
}

/// The names of the filters that a kernel takes, and those that it refuses.
std::string filters(const EventTrial& kernel, const SamplingSupport& support = open_skylake()) {
  std::string taken, refused;
  for (const auto& [name, is_taken] : diagnose(support, kernel).branch_filters) {
    (is_taken ? taken : refused) += " " + name;
  }
  return taken + " /" + refused;
}

TEST(BranchRecords, HaveTheFiltersThatTheKernelTakes) {
  EXPECT_EQ(filters(levels_up_to(3)),
            " abort_tx any_call any_ret call cond in_tx ind_call ind_jmp no_tx save_type stack /");
  EXPECT_EQ(filters([](const EventAttempt& attempt) {  // intel_pmu_setup_sw_lbr_filter(), no stack
              return attempt.branch_filter == PERF_SAMPLE_BRANCH_CALL_STACK ? EOPNOTSUPP
                                                                            : kAccepted;
            }),
            " abort_tx any_call any_ret call cond in_tx ind_call ind_jmp no_tx save_type / stack");
  EXPECT_EQ(filters(kernel_of("zen4"), tree("zen4")),  // amd_pmu_lbr_setup_filter()
            " any_call any_ret call cond ind_call ind_jmp save_type / abort_tx in_tx no_tx stack");
  EXPECT_EQ(filters(
                [](const EventAttempt& attempt) {  // amd_brs_setup_filter() of Zen 3
                  if (!attempt.branch_stack) return kAccepted;
                  if (attempt.precise_ip > 0) return EOPNOTSUPP;
                  return attempt.config != 0xc4 || attempt.branch_filter != 0 ? EINVAL : kAccepted;
                },
                tree("zen4")),
            " / abort_tx any_call any_ret call cond in_tx ind_call ind_jmp no_tx save_type stack");
  EXPECT_EQ(filters([](const EventAttempt&) { return EOPNOTSUPP; }), " /") << "none in a guest";
}

TEST(BranchRecords, AreRefusedForAReason) {
  SamplingSupport support = open_skylake();
  find_by(support.pmus, &Pmu::name, "cpu")->caps.erase("branches");
  EXPECT_EQ(why(support, {.config = 0x20c4, .branch_stack = true}, EOPNOTSUPP),
            "this PMU (no caps/branches) records no branch stack");
  EXPECT_EQ(why(support, {.type = PERF_TYPE_SOFTWARE, .branch_stack = true}, EOPNOTSUPP),
            "the kernel's own event records no branch stack");
  support = tree("zen4");
  EXPECT_EQ(why(support, {.config = 0x76, .precise_ip = 1, .branch_stack = true}, EOPNOTSUPP),
            "IBS records no branch stack");
  support.machine.cpu.model = 1;  // Zen 3
  EXPECT_EQ(why(support, {.config = 0xc4, .period = 16, .branch_stack = true}, EINVAL),
            "Zen 3 records branches with fixed periods above 16 only");
  EXPECT_EQ(why(support, {.config = 0xc0, .branch_stack = true}, EINVAL),
            "Zen 3 records branches with r00c4 (branch-brs) only");
}

TEST(Guests, HavePebsOnlyOnServers) {
  SamplingSupport support = open_skylake();
  find_by(support.pmus, &Pmu::name, "cpu")->caps["max_precise"] = "0";
  support.machine.cpu.hypervisor = "KVM";
  const auto remedy = [&](int model) {
    support.machine.cpu.model = model;
    const Diagnosis diagnosis = diagnose(support, levels_up_to(0));
    return find_by(diagnosis.problems, &Problem::id, "no_precise_level")->remedy;
  };
  EXPECT_THAT(remedy(0x7d),
              AllOf(HasSubstr("only for guests of servers"), Not(HasSubstr("pmu=on"))))
      << "Ice Lake, client";
  EXPECT_THAT(remedy(0x6a), HasSubstr("pmu=on")) << "Ice Lake, server";
}

}  // namespace
}  // namespace skid::machine
