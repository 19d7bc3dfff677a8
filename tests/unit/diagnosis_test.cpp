// What can be sampled on machines that are not here: those of tests/machines, which are written by
// hand from the kernel's documentation and have texts beside them, and machines that differ from
// them in something.
#include "src/machine/diagnosis.h"

#include "src/commands/commandline/command.h"
#include "src/commands/commandline/parse.h"
#include "src/commands/commands.h"
#include "src/events/catalogue.h"
#include "src/events/kernel_rules.h"
#include "src/locate/symbolizer.h"
#include "src/machine/event_attempt.h"
#include "src/machine/sampled_event.h"
#include "src/machine/sampling_support.h"
#include "src/record/plan.h"
#include "src/support/error.h"
#include "src/support/text.h"
#include "tests/support/event_tables.h"
#include "tests/support/golden.h"
#include "tests/support/prelude.h"
#include "tests/support/variable.h"

#include <regex>

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

namespace skid::machine {
namespace {

/// Of tests/machines.
SamplingSupport tree(const std::string& name) {
  return read_sampling_support(SKIDSCAN_TEST_DATA "/machines/" + name);
}

Diagnosis diagnose(const SamplingSupport& support, const EventTrial& trial) {
  const auto catalogue = events::find_catalogue(support.machine);
  return record::diagnose(support, catalogue ? &*catalogue : nullptr, trial);
}

bool is_hardware(const EventAttempt& attempt) {
  return attempt.type != PERF_TYPE_SOFTWARE && attempt.type != PERF_TYPE_BREAKPOINT;
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

/// The output of `skidscan doctor --root TREE --details --ascii`, its exit status, and the names of
/// all problems and events.
std::string doctor_text(const std::string& name) {
  const commandline::Program program = commands::program();
  const auto call = commandline::parse(
      program,
      {"doctor", "--root", SKIDSCAN_TEST_DATA "/machines/" + name, "--details", "--ascii"});
  const test::Variable columns("COLUMNS", "160");
  ::testing::internal::CaptureStdout();
  const ExitStatus status = call.command->run();
  const std::string printed = ::testing::internal::GetCapturedStdout();
  // Versions of libpfm4 have more and more events.
  const std::regex counts("[0-9]+ of [0-9]+ events are precise \\(libpfm4");
  std::string text = std::regex_replace(printed, counts, "some events are precise (libpfm4");
  text += fmt::format("\nexit status {}\n", static_cast<int>(status));
  const Diagnosis diagnosis = diagnose(tree(name), {});
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
  const Diagnosis nothing = diagnose(tree("no such directory"), {});
  EXPECT_EQ(nothing.status, ExitStatus::failed);
  EXPECT_THAT(problems_of(nothing), ElementsAre(StartsWith("no_perf_events: ")));
}

TEST(MachineTrees, WithEventsOfLibpfm4AreDiagnosedAsInTheirTexts) {
  SKIP_WITHOUT("x86-64");
  for (const char* name : {"zen4", "zen4-user", "neoverse-n1"}) expect_diagnosis_of_text(name);
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
  EXPECT_THAT(problems_of(diagnose(support, {})),
              ElementsAre("cpus_not_allowed: taskset -c 0 skidscan record",
                          "nmi_watchdog: sysctl kernel.nmi_watchdog=0"));
}

TEST(KernelSymbols, AreHiddenByTheRulesOfTheKernel) {
  SamplingSupport support = tree("zen4");
  const auto remedy = [&](std::uint64_t capabilities, int paranoid, int restriction) {
    support.rights.effective_capabilities = capabilities;
    support.machine.perf_event_paranoid = paranoid;
    support.kptr_restrict = restriction;
    for (const Problem& problem : diagnose(support, {}).problems) {
      if (problem.id == "kernel_symbols_hidden") return problem.remedy;
    }
    return std::string("none needed");
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
  const Diagnosis diagnosis = diagnose(support, {});
  EXPECT_THAT(events_of(diagnosis), Contains("cycles 0 user"));
  EXPECT_THAT(problems_of(diagnosis),
              Contains("ibs_needs_kernel: sysctl kernel.perf_event_paranoid=1"));
}

TEST(Zen4, SamplesOperationsOfUserModeByTheKernelsFilter) {
  SamplingSupport support = tree("zen4-user");
  EXPECT_THAT(events_of(diagnose(support, {})),
              AllOf(Contains("cycles 0 user"), Contains("ibs_op/swfilt=1/u 0 user")));
  const EventTrial kernel = events::simulated_kernel(support);
  const EventAttempt operations{.type = support.machine.ibs_op->type, .user_only = true};
  EventAttempt filtered = operations;
  filtered.config2 = 1;
  EXPECT_EQ(kernel(operations), EINVAL);
  EXPECT_EQ(kernel(filtered), machine::kAccepted);
}

TEST(Zen6, LeavesTheKernelOutInHardware) {
  SamplingSupport support = tree("zen4-user");
  support.machine.cpu.family = 0x1a;
  support.machine.cpu.model = 0x50;
  const EventTrial kernel = events::simulated_kernel(support);
  const EventAttempt cycles{.precise_ip = 2, .user_only = true};
  EXPECT_EQ(kernel(cycles), EINVAL) << "Linux 6.14 does not know the filter";
  support.machine.kernel = "7.2.0";
  EXPECT_EQ(kernel(cycles), machine::kAccepted);
}

TEST(Zen4, WithoutIbsHasNoPreciseLevel) {
  SamplingSupport support = tree("zen4");
  std::erase_if(support.pmus, is_amd_ibs);
  const Diagnosis diagnosis = diagnose(support, {});
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
    remedies.push_back(diagnose(support, {}).problems.at(0).remedy);
  }
  support.machine.cpu.hypervisor = "KVM";
  support.machine.cpu.vendor = "GenuineIntel";
  support.machine.cpu.family = 6;
  support.machine.cpu.model = 151;  // Alder Lake
  remedies.push_back(diagnose(support, {}).problems.at(0).remedy);
  EXPECT_THAT(remedies.back(), Not(HasSubstr("pmu=on")));
  support.machine.cpu.hypervisor = std::nullopt;
  remedies.push_back(diagnose(support, {}).problems.at(0).remedy);
  std::sort(remedies.begin(), remedies.end());
  EXPECT_EQ(std::unique(remedies.begin(), remedies.end()), remedies.end());
}

TEST(Container, WithCapPerfmonNeedsTheSettingTooAndWithCapSysAdminNothing) {
  SamplingSupport support = tree("container");
  support.rights.effective_capabilities = std::uint64_t{1} << ProcessRights::kSysAdmin;
  EXPECT_THAT(events_of(diagnose(support, {})), Contains("cycles:P 0123 user and kernel"));
  support.rights.effective_capabilities = std::uint64_t{1} << ProcessRights::kPerfmon;
  EXPECT_EQ(diagnose(support, {}).status, ExitStatus::failed);
  EXPECT_EQ(diagnose(support, {}).problems.at(0).id, "no_permission");
  support.machine.perf_event_paranoid = 2;
  const Diagnosis diagnosis = diagnose(support, {});
  EXPECT_THAT(events_of(diagnosis), Contains("cycles:P 0123 user and kernel"));
  EXPECT_EQ(diagnosis.status, ExitStatus::done);
}

TEST(Trial, OverridesTheLevelsOfSysfs) {
  const SamplingSupport support = open_skylake();
  const Diagnosis diagnosis = diagnose(support, [](const EventAttempt& attempt) {
    return is_hardware(attempt) && attempt.precise_ip > 1 ? EOPNOTSUPP : 0;
  });
  EXPECT_TRUE(diagnosis.tried);
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
  support.perf_missing = "perf: not found in PATH; install it (apt install linux-perf)";
  const Diagnosis diagnosis = diagnose(support, [](const EventAttempt&) { return 0; });
  EXPECT_EQ(diagnosis.status, ExitStatus::failed);
  EXPECT_EQ(diagnosis.problems.at(0).what, "perf: not found in PATH");
  EXPECT_EQ(diagnosis.problems.at(0).remedy, "install it (apt install linux-perf)");
}

TEST(Trial, IsRefusedBranchStacksOfSoftwareEventsAndUnknownEventsByThisKernel) {
  EXPECT_EQ(try_event({.type = PERF_TYPE_SOFTWARE, .branch_stack = true}), EOPNOTSUPP);
  EXPECT_NE(try_event({.type = 0x7fffffff}), 0);
}

/// "012" and the remark of cycles:P.
std::string cycles_on(const SamplingSupport& support) {
  for (const SampledEvent& event : diagnose(support, {}).events) {
    if (event.name == "cycles:P") {
      return fmt::format("{} {}", fmt::join(event.levels, ""), event.remark);
    }
  }
  return "none";
}

TEST(Zen4, IsSampledPerCpuBeforeLinux62) {
  SamplingSupport support = tree("zen4");
  support.machine.kernel = "6.1.0-18-amd64";
  const Diagnosis diagnosis = diagnose(support, {});
  const SampledEvent& cycles = diagnosis.events.back();
  EXPECT_EQ(cycles.answers.at(1).acceptance, Acceptance::per_cpu);
  EXPECT_EQ(cycles.answers.at(2).acceptance, Acceptance::per_cpu);
  EXPECT_EQ(cycles_on(support),
            "012 p, pp: IBS samples CPUs, not tasks, before Linux 6.2; ppp: IBS has no level 3");
  for (const Problem& problem : diagnosis.problems) {
    EXPECT_THAT(problem.remedy, Not(HasSubstr("perf_event_paranoid"))) << "root has no use for it";
  }
  support.rights.effective_capabilities = 0;  // and perf_event_paranoid is 1
  EXPECT_THAT(cycles_on(support), StartsWith("0 p, pp: IBS samples CPUs"));
}

TEST(Intel, RefusesLevelsThatSysfsDoesNotState) {
  SamplingSupport support = open_skylake();
  find_by(support.pmus, &Pmu::name, "cpu")->caps["max_precise"] = "2";
  EXPECT_EQ(cycles_on(support), "012 ppp: caps/max_precise is 2");
  find_by(support.pmus, &Pmu::name, "cpu")->caps["max_precise"] = "0";
  EXPECT_EQ(cycles_on(support), "0 p, pp, ppp: PEBS is not available (caps/max_precise)");
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

TEST(Breakpoints, OfAGuestOnlyATryShowsToFire) {
  SamplingSupport support = tree("vm-without-pmu");
  const EventAttempt access{.type = PERF_TYPE_BREAKPOINT, .breakpoint = HW_BREAKPOINT_RW};
  EXPECT_EQ(events::simulated_kernel(support)(access), kUntried);
  support.machine.cpu.hypervisor.reset();
  EXPECT_EQ(events::simulated_kernel(support)(access), kAccepted);
}

TEST(Intel, PeriodsBelowTheMinimumAreRefused) {
  SamplingSupport support = open_skylake();
  const EventTrial kernel = events::simulated_kernel(support);
  const auto remark = [&](int model, EventAttempt attempt) {
    support.machine.cpu.model = model;
    return asked(support, attempt, kernel).remark;
  };
  EXPECT_EQ(remark(26, {.config = 0x010b, .period = 31}), "Nehalem takes periods from 32");
  EXPECT_EQ(remark(60, {.config = 0x20c4, .period = 31}), "") << "before Linux 6.11";
  support.machine.kernel = "6.11.0";
  EXPECT_EQ(remark(60, {.config = 0x20c4, .period = 31}), "Haswell takes periods from 32");
  EXPECT_THAT(remark(60, {.config = 0x01c0, .period = 127}), HasSubstr("from 128"));
  EXPECT_EQ(remark(61, {.config = 0x01c0, .period = 130}), "") << "rounded, not refused";
  EXPECT_THAT(remark(61, {.config = 0x01c0, .period = 127}), HasSubstr("from 128"));
  EXPECT_EQ(remark(143, {.config = 0x20d1, .period = 127}),
            "ppp: precise distribution (level 3) takes periods from 128");
  EXPECT_EQ(remark(143, {.config = 0x20d1, .period = 128}), "");
  EXPECT_THAT(remark(143, {.config = 0x20d1, .period = 99, .frequency = true}),
              HasSubstr("ppp: before Linux 6.14"));
  support.machine.kernel = "6.14.0";
  EXPECT_EQ(remark(143, {.config = 0x20d1, .period = 99, .frequency = true}), "");
  EXPECT_THAT(remark(0xaf, {.config = 0x81d0, .period = 127}), HasSubstr("ppp: precise"))
      << "E-core";
  EXPECT_EQ(remark(0x9c, {.config = 0x81d0, .period = 127}), "") << "Tremont";
}

TEST(Zen4, RefusesShortPeriodsFromLinux615On) {
  SamplingSupport support = tree("zen4");
  support.machine.kernel = "6.14.0";
  const EventTrial kernel = events::simulated_kernel(support);
  const auto error = [&](std::uint64_t period) {
    return kernel({.precise_ip = 1, .period = period});  // cycles
  };
  EXPECT_EQ(error(100), machine::kAccepted) << "rounded to 96";
  support.machine.kernel = "6.15.0";
  EXPECT_EQ(error(143), EINVAL);
  EXPECT_EQ(error(145), machine::kAccepted) << "rounded to 144";
}

TEST(Intel, EarlyCpusRefuseEventsOutsideTheirPebsTables) {
  SamplingSupport support = open_skylake();
  const EventTrial kernel = events::simulated_kernel(support);
  const auto levels = [&](int model, std::uint64_t config) {
    support.machine.cpu.model = model;
    return fmt::format("{}", fmt::join(asked(support, {.config = config}, kernel).levels, ""));
  };
  for (const int model : {23, 26, 44}) {
    EXPECT_EQ(levels(model, 0x412e), "0") << "LLC misses";
    EXPECT_EQ(levels(model, 0x01cb), "0123") << "MEM_LOAD_RETIRED";
    EXPECT_EQ(levels(model, 0x3c), "0123") << "cycles are replaced";
  }
  EXPECT_EQ(levels(26, 0x01c5), "0");
  EXPECT_EQ(levels(44, 0x01c5), "0123") << "Westmere has BR_MISP_RETIRED";
  EXPECT_EQ(levels(42, 0x412e), "0123") << "Sandy Bridge accepts any event";
}

TEST(BranchStacks, AreRefusedWhereThePmuHasNone) {
  SamplingSupport support = open_skylake();
  const EventTrial kernel = events::simulated_kernel(support);
  const EventAttempt branches{.config = 0x20c4, .branch_stack = true};
  EXPECT_THAT(asked(support, branches, kernel).levels, ElementsAre(0, 1, 2, 3));
  find_by(support.pmus, &Pmu::name, "cpu")->caps.erase("branches");
  EXPECT_EQ(asked(support, branches, kernel).remark,
            "this PMU (no caps/branches) records no branch stack");
}

TEST(BranchRecords, AreReportedWithTheEventThatHasThem) {
  const auto answer = [](const SamplingSupport& support) {
    const auto found = diagnose(support, {}).branch_records;
    return found ? fmt::format("{} {} {}", found->name, fmt::join(found->levels, ""),
                               found->answers.at(0).reason.remedy)
                 : std::string("no PMU");
  };
  EXPECT_EQ(answer(open_skylake()), "cycles 0123 ");
  EXPECT_EQ(answer(tree("zen4")), "cycles 0 ") << "any event, none of IBS";
  EXPECT_EQ(answer(tree("vm-without-pmu")), "no PMU");
  SamplingSupport support = tree("zen4");
  support.machine.cpu.model = 1;  // Zen 3
  EXPECT_EQ(answer(support), "r00c4 0 ");
  support = open_skylake();
  support.machine.cpu.hypervisor = "KVM";
  find_by(support.pmus, &Pmu::name, "cpu")->caps["branches"] = "0";
  EXPECT_THAT(answer(support), AllOf(StartsWith("cycles  "), HasSubstr("lbr-fmt")));
}

TEST(BranchRecords, OfZen3NeedAFixedPeriod) {
  SamplingSupport support = tree("zen4");
  support.machine.cpu.model = 1;
  const EventTrial kernel = events::simulated_kernel(support);
  EventAttempt branches{.type = PERF_TYPE_RAW, .config = 0xc4, .branch_stack = true};
  EXPECT_EQ(kernel(branches), machine::kAccepted);
  branches.period = 16;
  EXPECT_EQ(kernel(branches), EINVAL);
  branches = {.type = PERF_TYPE_RAW,
              .config = 0xc4,
              .period = 4000,
              .frequency = true,
              .branch_stack = true};
  EXPECT_EQ(kernel(branches), EINVAL);
  EXPECT_EQ(kernel({.type = PERF_TYPE_RAW, .config = 0xc0, .branch_stack = true}), EINVAL);
}

TEST(Guests, HavePebsOnlyOnServers) {
  SamplingSupport support = open_skylake();
  find_by(support.pmus, &Pmu::name, "cpu")->caps["max_precise"] = "0";
  support.machine.cpu.hypervisor = "KVM";
  const auto remedy = [&](int model) {
    support.machine.cpu.model = model;
    const Diagnosis diagnosis = diagnose(support, {});
    return find_by(diagnosis.problems, &Problem::id, "no_precise_level")->remedy;
  };
  EXPECT_THAT(remedy(0x7d),
              AllOf(HasSubstr("only for guests of servers"), Not(HasSubstr("pmu=on"))))
      << "Ice Lake, client";
  EXPECT_THAT(remedy(0x6a), HasSubstr("pmu=on")) << "Ice Lake, server";
}

}  // namespace
}  // namespace skid::machine
