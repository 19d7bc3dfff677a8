// What can be sampled on machines that are not here. The trees of tests/machines are written by
// hand from the kernel's documentation; see the README there.
#include "src/machine/diagnosis.h"

#include "tests/unit/machine_trees.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

namespace skid::machine {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

Diagnosis diagnose_tree(const std::string& name) {
  return diagnose(tree(name), {});
}

/// "cycles 0123 user and kernel": an event, its levels, its modes.
std::vector<std::string> events_of(const Diagnosis& diagnosis) {
  std::vector<std::string> lines;
  for (const SampledEvent& event : diagnosis.events) {
    lines.push_back(
        fmt::format("{} {} {}", event.name, fmt::join(event.levels, ""), name_of(event.modes)));
  }
  return lines;
}

/// "nmi_watchdog: sysctl kernel.nmi_watchdog=0": a problem and its remedy.
std::vector<std::string> problems_of(const Diagnosis& diagnosis) {
  std::vector<std::string> lines;
  for (const Problem& problem : diagnosis.problems) {
    lines.push_back(problem.id + ": " + problem.remedy);
  }
  return lines;
}

/// "cpu 4 3": a PMU of the cores with its type and highest level.
std::vector<std::string> cores_of(const SamplingSupport& support) {
  std::vector<std::string> lines;
  for (const Pmu& pmu : support.pmus) {
    const int highest = pmu.max_precise().value_or(-1);
    if (pmu.core) lines.push_back(fmt::format("{} {} {}", pmu.name, pmu.type, highest));
  }
  return lines;
}

TEST(Skylake, IsReadWithItsPmu) {
  const SamplingSupport support = tree("skylake");
  EXPECT_FALSE(support.here);
  EXPECT_EQ(support.machine.cpu.hypervisor, std::nullopt);
  EXPECT_EQ(support.machine.cpu.microcode, "0xf0");
  EXPECT_THAT(cores_of(support), ElementsAre("cpu 4 3"));
  const Pmu* cpu = find_pmu(support.pmus, "cpu");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->caps.at("pmu_name"), "skylake");
  EXPECT_EQ(cpu->caps.at("branches"), "32");
  EXPECT_THAT(cpu->formats, Contains("offcore_rsp"));
  const Pmu* uncore = find_pmu(support.pmus, "uncore_cbox_3");
  ASSERT_NE(uncore, nullptr);
  EXPECT_FALSE(uncore->core);
  EXPECT_THAT(uncore->cpumask, ElementsAre(0));
  EXPECT_EQ(support.perf_event_mlock_kb, 516);
  EXPECT_EQ(support.nmi_watchdog, 1);
  EXPECT_EQ(support.kptr_restrict, 0);
  EXPECT_EQ(support.machine.smt_active, true);
  EXPECT_EQ(support.rights.user, 1000U);
  EXPECT_FALSE(support.rights.may_sample_all());
  EXPECT_FALSE(support.rights.seccomp_filter);
  ASSERT_TRUE(support.perf);
  EXPECT_EQ(support.perf->version, "6.1.76");
}

TEST(Skylake, SamplesUserModeAtEveryLevel) {
  const Diagnosis diagnosis = diagnose_tree("skylake");
  EXPECT_FALSE(diagnosis.tried);
  EXPECT_THAT(events_of(diagnosis),
              IsSupersetOf({"access 0123 user", "execute 0123 user", "faults 0123 user",
                            "cpu-clock 0123 user", "cycles:P 0123 user"}));
  for (const SampledEvent& event : diagnosis.events) {
    EXPECT_THAT(event.levels, ElementsAre(0, 1, 2, 3)) << event.name;
    EXPECT_EQ(event.remark, "") << event.name;
  }
  EXPECT_THAT(problems_of(diagnosis),
              ElementsAre("user_only: sudo sysctl kernel.perf_event_paranoid=1",
                          "nmi_watchdog: sudo sysctl kernel.nmi_watchdog=0"));
  EXPECT_EQ(diagnosis.status, ExitStatus::done);
}

