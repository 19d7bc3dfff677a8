#include "src/events/cpu.h"

#include "src/events/intel_table.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/machine/zen.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace skid::events {
namespace {

constexpr auto kCpus = std::to_array<CpuNames>({
    {"bonnell", "atom", Core::bonnell, {"bnl", "saltwell"}},
    {"NehalemEP", "nhm", Core::nehalem, {"nehalem", "nhm_ep"}},
    {"NehalemEX", "nhm_ex", Core::nehalem, {}},
    {"WestmereEP-SP", "wsm", Core::westmere, {"westmere", "wsm_ep_sp"}},
    {"WestmereEP-DP", "wsm_dp", Core::westmere, {"wsm_ep_dp"}},
    {"WestmereEX", "", Core::westmere, {"wsm_ex"}},
    {"sandybridge", "snb", Core::sandy_bridge, {}},
    {"Jaketown", "snb_ep", Core::sandy_bridge, {"jkt", "sandybridge_x"}},
    {"ivybridge", "ivb", Core::ivy_bridge, {}},
    {"ivytown", "ivb_ep", Core::ivy_bridge, {"ivt", "ivybridge_x"}},
    {"haswell", "hsw", Core::haswell, {}},
    {"haswellx", "hsw_ep", Core::haswell, {"hsx"}},
    {"broadwell", "bdw", Core::broadwell, {}},
    {"broadwellde", "", Core::broadwell, {"bdw_de", "broadwell_d"}},
    {"broadwellx", "bdw_ep", Core::broadwell, {"bdx"}},
    {"skylake", "skl", Core::skylake, {"kabylake", "kbl", "coffeelake", "cfl", "cometlake", "cml"}},
    {"skylakex", "skx", Core::skylake_server, {"skylake_avx512"}},
    {"cascadelakex", "clx", Core::skylake_server, {"cascadelake", "cooperlake", "cpx"}},
    {"icelake", "icl", Core::icelake, {"icelake_client"}},
    {"icelakex", "icx", Core::icelake, {"icelake_server"}},
    {"tigerlake", "", Core::icelake, {"tgl"}},
    {"rocketlake", "", Core::icelake, {"rkl"}},
    {"sapphirerapids", "spr", Core::golden_cove, {}},
    {"emeraldrapids", "emr", Core::golden_cove, {}},
    {"graniterapids", "gnr", Core::redwood_cove, {}},
    {"Silvermont", "slm", Core::silvermont, {"airmont"}},
    {"goldmont", "glm", Core::goldmont, {}},
    {"goldmontplus", "", Core::goldmont_plus, {"glp"}},
    {"elkhartlake", "tmt", Core::tremont, {"tremont", "ehl"}},
    {"snowridgex", "", Core::tremont, {"snowridge", "snr", "atom_tremont_d"}},
    {"grandridge", "", Core::crestmont, {"grr"}},
    {"sierraforest", "", Core::crestmont, {"srf", "crestmont_x"}},
    {"clearwaterforest", "", Core::darkmont, {"cwf", "darkmont_x"}},
    {"knightslanding", "knl", Core::knights_landing, {"knm"}},
    // Hybrid CPUs, and their core types.
    {"alderlake", "", Core::other, {"adl", "raptorlake", "rpl"}},
    {"alderlake_goldencove", "adl_glc", Core::golden_cove, {"goldencove"}},
    {"alderlake_gracemont", "adl_grt", Core::gracemont, {"gracemont"}},
    {"6-BE", "", Core::gracemont, {"alderlaken", "adln"}},
    {"meteorlake", "", Core::other, {"mtl", "arrowlake_u"}},
    {"meteorlake_redwoodcove", "", Core::redwood_cove, {"mtl_rwc", "redwoodcove"}},
    {"meteorlake_crestmont", "", Core::crestmont, {"mtl_cmt"}},
    {"arrowlake", "", Core::other, {"arl"}},
    {"arrowlake_lioncove", "", Core::lion_cove, {"arl_lnc"}},
    {"arrowlake_skymont", "", Core::skymont, {"arl_skt"}},
    {"arrowlake_crestmont", "", Core::crestmont, {"arl_cmt"}},
    {"lunarlake", "", Core::other, {"lnl"}},
    {"lunarlake_lioncove", "", Core::lion_cove, {"lnl_lnc"}},
    {"lunarlake_skymont", "", Core::skymont, {"lnl_skt"}},
    {"pantherlake", "", Core::other, {"ptl"}},
    {"pantherlake_cougarcove", "", Core::lion_cove, {"cougarcove"}},
    {"pantherlake_darkmont", "", Core::darkmont, {"darkmont"}},
    {"novalake", "", Core::other, {"nvl"}},
    {"novalake_coyotecove", "", Core::coyote_cove, {"coyotecove"}},
    {"novalake_arcticwolf", "", Core::arctic_wolf, {"arcticwolf"}},
    // Not in Intel's table.
    {"", "core", Core::core_2, {"core2"}},
    {"", "amd64_fam17h_zen1", Core::other, {"zen1", "zen", "amdzen1", "znver1", "naples", "epyc"}},
    {"", "amd64_fam17h_zen2", Core::other, {"zen2", "amdzen2", "znver2", "rome"}},
    {"", "amd64_fam19h_zen3", Core::other, {"zen3", "amdzen3", "znver3", "milan"}},
    {"", "amd64_fam19h_zen4", Core::other, {"zen4", "amdzen4", "znver4", "genoa", "bergamo"}},
    {"", "amd64_fam1ah_zen5", Core::other, {"zen5", "amdzen5", "znver5", "turin"}},
    {"", "amd64_fam1ah_zen6", Core::other, {"zen6", "amdzen6", "znver6", "venice"}},
    {"", "arm_n1", Core::other, {"neoverse_n1"}},
    {"", "arm_n2", Core::other, {"neoverse_n2"}},
    {"", "arm_v1", Core::other, {"neoverse_v1"}},
    {"", "arm_v2", Core::other, {"neoverse_v2"}},
});

/// Lower case, without '-' and '_'.
std::string plain(std::string_view name) {
  std::string plain = lower_case(name);
  std::erase_if(plain, [](char c) { return c == '-' || c == '_'; });
  return plain;
}

const CpuNames* find_plain(std::string_view name) {
  const std::string wanted = plain(name);
  if (wanted.empty()) return nullptr;
  const auto is_wanted = [&](std::string_view one) { return plain(one) == wanted; };
  for (const CpuNames& cpu : kCpus) {
    if (is_wanted(cpu.intel) || is_wanted(cpu.pfm)) return &cpu;
    if (std::ranges::any_of(cpu.others, is_wanted)) return &cpu;
  }
  return nullptr;
}

/// What the kernel (arch/x86/include/asm/intel-family.h), QEMU and compilers put before and after a
/// name: ATOM_GRACEMONT, EPYC-Rome; SAPPHIRERAPIDS_X, RAPTORLAKE_P, Skylake-Server, Skylake-Client.
constexpr auto kPrefixes = std::to_array<std::string_view>({"", "atom_", "xeon_phi_", "epyc_"});
/// Suffixes for servers in third-party names; Intel's event files and this table have "x".
constexpr auto kServerSuffixes = std::to_array<std::string_view>({"_server", "_d", "_sp"});
/// Suffixes that change nothing.
constexpr auto kSuffixes = std::to_array<std::string_view>(
    {"_server", "_client", "_x", "_d", "_g", "_h", "_l", "_m", "_p", "_s", "_u"});

struct ArmPart {
  int part;
  std::string_view name;
};
/// Parts of Arm (machine::has_parts_of_arm()).
constexpr std::array<ArmPart, 8> kArmParts{{{0xd0c, "arm_n1"},
                                            {0xd49, "arm_n2"},
                                            {0xd40, "arm_v1"},
                                            {0xd4f, "arm_v2"},
                                            {0xd03, "arm_ac53"},
                                            {0xd07, "arm_ac57"},
                                            {0xd08, "arm_ac72"},
                                            {0xd0b, "arm_ac76"}}};

bool is_core_2(int family, int model) {
  return family == 6 && (model == 15 || model == 22 || model == 23 || model == 29);
}

}  // namespace

