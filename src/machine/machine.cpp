#include "src/machine/machine.h"

#include "src/machine/cpuinfo.h"
#include "src/machine/file_tree.h"
#include "src/machine/hypervisor.h"
#include "src/machine/pmu.h"

#include <sys/utsname.h>

namespace skid::machine {

namespace {

namespace fs = std::filesystem;

/// cpuinfo of the largest machines has a few MiB.
constexpr std::uint64_t kMostCpuinfo = std::uint64_t{16} << 20;

void add_pmus(const FileTree& files, Machine& machine) {
  for (const Pmu& pmu : read_pmus(files)) {
    if (pmu.core) {
      machine.core_pmus.push_back(
          {.name = pmu.name, .type = pmu.type, .max_precise = pmu.max_precise(), .cpus = pmu.cpus});
    } else if (is_amd_ibs(pmu) || is_arm_spe(pmu)) {
      machine.other_pmus.push_back(pmu.name);
    }
  }
}

std::optional<bool> read_smt(const FileTree& files) {
  const std::string active = files.content_of("sys/devices/system/cpu/smt/active");
  if (active != "0" && active != "1") return std::nullopt;
  return active == "1";
}

}  // namespace

bool is_amd(const CpuIdentity& cpu) {
  return cpu.vendor == "AuthenticAMD" || cpu.vendor == "HygonGenuine";
}

Machine inspect(const fs::path& root) {
  const FileTree files(root);
  const bool here = files.is_here();
  const fs::path kernel = "proc/sys/kernel";
  Machine machine;

  const CpuInfo info = parse_cpuinfo(files.content_of("proc/cpuinfo", kMostCpuinfo));
  machine.cpu = info.identity;
  utsname name{};
  if (here && ::uname(&name) == 0) {
    machine.kernel = name.release;
    machine.hostname = name.nodename;
    machine.cpu.arch = name.machine;
  } else {
    machine.kernel = files.content_of(kernel / "osrelease");
    machine.hostname = files.content_of(kernel / "hostname");
    const std::string arch = files.content_of(kernel / "arch");  // since Linux 6.1
    if (!arch.empty()) machine.cpu.arch = arch;
  }

  machine.cpu.hypervisor =
      name_hypervisor({.x86 = machine.cpu.arch == "x86_64",
                       .flag = info.hypervisor_flag,
                       .signatures = here ? cpuid_signatures() : std::vector<std::string>(),
                       .sys_hypervisor = files.content_of("sys/hypervisor/type"),
                       .device_tree = files.content_of("proc/device-tree/hypervisor/compatible"),
                       .dmi_vendor = files.content_of("sys/class/dmi/id/sys_vendor"),
                       .dmi_product = files.content_of("sys/class/dmi/id/product_name")});

  add_pmus(files, machine);
  machine.perf_event_paranoid = parse_integer(files.content_of(kernel / "perf_event_paranoid"));
  machine.perf_event_max_sample_rate =
      parse_integer(files.content_of(kernel / "perf_event_max_sample_rate"));
  machine.smt_active = read_smt(files);
  machine.allowed_cpus =
      parse_cpu_list(status_value(files.content_of("proc/self/status"), "Cpus_allowed_list"));
  return machine;
}

}  // namespace skid::machine