TEST(AlderLake, NamesTheEventsOfBothKindsOfCores) {
  EXPECT_THAT(cores_of(tree("alder-lake")), ElementsAre("cpu_atom 10 3", "cpu_core 4 3"));
  const Diagnosis diagnosis = diagnose_tree("alder-lake");
  EXPECT_THAT(events_of(diagnosis),
              ElementsAre("access 0123 user and kernel", "execute 0123 user and kernel",
                          "faults 0123 user and kernel", "cpu-clock 0123 user and kernel",
                          "cpu_core/MEM_INST_RETIRED.ALL_LOADS/ 0123 user and kernel",
                          "cpu_core/MEM_LOAD_RETIRED.L3_MISS/ 0123 user and kernel",
                          "cpu_core/MEM_INST_RETIRED.ALL_STORES/ 0123 user and kernel",
                          "cpu_core/BR_INST_RETIRED.NEAR_TAKEN/ 0123 user and kernel",
                          "cpu_core/BR_MISP_RETIRED.COND/ 0123 user and kernel",
                          "cpu_core/INST_RETIRED.ANY_P/ 0123 user and kernel",
                          "cpu_core/CPU_CLK_UNHALTED.THREAD_P/ 0123 user and kernel",
                          "cpu_atom/MEM_UOPS_RETIRED.ALL_LOADS/ 0123 user and kernel",
                          "cpu_atom/MEM_LOAD_UOPS_RETIRED_MISC.L3_MISS/ 0123 user and kernel",
                          "cpu_atom/MEM_UOPS_RETIRED.ALL_STORES/ 0123 user and kernel",
                          "cpu_atom/BR_INST_RETIRED.NEAR_TAKEN/ 0123 user and kernel",
                          "cpu_atom/BR_MISP_RETIRED.COND/ 0123 user and kernel",
                          "cpu_atom/INST_RETIRED.ANY_P/ 0123 user and kernel",
                          "cpu_atom/CPU_CLK_UNHALTED.THREAD_P/ 0123 user and kernel",
                          "cpu_core/cycles/P 0123 user and kernel",
                          "cpu_atom/cycles/P 0123 user and kernel"));
  EXPECT_THAT(problems_of(diagnosis), ElementsAre("nmi_watchdog: sysctl kernel.nmi_watchdog=0"));
  EXPECT_EQ(diagnosis.status, ExitStatus::done);
}

TEST(AlderLake, ReportsPerformanceCoresOutsideTheAffinity) {
  SamplingSupport support = tree("alder-lake");
  support.machine.allowed_cpus = {13, 14};
  EXPECT_THAT(problems_of(diagnose(support, {})),
              ElementsAre("cpus_not_allowed: taskset -c 0 skidscan record",
                          "nmi_watchdog: sysctl kernel.nmi_watchdog=0"));
}

