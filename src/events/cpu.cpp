#include "src/events/cpu.h"

#include "src/events/intel_table.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
    {"Jaketown", "snb_ep", Core::sandy_bridge, {"jkt"}},
    {"ivybridge", "ivb", Core::ivy_bridge, {}},
    {"ivytown", "ivb_ep", Core::ivy_bridge, {"ivt"}},
    {"haswell", "hsw", Core::haswell, {}},
    {"haswellx", "hsw_ep", Core::haswell, {"hsx"}},
    {"broadwell", "bdw", Core::broadwell, {}},
    {"broadwellde", "", Core::broadwell, {"bdw_de"}},
    {"broadwellx", "bdw_ep", Core::broadwell, {"bdx"}},
    {"skylake", "skl", Core::skylake, {"kabylake", "kbl", "coffeelake", "cfl", "cometlake", "cml"}},
    {"skylakex", "skx", Core::skylake_server, {"skylake_avx512"}},
    {"cascadelakex", "clx", Core::skylake_server, {"cascadelake", "cooperlake", "cpx"}},
    {"icelake", "icl", Core::icelake, {"icelake_client"}},
    {"icelakex", "icx", Core::icelake, {"icelake_server"}},
    {"tigerlake", "", Core::icelake, {"tgl"}},
    {"rocketlake", "", Core::icelake, {"rkl"}},
    {"sapphirerapids", "spr", Core::sapphire_rapids, {}},
    {"emeraldrapids", "emr", Core::sapphire_rapids, {}},
    {"graniterapids", "gnr", Core::other, {}},
    {"Silvermont", "slm", Core::silvermont, {"airmont"}},
    {"goldmont", "glm", Core::goldmont, {}},
    {"goldmontplus", "", Core::other, {"glp"}},
    {"elkhartlake", "tmt", Core::other, {"tremont", "ehl"}},
    {"snowridgex", "", Core::other, {"snowridge", "snr"}},
    {"grandridge", "", Core::other, {"grr"}},
    {"sierraforest", "", Core::other, {"srf"}},
    {"clearwaterforest", "", Core::other, {"cwf"}},
    {"knightslanding", "knl", Core::knights_landing, {"knm"}},
    // Hybrid CPUs, and their core types.
    {"alderlake", "", Core::other, {"adl", "raptorlake", "rpl"}},
    {"alderlake_goldencove", "adl_glc", Core::other, {"goldencove"}},
    {"alderlake_gracemont", "adl_grt", Core::other, {"gracemont"}},
    {"6-BE", "", Core::other, {"alderlaken", "adln"}},
    {"meteorlake", "", Core::other, {"mtl"}},
    {"meteorlake_redwoodcove", "", Core::other, {"mtl_rwc", "redwoodcove"}},
    {"meteorlake_crestmont", "", Core::other, {"mtl_cmt"}},
    {"arrowlake", "", Core::other, {"arl"}},
    {"arrowlake_lioncove", "", Core::other, {"arl_lnc"}},
    {"arrowlake_skymont", "", Core::other, {"arl_skt"}},
    {"arrowlake_crestmont", "", Core::other, {"arl_cmt"}},
    {"lunarlake", "", Core::other, {"lnl"}},
    {"lunarlake_lioncove", "", Core::other, {"lnl_lnc"}},
    {"lunarlake_skymont", "", Core::other, {"lnl_skt"}},
    {"pantherlake", "", Core::other, {"ptl"}},
    {"pantherlake_cougarcove", "", Core::other, {"cougarcove"}},
    {"pantherlake_darkmont", "", Core::other, {"darkmont"}},
    {"novalake", "", Core::other, {"nvl"}},
    {"novalake_coyotecove", "", Core::other, {"coyotecove"}},
    {"novalake_arcticwolf", "", Core::other, {"arcticwolf"}},
    // Not in Intel's table.
    {"", "core", Core::core_2, {"core2"}},
    {"", "amd64_fam17h_zen1", Core::other, {"zen1", "zen"}},
    {"", "amd64_fam17h_zen2", Core::other, {"zen2"}},
    {"", "amd64_fam19h_zen3", Core::other, {"zen3"}},
    {"", "amd64_fam19h_zen4", Core::other, {"zen4"}},
    {"", "amd64_fam1ah_zen5", Core::other, {"zen5"}},
    {"", "arm_n1", Core::other, {"neoverse_n1"}},
    {"", "arm_n2", Core::other, {"neoverse_n2"}},
    {"", "arm_v1", Core::other, {"neoverse_v1"}},
    {"", "arm_v2", Core::other, {"neoverse_v2"}},
});

/// Lower case, with '_' for '-'.
std::string plain(std::string_view name) {
  std::string plain = lower_case(name);
  std::ranges::replace(plain, '-', '_');
  return plain;
}

struct ArmPart {
  int part;
  std::string_view name;
};
/// Parts of Arm (implementer 0x41).
constexpr std::array<ArmPart, 8> kArmParts{{{0xd0c, "arm_n1"},
                                            {0xd49, "arm_n2"},
                                            {0xd40, "arm_v1"},
                                            {0xd4f, "arm_v2"},
                                            {0xd03, "arm_ac53"},
                                            {0xd07, "arm_ac57"},
                                            {0xd08, "arm_ac72"},
                                            {0xd0b, "arm_ac76"}}};

/// Zen and later; the models of a family by their upper halves ("10h-1Fh").
std::string amd_name(int family, int model) {
  const int upper = model >> 4;
  if (family == 0x17) return upper < 3 ? "amd64_fam17h_zen1" : "amd64_fam17h_zen2";
  if (family == 0x1a) return "amd64_fam1ah_zen5";
  if (family != 0x19) return {};
  const bool zen4 = upper == 1 || upper == 6 || upper == 7 || upper == 0xa;
  return zen4 ? "amd64_fam19h_zen4" : "amd64_fam19h_zen3";
}

bool is_core_2(int family, int model) {
  return family == 6 && (model == 15 || model == 22 || model == 23 || model == 29);
}

}  // namespace

const CpuNames* find_cpu(std::string_view name) {
  const std::string wanted = plain(name);
  if (wanted.empty()) return nullptr;
  for (const CpuNames& cpu : kCpus) {
    if (plain(cpu.intel) == wanted || cpu.pfm == wanted) return &cpu;
    if (std::ranges::find(cpu.others, wanted) != cpu.others.end()) return &cpu;
  }
  return nullptr;
}

std::vector<std::string> cpu_names() {
  std::vector<std::string> names;
  for (const CpuNames& cpu : kCpus) names.emplace_back(cpu.pfm.empty() ? cpu.intel : cpu.pfm);
  return names;
}

std::string Cpu::catalogue() const {
  const bool contains_name = source.find(name) != std::string::npos;
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
  if (cpu.vendor == "0x41") {
    const ArmPart* part = find_by(kArmParts, &ArmPart::part, *cpu.model);
    return part == nullptr ? std::string() : std::string(part->name);
  }
  if (!cpu.family) return {};
  if (cpu.vendor == "GenuineIntel" && is_core_2(*cpu.family, *cpu.model)) return "core";
  if (cpu.vendor == "AuthenticAMD") return amd_name(*cpu.family, *cpu.model);
  return {};
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
