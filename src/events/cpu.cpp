#include "src/events/cpu.h"

#include "src/support/text.h"

#include <array>

namespace skid::events {
namespace {

/// A core PMU of libpfm4.
struct Pmu {
  std::string_view name;
  Core core;
  /// Microarchitectures, products and directories of Intel's event files, a space between two.
  std::string_view other_names;
};
constexpr auto kPmus = std::to_array<Pmu>({
    {"nhm", Core::nehalem, "nehalem"},
    {"nhm_ex", Core::nehalem, ""},
    {"wsm", Core::westmere, "westmere"},
    {"wsm_dp", Core::westmere, ""},
    {"snb", Core::sandy_bridge, "sandybridge"},
    {"snb_ep", Core::sandy_bridge, "jaketown jkt"},
    {"ivb", Core::ivy_bridge, "ivybridge"},
    {"ivb_ep", Core::ivy_bridge, "ivytown ivt"},
    {"hsw", Core::haswell, "haswell"},
    {"hsw_ep", Core::haswell, "haswellx hsx"},
    {"bdw", Core::broadwell, "broadwell"},
    {"bdw_ep", Core::broadwell, "broadwellx bdx bdw-de"},
    {"skl", Core::skylake, "skylake kabylake kbl coffeelake cfl cometlake cml"},
    {"skx", Core::skylake_server, "skylakex"},
    {"clx", Core::skylake_server, "cascadelake cascadelakex"},
    {"icl", Core::icelake, "icelake"},
    {"icx", Core::icelake, "icelakex"},
    {"spr", Core::sapphire_rapids, "sapphirerapids"},
    {"glm", Core::other, "goldmont"},
    {"slm", Core::other, "silvermont"},
    {"tmt", Core::other, "tremont"},
    {"amd64_fam17h_zen1", Core::other, "zen1 zen"},
    {"amd64_fam17h_zen2", Core::other, "zen2"},
    {"amd64_fam19h_zen3", Core::other, "zen3"},
    {"amd64_fam19h_zen4", Core::other, "zen4"},
    {"arm_n1", Core::other, "neoverse-n1"},
    {"arm_n2", Core::other, "neoverse-n2"},
    {"arm_v1", Core::other, "neoverse-v1"},
    {"arm_v2", Core::other, "neoverse-v2"},
});

/// By any of its names, in lower case; null for others.
const Pmu* find_pmu(std::string_view name) {
  for (const Pmu& pmu : kPmus) {
    if (pmu.name == name) return &pmu;
    for (std::string_view rest = pmu.other_names; !rest.empty();) {
      if (take_until(' ', rest) == name) return &pmu;
    }
  }
  return nullptr;
}

/// Models of Intel's family 6.
struct Model {
  int model;
  std::string_view name;
};
constexpr std::array<Model, 50> kIntelModels{
    {{26, "nhm"},    {30, "nhm"},  {31, "nhm"},    {46, "nhm_ex"}, {37, "wsm"},    {44, "wsm_dp"},
     {47, "wsm_dp"}, {42, "snb"},  {45, "snb_ep"}, {58, "ivb"},    {62, "ivb_ep"}, {60, "hsw"},
     {69, "hsw"},    {70, "hsw"},  {63, "hsw_ep"}, {61, "bdw"},    {71, "bdw"},    {79, "bdw_ep"},
     {86, "bdw_ep"}, {78, "skl"},  {94, "skl"},    {142, "skl"},   {158, "skl"},   {165, "skl"},
     {166, "skl"},   {108, "icl"}, {125, "icl"},   {126, "icl"},   {157, "icl"},   {140, "icl"},
     {141, "icl"},   {167, "icl"}, {106, "icx"},   {143, "spr"},   {55, "slm"},    {77, "slm"},
     {76, "slm"},    {74, "slm"},  {90, "slm"},    {92, "glm"},    {95, "glm"},    {122, "glm"},
     {134, "tmt"},   {150, "tmt"}, {156, "tmt"},   {87, "knl"},    {133, "knm"},   {15, "core"},
     {23, "core"},   {29, "core"}}};
constexpr int kSkylakeServer = 85;
constexpr int kFirstCascadeLakeStepping = 5;

/// Parts of Arm (implementer 0x41).
constexpr std::array<Model, 8> kArmParts{{{0xd0c, "arm_n1"},
                                          {0xd49, "arm_n2"},
                                          {0xd40, "arm_v1"},
                                          {0xd4f, "arm_v2"},
                                          {0xd03, "arm_ac53"},
                                          {0xd07, "arm_ac57"},
                                          {0xd08, "arm_ac72"},
                                          {0xd0b, "arm_ac76"}}};

template <std::size_t N>
std::string name_of_model(const std::array<Model, N>& models, int model) {
  const Model* found = find_by(models, &Model::model, model);
  return found == nullptr ? std::string() : std::string(found->name);
}

std::string intel_name(const machine::CpuIdentity& cpu) {
  if (*cpu.model != kSkylakeServer) return name_of_model(kIntelModels, *cpu.model);
  if (!cpu.stepping) return {};
  return *cpu.stepping < kFirstCascadeLakeStepping ? "skx" : "clx";
}

/// Zen and later; the models of a family by their upper halves ("10h-1Fh").
std::string amd_name(int family, int model) {
  const int upper = model >> 4;
  if (family == 0x17) return upper < 3 ? "amd64_fam17h_zen1" : "amd64_fam17h_zen2";
  if (family != 0x19) return {};
  const bool zen4 = upper == 1 || upper == 6 || upper == 7 || upper == 0xa;
  return zen4 ? "amd64_fam19h_zen4" : "amd64_fam19h_zen3";
}

}  // namespace

std::string pfm_name_of(std::string_view name) {
  std::string lower = lower_case(name);
  const Pmu* pmu = find_pmu(lower);
  return pmu == nullptr ? lower : std::string(pmu->name);
}

std::string pfm_name_of(const machine::CpuIdentity& cpu) {
  constexpr int kIntelFamily = 6;
  if (!cpu.model) return {};
  if (cpu.vendor == "0x41") return name_of_model(kArmParts, *cpu.model);
  if (!cpu.family) return {};
  if (cpu.vendor == "GenuineIntel" && *cpu.family == kIntelFamily) return intel_name(cpu);
  if (cpu.vendor == "AuthenticAMD") return amd_name(*cpu.family, *cpu.model);
  return {};
}

Core core_of(std::string_view name) {
  const Pmu* pmu = find_pmu(name);
  return pmu == nullptr ? Core::other : pmu->core;
}

}  // namespace skid::events
