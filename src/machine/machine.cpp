#include "src/machine/machine.h"

#include "src/machine/cpuinfo.h"
#include "src/machine/file_tree.h"
#include "src/machine/sampling_support.h"
#include "src/support/process.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/utsname.h>

namespace skid::machine {
namespace {

namespace fs = std::filesystem;

struct Numbered {
  unsigned number;
  std::string_view name;
};
constexpr std::array<Numbered, 15> kImplementers{{{0x00, "emulated"},
                                                  {0x41, "Arm"},
                                                  {0x42, "Broadcom"},
                                                  {0x43, "Cavium"},
                                                  {0x46, "Fujitsu"},
                                                  {0x48, "HiSilicon"},
                                                  {0x4e, "NVIDIA"},
                                                  {0x50, "APM"},
                                                  {0x51, "Qualcomm"},
                                                  {0x53, "Samsung"},
                                                  {0x56, "Marvell"},
                                                  {0x61, "Apple"},
                                                  {0x69, "Intel"},
                                                  {0x6d, "Microsoft"},
                                                  {0xc0, "Ampere"}}};

constexpr std::array<Numbered, 28> kCores{
    {{0xd03, "Cortex-A53"},  {0xd04, "Cortex-A35"},    {0xd05, "Cortex-A55"},
     {0xd07, "Cortex-A57"},  {0xd08, "Cortex-A72"},    {0xd09, "Cortex-A73"},
     {0xd0a, "Cortex-A75"},  {0xd0b, "Cortex-A76"},    {0xd0c, "Neoverse N1"},
     {0xd0d, "Cortex-A77"},  {0xd40, "Neoverse V1"},   {0xd41, "Cortex-A78"},
     {0xd44, "Cortex-X1"},   {0xd46, "Cortex-A510"},   {0xd47, "Cortex-A710"},
     {0xd48, "Cortex-X2"},   {0xd49, "Neoverse N2"},   {0xd4a, "Neoverse E1"},
     {0xd4b, "Cortex-A78C"}, {0xd4d, "Cortex-A715"},   {0xd4e, "Cortex-X3"},
     {0xd4f, "Neoverse V2"}, {0xd80, "Cortex-A520"},   {0xd81, "Cortex-A720"},
     {0xd82, "Cortex-X4"},   {0xd83, "Neoverse V3AE"}, {0xd84, "Neoverse V3"},
     {0xd8e, "Neoverse N3"}}};

template <std::size_t N>
std::string_view name_of(const std::array<Numbered, N>& known, unsigned number) {
  const Numbered* found = find_by(known, &Numbered::number, number);
  return found == nullptr ? std::string_view() : found->name;
}

/// cpuinfo of the largest machines has a few MiB.
constexpr std::uint64_t kMostCpuinfo = std::uint64_t{16} << 20;

void add_pmus(const FileTree& files, Machine& machine) {
  for (const Pmu& pmu : read_pmus(files)) {
    if (pmu.core) {
      machine.core_pmus.push_back(
          {.name = pmu.name, .type = pmu.type, .max_precise = pmu.max_precise(), .cpus = pmu.cpus});
    } else if (is_amd_ibs(pmu) || is_arm_spe(pmu)) {
      machine.other_pmus.push_back(pmu.name);
      if (pmu.name != "ibs_op") continue;
      const bool swfilt = contains(pmu.formats, "swfilt");
      machine.ibs_op = IbsOp{.type = pmu.type, .swfilt = swfilt};
    }
  }
}

std::optional<bool> read_smt(const FileTree& files) {
  const std::string active = files.content_of("sys/devices/system/cpu/smt/active");
  if (active != "0" && active != "1") return std::nullopt;
  return active == "1";
}

/// "48K", "1M": bytes; 0 for anything else.
std::uint64_t parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  if (error != std::errc() || number > kMost) return 0;
  if (unit == "K") return number << 10U;
  if (unit == "M") return number << 20U;
  return unit.empty() ? number : 0;
}

std::vector<DataCache> data_caches(const FileTree& files, int cpu) {
  const fs::path directory =
      fs::path("sys/devices/system/cpu") / ("cpu" + std::to_string(cpu)) / "cache";
  std::vector<DataCache> caches;
  for (const std::string& name : files.names_in(directory)) {
    if (!name.starts_with("index")) continue;
    const std::string type = files.content_of(directory / name / "type");
    if (type != "Data" && type != "Unified") continue;
    const std::optional<int> level = parse_integer(files.content_of(directory / name / "level"));
    const std::uint64_t bytes = parse_size(files.content_of(directory / name / "size"));
    if (level && bytes != 0) caches.push_back({*level, bytes});
  }
  return caches;
}

/// From /proc/meminfo; 0 if it does not contain it.
std::uint64_t memory_bytes(const FileTree& files) {
  const std::string meminfo = files.content_of("proc/meminfo");
  // "MemTotal:       24616944 kB"
  std::string_view total = status_value(meminfo, "MemTotal");
  if (!total.ends_with(" kB")) return 0;
  total.remove_suffix(3);
  return parse_size(std::string(total) + "K");
}

/// The first line with something in it.
std::string first_line(std::string_view text) {
  text = trimmed(text);
  return std::string(trimmed(text.substr(0, text.find('\n'))));
}

}  // namespace

