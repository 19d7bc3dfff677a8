#include "src/machine/machine.h"

#include "src/machine/cpuinfo.h"
#include "src/machine/hypervisor.h"
#include "src/support/error.h"
#include "src/support/file.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <sys/utsname.h>

namespace skid::machine {

namespace {

namespace fs = std::filesystem;

/// cpuinfo of the largest machines has a few MiB; everything else read here is a line.
constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;

/// The CPU numbers that Linux can be built for end well below this.
constexpr int kMostCpus = 65536;

/// The content of a file without white space at its ends; empty when it cannot be read.
std::string content_of(const fs::path& path) {
  try {
    return std::string(trimmed(read_file(path, kMostBytes)));
  } catch (const Error&) {
    return {};
  }
}

/// A CPU list as the kernel prints it: "0-3,8,10-11".
std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view range = trimmed(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const std::size_t dash = range.find('-');
    const auto first = parse_integer(range.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_integer(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last >= kMostCpus) continue;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

/// "Cpus_allowed_list:\t0-1" among the lines of /proc/self/status.
std::vector<int> allowed_cpus(const fs::path& root) {
  constexpr std::string_view kKey = "\nCpus_allowed_list:";
  const std::string status = content_of(root / "proc/self/status");
  const std::size_t key = status.find(kKey);
  if (key == std::string::npos) return {};
  const std::string_view rest = std::string_view(status).substr(key + kKey.size());
  return parse_cpu_list(rest.substr(0, rest.find('\n')));
}

/// As perf decides it (tools/perf/util/pmu.c): "cpu" by its name; the PMUs of hybrid x86 and of Arm
/// have a file `cpus`, where those outside the cores have `cpumask` or nothing.
bool is_core_pmu(const fs::path& directory) {
  std::error_code ignored;
  return directory.filename() == "cpu" || fs::exists(directory / "cpus", ignored);
}

std::vector<CorePmu> core_pmus(const fs::path& root) {
  std::vector<CorePmu> pmus;
  std::error_code error;
  fs::directory_iterator entries(root / "sys/bus/event_source/devices", error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const fs::path& directory = entries->path();
    if (!is_core_pmu(directory)) continue;
    // What has no type cannot be named in perf_event_attr, so it can sample nothing.
    const std::optional<int> type = parse_integer(content_of(directory / "type"));
    if (!type || *type < 0) continue;
    pmus.push_back({.name = directory.filename().string(),
                    .type = static_cast<std::uint32_t>(*type),
                    .max_precise = parse_integer(content_of(directory / "caps/max_precise")),
                    .cpus = parse_cpu_list(content_of(directory / "cpus"))});
  }
  std::sort(pmus.begin(), pmus.end(),
            [](const CorePmu& a, const CorePmu& b) { return a.name < b.name; });
  return pmus;
}

}  // namespace

Machine inspect(const fs::path& root) {
  const bool here = root == "/";
  const fs::path kernel = root / "proc/sys/kernel";
  Machine machine;

  const CpuInfo info = parse_cpuinfo(content_of(root / "proc/cpuinfo"));
  machine.cpu = info.identity;
  utsname name{};
  if (here && ::uname(&name) == 0) {
    machine.kernel = name.release;
    machine.hostname = name.nodename;
    machine.cpu.arch = name.machine;
  } else {
    machine.kernel = content_of(kernel / "osrelease");
    machine.hostname = content_of(kernel / "hostname");
    const std::string arch = content_of(kernel / "arch");  // since Linux 6.1
    if (!arch.empty()) machine.cpu.arch = arch;
  }

  machine.cpu.hypervisor =
      name_hypervisor({.x86 = machine.cpu.arch == "x86_64",
                       .flag = info.hypervisor_flag,
                       .signatures = here ? cpuid_signatures() : std::vector<std::string>(),
                       .sys_hypervisor = content_of(root / "sys/hypervisor/type"),
                       .device_tree = content_of(root / "proc/device-tree/hypervisor/compatible"),
                       .dmi_vendor = content_of(root / "sys/class/dmi/id/sys_vendor"),
                       .dmi_product = content_of(root / "sys/class/dmi/id/product_name")});

  machine.core_pmus = core_pmus(root);
  machine.perf_event_paranoid = parse_integer(content_of(kernel / "perf_event_paranoid"));
  machine.perf_event_max_sample_rate =
      parse_integer(content_of(kernel / "perf_event_max_sample_rate"));
  machine.allowed_cpus = allowed_cpus(root);
  return machine;
}

}  // namespace skid::machine
