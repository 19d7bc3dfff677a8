#include "src/machine/pmu.h"

#include "src/machine/cpuinfo.h"
#include "src/support/text.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace skid::machine {

namespace {

namespace fs = std::filesystem;

// Bounds far above those of real machines, of which the largest have some hundred PMUs, most of
// them on one CPU of each socket.
constexpr std::size_t kMostPmus = 512;
constexpr std::size_t kMostCpusTogether = std::size_t{1} << 18;
constexpr std::uint64_t kLongestCapFile = 4096;
constexpr std::size_t kLongestValue = 128;
constexpr std::size_t kMostCaps = 64;
constexpr std::size_t kMostFormats = 256;

/// As perf decides it (tools/perf/util/pmu.c): "cpu" by its name; the PMUs of hybrid x86 and of Arm
/// have a file `cpus`, where those outside the cores have `cpumask` or nothing.
bool is_core(const std::string& name, const FileTree& files, const fs::path& directory) {
  return name == "cpu" || files.exists(directory / "cpus");
}

std::map<std::string, std::string> read_caps(const FileTree& files, const fs::path& directory) {
  std::map<std::string, std::string> caps;
  for (const std::string& name : files.names_in(directory)) {
    if (caps.size() == kMostCaps) break;
    caps.emplace(name,
                 files.content_of(directory / name, kLongestCapFile).substr(0, kLongestValue));
  }
  return caps;
}

std::vector<std::string> read_formats(const FileTree& files, const fs::path& directory) {
  std::vector<std::string> names = files.names_in(directory);
  if (names.size() > kMostFormats) names.resize(kMostFormats);
  return names;
}

}  // namespace

std::optional<int> Pmu::max_precise() const {
  const auto found = caps.find("max_precise");
  return found == caps.end() ? std::nullopt : parse_integer(found->second);
}

std::vector<Pmu> read_pmus(const FileTree& files) {
  const fs::path devices = "sys/bus/event_source/devices";
  std::vector<Pmu> pmus;
  std::size_t cpus_together = 0;
  const auto read_cpus = [&](const fs::path& path) {
    std::vector<int> cpus = parse_cpu_list(files.content_of(path));
    cpus_together += cpus.size();
    if (cpus_together > kMostCpusTogether) cpus.clear();
    return cpus;
  };
  for (const std::string& name : files.names_in(devices)) {
    if (pmus.size() == kMostPmus) break;
    const fs::path directory = devices / name;
    const std::optional<int> type = parse_integer(files.content_of(directory / "type"));
    if (!type || *type < 0) continue;
    pmus.push_back({.name = name,
                    .type = static_cast<std::uint32_t>(*type),
                    .core = is_core(name, files, directory),
                    .caps = read_caps(files, directory / "caps"),
                    .cpus = read_cpus(directory / "cpus"),
                    .cpumask = read_cpus(directory / "cpumask"),
                    .formats = read_formats(files, directory / "format")});
  }
  return pmus;
}

const Pmu* find_pmu(const std::vector<Pmu>& pmus, std::string_view name) {
  return find_by(pmus, &Pmu::name, name);
}

bool is_arm_spe(const Pmu& pmu) {
  return pmu.name.starts_with("arm_spe_");
}

bool is_amd_ibs(const Pmu& pmu) {
  return pmu.name == "ibs_op" || pmu.name == "ibs_fetch";
}

}  // namespace skid::machine
