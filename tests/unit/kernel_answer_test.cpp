// What the kernel accepts on CPUs that are not here.
#include "src/events/kernel_answer.h"

#include "src/support/text.h"
#include "tests/unit/machine_trees.h"

#include <cerrno>
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::machine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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

TEST(Intel, RefusesLevelsThatSysfsDoesNotPromise) {
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

}  // namespace
}  // namespace skid::machine
