#include "src/machine/diagnosis.h"
#include "src/support/file.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::machine {

namespace {

/// `record` samples cpu-clock this often by default: its period is 99,991 nanoseconds.
constexpr int kClockSamplesPerSecond = 10'001;
/// The kernel's default, which covers the buffer of `perf record`: 512 KiB and one page.
constexpr int kUsualMlockKb = 516;

using Events = std::vector<SampledEvent>;

bool any_refused_with(const Events& events, int error) {
  return std::any_of(events.begin(), events.end(),
                     [=](const SampledEvent& event) { return event.refusal == error; });
}

bool any_usable(const Events& events) {
  return std::any_of(events.begin(), events.end(),
                     [](const SampledEvent& event) { return event.usable(); });
}

bool any_core_event(const Events& events) {
  return std::any_of(events.begin(), events.end(),
                     [](const SampledEvent& event) { return !event.built_in && event.usable(); });
}

/// A command that needs root; in a container, settings of the kernel are the host's to change.
std::string as_root(const SamplingSupport& support, std::string_view command) {
  const std::string sudo = support.rights.user == 0 && !support.rights.container ? "" : "sudo ";
  return fmt::format("{}{}{}", support.rights.container ? "on the host: " : "", sudo, command);
}

std::string setting(const std::optional<int>& value) {
  return value ? fmt::format("{}", *value) : "unknown";
}

void check_perf(const SamplingSupport& support, std::vector<Problem>& problems) {
  if (support.perf_missing.empty()) return;
  // The message of find_perf ends with its remedy.
  const std::string& message = support.perf_missing;
  const std::size_t remedy = message.rfind("; ");
  problems.push_back(
      {.id = "no_perf",
       .what = message.substr(0, remedy),
       .remedy = remedy == std::string::npos ? "install perf" : message.substr(remedy + 2)});
}

bool check_kernel(const SamplingSupport& support, const Events& events,
                  std::vector<Problem>& problems) {
  const bool refused = any_refused_with(events, ENOSYS);
  if (!refused && (any_usable(events) || support.machine.perf_event_paranoid)) return true;
  problems.push_back(
      {.id = "no_perf_events",
       .what = refused ? "this kernel has no perf_event_open"
                       : "this kernel has no /proc/sys/kernel/perf_event_paranoid, so no perf "
                         "events",
       .remedy = "boot a kernel that is built with CONFIG_PERF_EVENTS=y; sandboxes such as gVisor "
                 "have none"});
  return false;
}

void check_permission(const SamplingSupport& support, const Events& events, bool tried,
                      std::vector<Problem>& problems) {
  const bool open = any_usable(events);
  const bool kernel_too = std::any_of(events.begin(), events.end(), [](const SampledEvent& event) {
    return event.modes == SampledModes::user_and_kernel;
  });
  if (kernel_too) return;
  const bool permission =
      !tried || any_refused_with(events, EACCES) || any_refused_with(events, EPERM);
  if (!open && !permission) return;

  const std::optional<int> paranoid = support.machine.perf_event_paranoid;
  if (open) {
    problems.push_back(
        {.id = "user_only",
         .what = fmt::format("only user mode can be sampled: kernel.perf_event_paranoid is {} and "
                             "this process has neither CAP_PERFMON nor CAP_SYS_ADMIN",
                             setting(paranoid)),
         .remedy = as_root(support, "sysctl kernel.perf_event_paranoid=1")});
    return;
  }
  // Debian's and Ubuntu's kernels close everything above 2, also to CAP_PERFMON.
  const bool paranoid_refuses = !support.rights.has_sys_admin() && (!paranoid || *paranoid > 2);
  if (paranoid_refuses) {
    problems.push_back(
        {.id = "no_permission",
         .what = fmt::format("nothing can be sampled: kernel.perf_event_paranoid is {} and this "
                             "process has no CAP_SYS_ADMIN",
                             setting(paranoid)),
         .remedy = as_root(support, "sysctl kernel.perf_event_paranoid=1")});
  }
  if (support.rights.seccomp_filter || support.rights.container || !paranoid_refuses) {
    problems.push_back(
        {.id = "system_call_filter",
         .what = support.rights.seccomp_filter
                     ? "system calls are filtered (seccomp); Docker's default filter refuses "
                       "perf_event_open"
                     : "perf_event_open is refused, though kernel.perf_event_paranoid would allow "
                       "it: a container or a security module forbids it",
         .remedy = "docker run --cap-add PERFMON --security-opt seccomp=unconfined IMAGE"});
  }
}

void check_devices(const SamplingSupport& support, std::vector<Problem>& problems) {
  if (!support.pmus.empty()) return;
  problems.push_back({.id = "no_sysfs",
                      .what = "/sys/bus/event_source/devices shows no PMU, not even the kernel's "
                              "own",
                      .remedy = as_root(support, "mount -t sysfs sysfs /sys")});
}

/// How to make a hypervisor give its guest a PMU.
std::string pmu_remedy(const std::string& hypervisor) {
  if (hypervisor == "KVM" || hypervisor == "QEMU") {
    return "on the host, start the guest with qemu's -cpu host,pmu=on (libvirt: "
           "<cpu mode='host-passthrough'/> and <features><pmu state='on'/></features>); rented "
           "machines: take a bare-metal one";
  }
  if (hypervisor == "VMware") return "in the guest's .vmx file: vpmc.enable = \"TRUE\"";
  if (hypervisor == "Hyper-V") {
    return "on the host: Set-VMProcessor VMNAME -Perfmon @(\"pmu\", \"pebs\")";
  }
  if (hypervisor == "Xen") return "boot Xen with vpmu=on on its command line";
  if (hypervisor == "Amazon EC2") return "take a .metal instance";
  return "run on bare metal, or under a hypervisor that has a virtual PMU (KVM, VMware, Hyper-V)";
}

void check_core_pmu(const SamplingSupport& support, std::vector<Problem>& problems) {
  if (support.pmus.empty() || support.machine.has_core_pmu()) return;
  const std::optional<std::string>& hypervisor = support.machine.cpu.hypervisor;
  if (hypervisor) {
    problems.push_back(
        {.id = "no_core_pmu",
         .what = fmt::format("no PMU of the CPU: the hypervisor ({}) does not give this guest one",
                             *hypervisor),
         .remedy = pmu_remedy(*hypervisor)});
    return;
  }
  problems.push_back({.id = "no_core_pmu",
                      .what = "no PMU of the CPU: the kernel has no driver for it, or the firmware "
                              "keeps it",
                      .remedy = "see what the kernel said: dmesg | grep -i 'performance events'"});
}

std::string level_name(int level) {
  return level == 0 ? "none" : std::string(static_cast<std::size_t>(level), 'p');
}

/// The most that any event of a PMU takes; nullopt when none can be sampled.
std::optional<int> highest_level(const Events& events, const Pmu& pmu) {
  std::optional<int> highest;
  for (const SampledEvent& event : events) {
    if (event.pmu != pmu.name || !event.usable()) continue;
    highest = std::max(highest.value_or(0), event.levels.back());
  }
  return highest;
}

void check_amd_levels(const SamplingSupport& support, const Pmu& pmu, int highest,
                      std::vector<Problem>& problems) {
  if (highest > 0) return;
  if (find_pmu(support.pmus, "ibs_op") != nullptr) {
    problems.push_back({.id = "ibs_needs_kernel",
                        .what = fmt::format("{}: no precise level: ibs_op cannot leave the kernel "
                                            "out, which only user mode may be sampled of here",
                                            pmu.name),
                        .remedy = as_root(support, "sysctl kernel.perf_event_paranoid=1")});
    return;
  }
  problems.push_back(
      {.id = "no_precise_level",
       .what = fmt::format(
           "{}: no precise level: ibs_op, which samples them on AMD, does not exist", pmu.name),
       .remedy = support.machine.cpu.hypervisor
                     ? "record on the host or on a bare-metal machine; guests have no IBS"
                     : "switch IBS on in the firmware setup, then see: dmesg | grep -i ibs"});
}

void check_intel_levels(const SamplingSupport& support, const Pmu& pmu, int highest,
                        std::vector<Problem>& problems) {
  const int promised = pmu.max_precise().value_or(0);
  if (highest < promised) {
    problems.push_back(
        {.id = "level_refused",
         .what =
             fmt::format("{}: caps/max_precise promises {}, but the kernel accepts levels up to "
                         "{} only",
                         pmu.name, level_name(std::min(promised, 3)), level_name(highest)),
         .remedy = fmt::format("ask for no more: skidscan record -p {}",
                               highest == 0 ? "none" : "none," + level_name(highest))});
  }
  if (promised > 0) return;
  problems.push_back(
      {.id = "no_precise_level",
       .what = fmt::format("{}: no precise level: PEBS is not available", pmu.name),
       .remedy = support.machine.cpu.hypervisor
                     ? "record on bare metal; KVM gives guests PEBS since Linux 6.0 on a host "
                       "of Ice Lake or later, started with qemu's -cpu host,pmu=on"
                     : "see what the kernel said: dmesg | grep -i pebs"});
}

void check_levels(const SamplingSupport& support, const Events& events,
                  std::vector<Problem>& problems) {
  for (const Pmu& pmu : support.pmus) {
    if (!pmu.core) continue;
    const std::optional<int> highest = highest_level(events, pmu);
    if (!highest) continue;
    if (is_amd(support.machine.cpu)) {
      check_amd_levels(support, pmu, *highest, problems);
    } else if (support.machine.cpu.vendor == "GenuineIntel") {
      check_intel_levels(support, pmu, *highest, problems);
    }
  }
}

std::string remedy_of_refusal(int error) {
  if (error == ENOSPC) return "end the debuggers and perf sessions that hold the debug registers";
  if (error == EBUSY) return "end the other perf session that holds the PMU";
  return "if this is a guest, the host decides: record on the host or on bare metal";
}

/// What sysfs shows and the kernel then refuses, for other reasons than permission: one problem for
/// all events of a PMU that it refuses alike.
void check_refusals(const Events& events, std::vector<Problem>& problems) {
  std::map<std::pair<std::string, int>, std::vector<std::string>> refused;
  for (const SampledEvent& event : events) {
    const int error = event.refusal.value_or(0);
    if (error == 0 || error == EACCES || error == EPERM || error == ENOSYS) continue;
    refused[{event.pmu, error}].push_back(event.name);
  }
  for (const auto& [pmu_and_error, names] : refused) {
    const auto& [pmu, error] = pmu_and_error;
    problems.push_back({.id = "event_refused",
                        .what = fmt::format("{}: the kernel refuses to open {} for sampling: {}",
                                            pmu, fmt::join(names, ", "), describe_errno(error)),
                        .remedy = remedy_of_refusal(error)});
  }
}

void check_allowed_cpus(const SamplingSupport& support, std::vector<Problem>& problems) {
  const std::vector<int>& allowed = support.machine.allowed_cpus;
  for (const Pmu& pmu : support.pmus) {
    if (!pmu.core || pmu.cpus.empty() || allowed.empty()) continue;
    std::vector<int> both;
    std::set_intersection(allowed.begin(), allowed.end(), pmu.cpus.begin(), pmu.cpus.end(),
                          std::back_inserter(both));
    if (!both.empty()) continue;
    problems.push_back({.id = "cpus_not_allowed",
                        .what = fmt::format("{}: this process may not run on its CPUs", pmu.name),
                        .remedy = fmt::format("taskset -c {} skidscan record", pmu.cpus.front())});
  }
}

/// kallsyms_show_value() of the kernel: CAP_SYSLOG sees addresses up to kptr_restrict 1, others see
/// them at 0, and where they may sample the kernel by perf_event_paranoid alone.
void check_kernel_symbols(const SamplingSupport& support, const Events& events,
                          std::vector<Problem>& problems) {
  const bool kernel_sampled = std::any_of(
      events.begin(), events.end(),
      [](const SampledEvent& event) { return event.modes == SampledModes::user_and_kernel; });
  if (!kernel_sampled) return;
  const int restriction = support.kptr_restrict.value_or(0);
  const int paranoid = support.machine.perf_event_paranoid.value_or(0);
  const bool syslog = support.rights.has_capability(ProcessRights::kSyslog);
  if (syslog ? restriction <= 1 : restriction <= 0 && paranoid <= 1) return;

  std::string what, settings;
  if (syslog || restriction > 0) {
    what = fmt::format("kernel.kptr_restrict is {}", restriction);
    settings = " kernel.kptr_restrict=0";
  }
  if (!syslog && paranoid > 1) {
    what += fmt::format("{}kernel.perf_event_paranoid is {}", what.empty() ? "" : ", ", paranoid);
    settings += " kernel.perf_event_paranoid=1";
  }
  if (!syslog) what += " and this process has no CAP_SYSLOG";
  problems.push_back({.id = "kernel_symbols_hidden",
                      .what = what + ": samples in the kernel have no function names",
                      .remedy = as_root(support, "sysctl" + settings)});
}

void check_settings(const SamplingSupport& support, const Events& events,
                    std::vector<Problem>& problems) {
  if (support.nmi_watchdog == 1 && any_core_event(events)) {
    problems.push_back({.id = "nmi_watchdog",
                        .what = "the NMI watchdog keeps one hardware counter for itself",
                        .remedy = as_root(support, "sysctl kernel.nmi_watchdog=0")});
  }
  const std::optional<int> rate = support.machine.perf_event_max_sample_rate;
  if (rate && *rate < kClockSamplesPerSecond && any_usable(events)) {
    problems.push_back(
        {.id = "low_sample_rate",
         .what = fmt::format("kernel.perf_event_max_sample_rate is {}: what comes more often a "
                             "second is throttled, and cpu-clock comes {} times",
                             *rate, kClockSamplesPerSecond),
         .remedy = as_root(support, "sysctl kernel.perf_event_max_sample_rate=100000")});
  }
  const std::optional<int> mlock = support.perf_event_mlock_kb;
  if (mlock && *mlock < kUsualMlockKb && !support.rights.may_sample_all()) {
    problems.push_back(
        {.id = "low_mlock",
         .what =
             fmt::format("kernel.perf_event_mlock_kb is {}: too little for perf's buffer", *mlock),
         .remedy =
             as_root(support, fmt::format("sysctl kernel.perf_event_mlock_kb={}", kUsualMlockKb))});
  }
  check_kernel_symbols(support, events, problems);
}

}  // namespace

std::vector<Problem> find_problems(const SamplingSupport& support,
                                   const std::vector<SampledEvent>& events, bool tried) {
  std::vector<Problem> problems;
  check_perf(support, problems);
  if (!check_kernel(support, events, problems)) return problems;
  check_permission(support, events, tried, problems);
  check_devices(support, problems);
  check_core_pmu(support, problems);
  check_refusals(events, problems);
  check_levels(support, events, problems);
  check_allowed_cpus(support, problems);
  check_settings(support, events, problems);
  return problems;
}

}  // namespace skid::machine