TEST(Zen4, HasPreciseLevelsOfThreeEventsThroughIbs) {
  const SamplingSupport support = tree("zen4");
  EXPECT_THAT(cores_of(support), ElementsAre("cpu 4 0"));
  const Pmu* ibs = find_pmu(support.pmus, "ibs_op");
  ASSERT_NE(ibs, nullptr);
  EXPECT_TRUE(is_amd_ibs(*ibs));
  EXPECT_EQ(ibs->type, 9U);
  EXPECT_THAT(ibs->formats, ElementsAre("cnt_ctl", "l3missonly"));
  EXPECT_EQ(ibs->caps.count("zen4_ibs_extensions"), 1U);

  const Diagnosis diagnosis = diagnose(support, {});
  EXPECT_THAT(events_of(diagnosis),
              ElementsAre("access 0123 user and kernel", "execute 0123 user and kernel",
                          "faults 0123 user and kernel", "cpu-clock 0123 user and kernel",
                          "cycles 012 user and kernel", "r076 012 user and kernel",
                          "r0c1 012 user and kernel", "cycles:P 012 user and kernel"));
  for (const SampledEvent& event : diagnosis.events) {
    if (event.built_in) continue;
    EXPECT_EQ(event.remark, "ppp: IBS has no level 3") << event.name;
  }
  EXPECT_THAT(problems_of(diagnosis),
              ElementsAre("low_sample_rate: sysctl kernel.perf_event_max_sample_rate=100000",
                          "kernel_symbols_hidden: sysctl kernel.kptr_restrict=0"));
  EXPECT_EQ(diagnosis.status, ExitStatus::done);
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

TEST(NeoverseN1, HasACorePmuWithoutLevelsAndSpe) {
  const SamplingSupport support = tree("neoverse-n1");
  ASSERT_TRUE(support.midr);
  EXPECT_EQ(support.midr->value, 0x413fd0c1U);
  EXPECT_EQ(support.midr->name(), "Neoverse N1 r3p1");
  EXPECT_EQ(support.machine.cpu.arch, "aarch64");
  EXPECT_THAT(cores_of(support), ElementsAre("armv8_pmuv3_0 8 -1"));
  const Pmu* spe = find_pmu(support.pmus, "arm_spe_0");
  ASSERT_NE(spe, nullptr);
  EXPECT_TRUE(is_arm_spe(*spe));
  EXPECT_FALSE(spe->core);
  EXPECT_EQ(spe->cpumask.size(), 80U);

  const Diagnosis diagnosis = diagnose(support, {});
  EXPECT_THAT(events_of(diagnosis),
              ElementsAre("access 0123 user and kernel", "execute 0123 user and kernel",
                          "faults 0123 user and kernel", "cpu-clock 0123 user and kernel",
                          "cycles 0 user and kernel", "branches 0 user and kernel",
                          "cycles:P 0 user and kernel"));
  EXPECT_EQ(diagnosis.events.back().answers.at(2).acceptance, Acceptance::ignored);
  EXPECT_THAT(diagnosis.problems, IsEmpty());
  EXPECT_EQ(diagnosis.status, ExitStatus::done);
}

TEST(VmWithoutPmu, SamplesTheBuiltInEventsOnly) {
  const SamplingSupport support = tree("vm-without-pmu");
  EXPECT_EQ(support.machine.cpu.hypervisor, "QEMU");
  EXPECT_THAT(cores_of(support), IsEmpty());
  const Diagnosis diagnosis = diagnose(support, {});
  EXPECT_THAT(events_of(diagnosis),
              ElementsAre("access 0123 user and kernel", "execute 0123 user and kernel",
                          "faults 0123 user and kernel", "cpu-clock 0123 user and kernel"));
  ASSERT_EQ(diagnosis.problems.size(), 1U);
  EXPECT_EQ(diagnosis.problems[0].id, "no_core_pmu");
  EXPECT_THAT(diagnosis.problems[0].remedy, ::testing::HasSubstr("-cpu host,pmu=on"));
  EXPECT_EQ(diagnosis.status, ExitStatus::builtin_events_only);
}

TEST(VmWithoutPmu, HasARemedyForEachHypervisor) {
  SamplingSupport support = tree("vm-without-pmu");
  std::vector<std::string> remedies;
  for (const char* name : {"KVM", "VMware", "Hyper-V", "Xen", "Amazon EC2", "bhyve"}) {
    support.machine.cpu.hypervisor = name;
    remedies.push_back(diagnose(support, {}).problems.at(0).remedy);
  }
  support.machine.cpu.hypervisor = std::nullopt;
  remedies.push_back(diagnose(support, {}).problems.at(0).remedy);
  std::sort(remedies.begin(), remedies.end());
  EXPECT_EQ(std::unique(remedies.begin(), remedies.end()), remedies.end());
}

TEST(Container, WithoutPermissionsSamplesNothing) {
  const SamplingSupport support = tree("container");
  EXPECT_THAT(cores_of(support), ElementsAre("cpu 4 3"));
  EXPECT_TRUE(support.rights.container);
  EXPECT_TRUE(support.rights.seccomp_filter);
  EXPECT_EQ(support.rights.effective_capabilities, 0U);
  EXPECT_FALSE(support.perf);
  const Diagnosis diagnosis = diagnose(support, {});
  EXPECT_THAT(events_of(diagnosis), IsSupersetOf({"access  none", "execute  none", "faults  none",
                                                  "cpu-clock  none", "cycles:P  none"}));
  for (const SampledEvent& event : diagnosis.events) EXPECT_EQ(event.remark, "not permitted");
  EXPECT_THAT(problems_of(diagnosis),
              ElementsAre("no_permission: on the host: sudo sysctl kernel.perf_event_paranoid=1",
                          "system_call_filter: docker run --cap-add PERFMON --security-opt "
                          "seccomp=unconfined IMAGE"));
  EXPECT_EQ(diagnosis.status, ExitStatus::failed);
}

TEST(Container, WithCapPerfmonNeedsTheSettingToo) {
  SamplingSupport support = tree("container");
  support.rights.effective_capabilities = std::uint64_t{1} << ProcessRights::kPerfmon;
  EXPECT_EQ(diagnose(support, {}).status, ExitStatus::failed);
  EXPECT_EQ(diagnose(support, {}).problems.at(0).id, "no_permission");
  support.machine.perf_event_paranoid = 2;
  const Diagnosis diagnosis = diagnose(support, {});
  EXPECT_THAT(events_of(diagnosis), Contains("cycles:P 0123 user and kernel"));
  EXPECT_EQ(diagnosis.status, ExitStatus::done);
}

TEST(Container, WithCapSysAdminSamplesEverything) {
  SamplingSupport support = tree("container");
  support.rights.effective_capabilities = std::uint64_t{1} << ProcessRights::kSysAdmin;
  EXPECT_THAT(events_of(diagnose(support, {})), Contains("cycles:P 0123 user and kernel"));
}

TEST(EmptyDirectory, ReportsAKernelWithoutPerfEvents) {
  const Diagnosis diagnosis = diagnose_tree("no such directory");
  EXPECT_EQ(diagnosis.status, ExitStatus::failed);
  ASSERT_EQ(diagnosis.problems.size(), 1U);
  EXPECT_EQ(diagnosis.problems[0].id, "no_perf_events");
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
    if (attempt.precise_ip == 0 && !attempt.whole_cpu) ++events[pmu];
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

TEST(Trial, IsRefusedABranchStackOfASoftwareEventByThisKernel) {
  EXPECT_EQ(try_event({.type = PERF_TYPE_SOFTWARE, .branch_stack = true}), EOPNOTSUPP);
}

TEST(Trial, IsRefusedAnUnknownEventByThisKernel) {
  EXPECT_NE(try_event({.type = 0x7fffffff}), 0);
}

}  // namespace
}  // namespace skid::machine