const CpuNames* find_cpu(std::string_view name) {
  if (const CpuNames* found = find_plain(name)) return found;
  std::string wanted = lower_case(name);
  std::ranges::replace(wanted, '-', '_');
  for (const std::string_view prefix : kPrefixes) {
    if (!wanted.starts_with(prefix)) continue;
    const std::string rest = wanted.substr(prefix.size());
    if (const CpuNames* found = find_plain(rest)) return found;
    const auto without = [&rest](std::string_view suffix) {
      return rest.substr(0, rest.size() - suffix.size());
    };
    for (const std::string_view suffix : kServerSuffixes) {
      if (!rest.ends_with(suffix)) continue;
      if (const auto* found = find_plain(without(suffix) + 'x')) return found;
    }
    for (const std::string_view suffix : kSuffixes) {
      if (!rest.ends_with(suffix)) continue;
      if (const auto* found = find_plain(without(suffix))) return found;
    }
  }
  return nullptr;
}

std::vector<std::vector<std::string>> all_cpu_names() {
  std::vector<std::vector<std::string>> all;
  for (const CpuNames& cpu : kCpus) {
    auto& names = all.emplace_back();
    for (const std::string_view name : {cpu.pfm, cpu.intel}) {
      if (!name.empty()) names.emplace_back(name);
    }
    for (const std::string_view name : cpu.others) {
      if (!name.empty()) names.emplace_back(name);
    }
  }
  return all;
}

