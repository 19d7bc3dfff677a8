#include "src/machine/answer_reason.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/diagnosis.h"
#include "src/machine/machine.h"
#include "src/machine/sampled_event.h"
#include "src/machine/sampling_support.h"
#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <compare>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::machine {
namespace {

/// `record` samples cpu-clock this often by default: its period is 99,991 nanoseconds.
constexpr int kClockSamplesPerSecond = 10'001;
/// The kernel's default, which covers the buffer of `perf record`: 512 KiB and one page.
constexpr int kUsualMlockKb = 516;

std::string setting(const std::optional<int>& value) {
  return value ? fmt::format("{}", *value) : "unknown";
}

/// Intel's CPUs with cores of two kinds, of family 6: INTEL_ALDERLAKE to INTEL_PANTHERLAKE_L in
/// arch/x86/include/asm/intel-family.h. Some products of these models have one kind only.
bool may_be_hybrid(const CpuIdentity& cpu) {
  constexpr std::array kModels{0x97, 0x9a, 0xaa, 0xac, 0xb5, 0xb7, 0xba,
                               0xbd, 0xbf, 0xc5, 0xc6, 0xcc, 0xd5};
  return cpu.vendor == "GenuineIntel" && cpu.family == 6 && cpu.model &&
         contains(kModels, *cpu.model);
}

/// Whether KVM can give guests PEBS (x86_pmu.pebs_ept in arch/x86/events/intel): the hosts are
/// servers, from Ice Lake on.
bool may_have_pebs_in_guests(const CpuIdentity& cpu) {
  constexpr std::array kModels{0x6a, 0x6c, 0x8f, 0xad, 0xae, 0xaf, 0xb6, 0xcf, 0xdd};
  constexpr int kLaterFamilies = 18;  // Diamond Rapids is of 19
  return cpu.family >= kLaterFamilies ||
         (cpu.family == 6 && cpu.model && contains(kModels, *cpu.model));
}

/// How to make a hypervisor give its guest a PMU.
std::string pmu_remedy(const CpuIdentity& cpu) {
  const std::string& hypervisor = *cpu.hypervisor;
  const bool is_kvm = hypervisor == "KVM" || hypervisor == "QEMU";
  if (is_kvm && may_be_hybrid(cpu)) {
    return "record on the host: KVM has no PMU for guests of hosts with P-cores and E-cores";
  }
  if (is_kvm && is_amd(cpu)) {
    return "take a bare-metal machine: KVM gives guests a PMU (qemu's -cpu host,pmu=on), but not "
           "IBS, by which AMD's CPUs sample precisely";
  }
  if (is_kvm) {
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

std::string remedy_of_refusal(int error) {
  if (error == ENOSPC) return "end the debuggers and perf sessions that hold the debug registers";
  if (error == EBUSY) return "end the other perf session that holds the PMU";
  return "if this is a guest, the host decides: record on the host or on bare metal";
}

struct ProblemFinder {
  const SamplingSupport& support;
  const std::vector<SampledEvent>& events;
  std::vector<Problem> problems = {};

  std::vector<Problem> find() && {
    check_perf();
    if (!check_kernel()) return std::move(problems);
    check_permission();
    check_devices();
    check_core_pmu();
    check_refusals();
    check_no_samples();
    check_levels();
    check_allowed_cpus();
    check_settings();
    return std::move(problems);
  }

  void add(std::string id, std::string what, std::string remedy) {
    problems.push_back({std::move(id), std::move(what), std::move(remedy)});
  }

  bool any_refused_with(int error) const {
    return find_by(events, &SampledEvent::refusal, error) != nullptr;
  }

  bool any_usable() const { return std::ranges::any_of(events, &SampledEvent::usable); }

  bool kernel_sampled() const {
    return find_by(events, &SampledEvent::modes, SampledModes::user_and_kernel) != nullptr;
  }

  /// A command that needs root; in a container, settings of the kernel are the host's to change.
  std::string as_root(std::string_view command) const {
    const std::string sudo = support.rights.user == 0 && !support.rights.container ? "" : "sudo ";
    return fmt::format("{}{}{}", support.rights.container ? "outside of the container: " : "", sudo,
                       command);
  }

  void check_perf() {
    if (!support.perf_missing) return;
    add("no_perf", support.perf_missing->what, support.perf_missing->remedy);
  }

  bool check_kernel() {
    const bool refused = any_refused_with(ENOSYS);
    if (!refused && (any_usable() || support.machine.perf_event_paranoid)) return true;
    add("no_perf_events",
        refused ? "this kernel has no perf_event_open"
                : "this kernel has no /proc/sys/kernel/perf_event_paranoid, so no "
                  "perf events",
        "boot a kernel that is built with CONFIG_PERF_EVENTS=y; sandboxes such as gVisor "
        "have none");
    return false;
  }

  void check_permission() {
    const bool open = any_usable();
    if (kernel_sampled()) return;
    const bool permission = any_refused_with(EACCES) || any_refused_with(EPERM);
    if (!open && !permission) return;

    const std::optional<int> paranoid = support.machine.perf_event_paranoid;
    if (open) {
      add("user_only",
          fmt::format("only user mode can be sampled: kernel.perf_event_paranoid is {} and "
                      "this process has neither CAP_PERFMON nor CAP_SYS_ADMIN",
                      setting(paranoid)),
          as_root(kOpenSampling));
      return;
    }
    // Debian's and Ubuntu's kernels close everything above 2, also to CAP_PERFMON.
    const bool paranoid_refuses = !support.rights.has_sys_admin() && (!paranoid || *paranoid > 2);
    if (paranoid_refuses) {
      add("no_permission",
          fmt::format("nothing can be sampled: kernel.perf_event_paranoid is {} and this "
                      "process has no CAP_SYS_ADMIN",
                      setting(paranoid)),
          as_root(kOpenSampling));
    }
    if (support.rights.seccomp_filter || support.rights.container || !paranoid_refuses) {
      add("system_call_filter",
          support.rights.seccomp_filter
              ? "system calls are filtered (seccomp); Docker's default filter refuses "
                "perf_event_open"
              : "perf_event_open is refused, though kernel.perf_event_paranoid would allow "
                "it: a container or a security module forbids it",
          kOpenContainer);
    }
  }

  void check_devices() {
    if (!support.pmus.empty()) return;
    add("no_sysfs", "/sys/bus/event_source/devices shows no PMU, not even the kernel's own",
        as_root("mount -t sysfs sysfs /sys"));
  }

  void check_core_pmu() {
    if (support.pmus.empty() || support.machine.has_core_pmu()) return;
    const std::optional<std::string>& hypervisor = support.machine.cpu.hypervisor;
    add("no_core_pmu",
        hypervisor
            ? fmt::format("no PMU of the CPU: the hypervisor ({}) does not give this guest one",
                          *hypervisor)
            : "no PMU of the CPU: the kernel has no driver for it, or the firmware keeps it",
        hypervisor ? pmu_remedy(support.machine.cpu)
                   : "see the kernel's messages: dmesg | grep -i 'performance events'");
  }

  /// The most that any event of a PMU takes; nullopt when none can be sampled.
  std::optional<int> highest_level(const Pmu& pmu) const {
    std::optional<int> highest;
    for (const SampledEvent& event : events) {
      if (event.pmu != pmu.name || !event.usable()) continue;
      highest = std::max(highest.value_or(0), event.levels.back());
    }
    return highest;
  }

  void check_amd_levels(const Pmu& pmu, int highest) {
    if (highest > 0) return;
    if (find_pmu(support.pmus, "ibs_op") != nullptr) {
      const bool swfilt = support.machine.ibs_op && support.machine.ibs_op->swfilt;
      add("ibs_needs_kernel",
          fmt::format("{}: no precise level: only user mode may be sampled, and {}", pmu.name,
                      why_not_filtered(support.machine).what),
          fmt::format("{}{}",
                      swfilt ? "perf record -e ibs_op/swfilt=1/u, in place of cycles:pp; or " : "",
                      as_root(kOpenSampling)));
      return;
    }
    add("no_precise_level",
        fmt::format("{}: no precise level: ibs_op, which samples them on AMD, does not exist",
                    pmu.name),
        support.machine.cpu.hypervisor
            ? "record on the host or on a bare-metal machine; guests have no IBS"
            : "switch IBS on in the firmware setup, then see: dmesg | grep -i ibs");
  }

  void check_intel_levels(const Pmu& pmu, int highest) {
    const int reported = pmu.max_precise().value_or(0);
    if (highest < reported) {
      add("level_refused",
          fmt::format("{}: caps/max_precise is {}, but the kernel accepts levels up to "
                      "{} only",
                      pmu.name, level_name(std::min(reported, 3)), level_name(highest)),
          fmt::format("ask for no more: skidscan record -p {}",
                      highest == 0 ? "none" : "none," + level_name(highest)));
    }
    if (reported > 0) return;
    add("no_precise_level", fmt::format("{}: no precise level: PEBS is not available", pmu.name),
        !support.machine.cpu.hypervisor ? "see the kernel's messages: dmesg | grep -i pebs"
        : may_have_pebs_in_guests(support.machine.cpu)
            ? "record on bare metal; KVM gives guests PEBS since Linux 6.0, started with qemu's "
              "-cpu host,pmu=on"
            : "record on bare metal; KVM has PEBS only for guests of servers, from Ice Lake on");
  }

  void check_levels() {
    for (const Pmu& pmu : support.pmus) {
      if (!pmu.core) continue;
      const std::optional<int> highest = highest_level(pmu);
      if (!highest) continue;
      if (is_amd(support.machine.cpu)) {
        check_amd_levels(pmu, *highest);
      } else if (support.machine.cpu.vendor == "GenuineIntel") {
        check_intel_levels(pmu, *highest);
      }
    }
  }

  /// An event that was accepted and gave no samples is an outcome of its own.
  void check_no_samples() {
    for (const SampledEvent& event : events) {
      for (const LevelAnswer& answer : event.answers) {
        if (answer.acceptance != Acceptance::no_samples) continue;
        add("no_samples",
            fmt::format("{} at level {}: {}", event.name, level_name(answer.level),
                        answer.reason.what),
            !answer.reason.remedy.empty() ? answer.reason.remedy
            : answer.level == 0           ? "record it, and see whether samples come"
                                          : "record it, and compare with level none");
        return;
      }
    }
  }

  /// Reports events that sysfs shows and the kernel refuses for other reasons than permission: one
  /// problem for all events of a PMU that it refuses alike.
  void check_refusals() {
    std::map<std::pair<std::string, int>, std::vector<std::string>> refused;
    for (const SampledEvent& event : events) {
      const int error = event.refusal.value_or(0);
      if (error == 0 || error == EACCES || error == EPERM || error == ENOSYS) continue;
      refused[{event.pmu, error}].push_back(event.name);
    }
    for (const auto& [pmu_and_error, names] : refused) {
      const auto& [pmu, error] = pmu_and_error;
      add("event_refused",
          fmt::format("{}: the kernel refuses to open {} for sampling: {}", pmu,
                      fmt::join(names, ", "), describe_errno(error)),
          remedy_of_refusal(error));
    }
  }

  void check_allowed_cpus() {
    const std::vector<int>& allowed = support.machine.allowed_cpus;
    for (const Pmu& pmu : support.pmus) {
      if (!pmu.core || pmu.cpus.empty() || allowed.empty()) continue;
      std::vector<int> both;
      std::set_intersection(allowed.begin(), allowed.end(), pmu.cpus.begin(), pmu.cpus.end(),
                            std::back_inserter(both));
      if (!both.empty()) continue;
      add("cpus_not_allowed", fmt::format("{}: this process may not run on its CPUs", pmu.name),
          fmt::format("taskset -c {} skidscan record", pmu.cpus.front()));
    }
  }

  /// kallsyms_show_value() of the kernel: CAP_SYSLOG sees addresses up to kptr_restrict 1, others
  /// see them at 0, and where they may sample the kernel by perf_event_paranoid alone.
  void check_kernel_symbols() {
    if (!kernel_sampled()) return;
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
    add("kernel_symbols_hidden", what + ": samples in the kernel have no function names",
        as_root("sysctl" + settings));
  }

  void check_settings() {
    const bool any_core_event = std::ranges::any_of(
        events, [](const SampledEvent& event) { return !event.built_in && event.usable(); });
    if (support.nmi_watchdog == 1 && any_core_event) {
      add("nmi_watchdog", "the NMI watchdog keeps one hardware counter for itself",
          as_root("sysctl kernel.nmi_watchdog=0"));
    }
    const std::optional<int> rate = support.machine.perf_event_max_sample_rate;
    if (rate && *rate < kClockSamplesPerSecond && any_usable()) {
      add("low_sample_rate",
          fmt::format("kernel.perf_event_max_sample_rate is {}: faster sampling is "
                      "throttled; cpu-clock takes {} samples a second",
                      *rate, kClockSamplesPerSecond),
          as_root("sysctl kernel.perf_event_max_sample_rate=100000"));
    }
    const std::optional<int> mlock = support.perf_event_mlock_kb;
    if (mlock && *mlock < kUsualMlockKb && !support.rights.may_sample_all()) {
      add("low_mlock",
          fmt::format("kernel.perf_event_mlock_kb is {}: too little for perf's buffer", *mlock),
          as_root(fmt::format("sysctl kernel.perf_event_mlock_kb={}", kUsualMlockKb)));
    }
    check_kernel_symbols();
  }
};

}  // namespace

std::vector<Problem> find_problems(const SamplingSupport& support,
                                   const std::vector<SampledEvent>& events) {
  return ProblemFinder{support, events}.find();
}

}  // namespace skid::machine