std::string_view arm_implementer(unsigned implementer) {
  return name_of(kImplementers, implementer);
}

std::string_view arm_core_name(unsigned implementer, unsigned part) {
  return has_parts_of_arm(implementer) ? name_of(kCores, part) : std::string_view();
}

std::string level_name(int level) {
  if (level < 0 || level > kHighestLevel) return fmt::format("level {}", level);
  return level == 0 ? "none" : std::string(static_cast<std::size_t>(level), 'p');
}

std::optional<int> level_named(std::string_view name) {
  for (const int level : levels_up_to(kHighestLevel)) {
    if (level_name(level) == name) return level;
  }
  return std::nullopt;
}

std::vector<int> levels_up_to(int highest) {
  std::vector<int> levels(static_cast<std::size_t>(std::clamp(highest, 0, kHighestLevel)) + 1);
  std::iota(levels.begin(), levels.end(), 0);
  return levels;
}

Machine inspect(const fs::path& root) {
  const FileTree files(root);
  const bool here = files.is_here();
  const fs::path kernel = "proc/sys/kernel";
  Machine machine;

  const CpuInfo info = parse_cpuinfo(files.content_of("proc/cpuinfo", kMostCpuinfo));
  machine.cpu = info.identity;
  machine.cpu_flags = info.flags;
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
                       .flag = contains(info.flags, "hypervisor"),
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
  const std::string status = files.content_of("proc/self/status");
  machine.allowed_cpus = parse_cpu_list(status_value(status, "Cpus_allowed_list"));
  machine.privileged =
      ProcessRights{.user = {}, .effective_capabilities = effective_capabilities(status)}
          .may_sample_all();
  for (const int cpu : machine.allowed_cpus) {
    std::vector<DataCache> caches = data_caches(files, cpu);
    if (!caches.empty()) machine.data_caches.emplace(cpu, std::move(caches));
  }
  machine.memory_bytes = memory_bytes(files);
  return machine;
}

std::optional<PerfTool> parse_perf_version(std::string_view output) {
  constexpr std::string_view kPrefix = "perf version ";
  const std::size_t prefix = output.find(kPrefix);
  if (prefix == std::string_view::npos) return std::nullopt;
  std::string_view rest = output.substr(prefix + kPrefix.size());
  rest = rest.substr(0, rest.find_first_of(" \t\r\n"));

  PerfTool tool{.version = std::string(rest)};
  const Since version = version_of(rest);
  if (version == Since{}) return std::nullopt;
  tool.major = version.major;
  tool.minor = version.minor;
  return tool;
}

PerfTool find_perf(const std::string& chosen) {
  const char* const named = chosen.empty() ? std::getenv("PERF") : chosen.c_str();
  const std::string name = named == nullptr || *named == '\0' ? "perf" : named;
  const auto path = find_program(name);
  if (!path && name != "perf") {
    throw NoPerf({.what = name + ": not an executable file or a program in PATH",
                  .remedy = chosen.empty() ? "name the perf to use in the environment variable PERF"
                                           : "name another one, or install perf"});
  }
  const auto throw_no_perf = [](std::string what) {
    throw NoPerf({.what = std::move(what),
                  .remedy = "install it (Debian: apt install linux-perf; Ubuntu: apt install "
                            "linux-tools-generic linux-tools-$(uname -r); Fedora: dnf install "
                            "perf)"});
  };
  if (!path) throw_no_perf("perf: not found in PATH");
  const std::filesystem::path absolute = std::filesystem::absolute(*path);

  constexpr std::chrono::seconds kLongest{30};
  ChildProcess child({absolute.string(), "--version"});
  if (!child.wait(kLongest)) {
    throw_no_perf(
        fmt::format("{}: --version did not end within {} s", absolute.string(), kLongest.count()));
  }
  const Completed& done = child.result();
  std::optional<PerfTool> tool = parse_perf_version(done.out);
  if (!done.code.success()) {
    // Ubuntu's wrapper names here the kernel that it has no perf for.
    const std::string message = first_line(done.err.empty() ? done.out : done.err);
    throw_no_perf(fmt::format("{}: does not run: {}", absolute.string(),
                              message.empty() ? describe(done.code) : message));
  }
  if (!tool) {
    throw_no_perf(fmt::format("{}: no version in what --version prints (\"{}\")", absolute.string(),
                              first_line(done.out)));
  }
  tool->path = absolute;
  return *tool;
}

}  // namespace skid::machine