std::vector<std::string> cpu_names() {
  std::vector<std::string> names;
  for (const auto& all : all_cpu_names()) names.push_back(all.front());
  return names;
}

std::string Cpu::catalogue() const {
  const bool contains_name = contains(source, name);
  return contains_name ? source : fmt::format("{}, {}", source, name);
}

bool is_called(std::string_view cpu, std::string_view name) {
  const CpuNames* own = find_cpu(cpu);
  const CpuNames* named = find_cpu(name);
  if (own == nullptr || named == nullptr) return plain(cpu) == plain(name);
  return own == named || named->intel.starts_with(fmt::format("{}_", own->intel));
}

std::string pfm_name_of(std::string_view name) {
  const CpuNames* cpu = find_cpu(name);
  return cpu == nullptr || cpu->pfm.empty() ? lower_case(name) : std::string(cpu->pfm);
}

std::string pfm_name_of(const machine::CpuIdentity& cpu) {
  if (!cpu.model) return {};
  if (cpu.vendor == "0x41" || cpu.vendor == "0x00") {
    const ArmPart* part = find_by(kArmParts, &ArmPart::part, *cpu.model);
    return part == nullptr ? std::string() : std::string(part->name);
  }
  if (!cpu.family) return {};
  if (cpu.vendor == "GenuineIntel" && is_core_2(*cpu.family, *cpu.model)) return "core";
  const auto zen = machine::zen_generation(cpu);
  return zen ? pfm_name_of(fmt::format("zen{}", *zen)) : std::string();
}

int zen_of(std::string_view pmu) {
  constexpr std::string_view kZen = "_zen";
  const std::size_t found = pmu.find(kZen);
  if (found == pmu.npos) return 0;
  return whole_number<int>(pmu.substr(found + kZen.size())).value_or(0);
}

std::string name_of(const machine::CpuIdentity& cpu) {
  const auto files = intel_files_of(cpu);
  if (files.size() == 1) return files.front().name;
  // The files of a hybrid CPU: "alderlake_goldencove", "alderlake_gracemont".
  if (!files.empty()) return files.front().name.substr(0, files.front().name.find('_'));
  const std::string pfm = pfm_name_of(cpu);
  const CpuNames* names = find_cpu(pfm);
  return names == nullptr || names->others.front().empty() ? pfm
                                                           : std::string(names->others.front());
}

Core core_of(std::string_view name) {
  const CpuNames* cpu = find_cpu(name);
  return cpu == nullptr ? Core::other : cpu->core;
}

Core core_of(const machine::CpuIdentity& cpu) {
  const auto files = intel_files_of(cpu);
  if (files.empty()) return core_of(pfm_name_of(cpu));
  return files.size() == 1 ? core_of(files.front().name) : Core::other;
}

bool is_arm(const machine::CpuIdentity& cpu) {
  return cpu.vendor.starts_with("0x") || cpu.arch.starts_with("arm") ||
         cpu.arch.starts_with("aarch64");
}

ConfigLayout layout_of(const machine::CpuIdentity& cpu) {
  if (is_arm(cpu)) return ConfigLayout::arm;
  return machine::is_amd(cpu) ? ConfigLayout::amd : ConfigLayout::intel;
}

}  // namespace skid::events
