#include "src/machine/sampling_support.h"

#include "src/machine/cpuinfo.h"
#include "src/support/error.h"

#include <chrono>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace skid::machine {
namespace {

namespace fs = std::filesystem;

/// As perf decides it (tools/perf/util/pmu.c): "cpu" by its name; the PMUs of hybrid x86 and of Arm
/// have a file `cpus`, where those outside the cores have `cpumask` or nothing.
bool is_core(const std::string& name, const FileTree& files, const fs::path& directory) {
  return name == "cpu" || files.exists(directory / "cpus");
}

std::map<std::string, std::string> read_caps(const FileTree& files, const fs::path& directory) {
  std::map<std::string, std::string> caps;
  for (const std::string& name : files.names_in(directory)) {
    caps.emplace(name, files.content_of(directory / name));
  }
  return caps;
}

/// "Uid:" has the real, effective, saved and file system user id.
std::optional<std::uint64_t> effective_user(std::string_view ids) {
  const std::size_t real_end = ids.find('\t');
  if (real_end == std::string_view::npos) return std::nullopt;
  ids.remove_prefix(real_end + 1);
  return whole_number<std::uint64_t>(take_until('\t', ids));
}

ProcessRights read_rights(const FileTree& files) {
  const std::string status = files.content_of("proc/self/status");
  return {.user = effective_user(status_value(status, "Uid")),
          .effective_capabilities = effective_capabilities(status),
          .seccomp_filter = status_value(status, "Seccomp") == "2",
          .container = files.exists(".dockerenv") || files.exists("run/.containerenv")};
}

void look_for_perf(const std::string& perf, SamplingSupport& support) {
  try {
    support.perf = find_perf(perf);
  } catch (const NoPerf& missing) {
    support.perf_missing = missing.reason();
  } catch (const Error& error) {  // perf cannot be started
    support.perf_missing = {.what = error.what(), .remedy = "install perf, or name another one"};
  }
}

}  // namespace

std::optional<int> Pmu::max_precise() const {
  const auto found = caps.find("max_precise");
  return found == caps.end() ? std::nullopt : parse_integer(found->second);
}

std::vector<Pmu> read_pmus(const FileTree& files) {
  const fs::path devices = "sys/bus/event_source/devices";
  std::vector<Pmu> pmus;
  for (const std::string& name : files.names_in(devices)) {
    const fs::path directory = devices / name;
    const std::optional<int> type = parse_integer(files.content_of(directory / "type"));
    if (!type || *type < 0) continue;
    pmus.push_back({.name = name,
                    .type = static_cast<std::uint32_t>(*type),
                    .core = is_core(name, files, directory),
                    .caps = read_caps(files, directory / "caps"),
                    .cpus = parse_cpu_list(files.content_of(directory / "cpus")),
                    .cpumask = parse_cpu_list(files.content_of(directory / "cpumask")),
                    .formats = files.names_in(directory / "format")});
  }
  return pmus;
}

std::string Midr::name() const {
  const std::string_view core = arm_core_name(implementer, part);
  return core.empty() ? std::string() : fmt::format("{} r{}p{}", core, variant, revision);
}

std::optional<Midr> parse_midr(std::string_view text) {
  const auto value = hexadecimal_number(text);
  if (!value) return std::nullopt;
  const auto bits = [&](unsigned high, unsigned low) {
    return static_cast<unsigned>((*value >> low) & ((std::uint64_t{1} << (high - low + 1)) - 1));
  };
  return Midr{.value = *value,
              .implementer = bits(31, 24),
              .variant = bits(23, 20),
              .part = bits(15, 4),
              .revision = bits(3, 0)};
}

SamplingSupport read_sampling_support(const fs::path& root, const std::string& perf) {
  const FileTree files(root);
  const fs::path kernel = "proc/sys/kernel";
  SamplingSupport support;
  support.machine = inspect(root);
  support.midr =
      parse_midr(files.content_of("sys/devices/system/cpu/cpu0/regs/identification/midr_el1"));
  support.pmus = read_pmus(files);
  support.perf_event_mlock_kb = parse_integer(files.content_of(kernel / "perf_event_mlock_kb"));
  support.nmi_watchdog = parse_integer(files.content_of(kernel / "nmi_watchdog"));
  support.kptr_restrict = parse_integer(files.content_of(kernel / "kptr_restrict"));
  support.rights = read_rights(files);
  if (files.is_here()) look_for_perf(perf, support);
  return support;
}

}  // namespace skid::machine
