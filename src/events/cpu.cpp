#include "src/events/cpu.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace skid::events {
namespace {

using Name = std::pair<std::string_view, std::string_view>;

/// Microarchitectures and products by the PMU of libpfm4 that has their events.
constexpr std::array<Name, 39> kOtherNames{{{"nehalem", "nhm"},
                                            {"westmere", "wsm"},
                                            {"sandybridge", "snb"},
                                            {"jaketown", "snb_ep"},
                                            {"jkt", "snb_ep"},
                                            {"ivybridge", "ivb"},
                                            {"ivytown", "ivb_ep"},
                                            {"ivt", "ivb_ep"},
                                            {"haswell", "hsw"},
                                            {"haswellx", "hsw_ep"},
                                            {"hsx", "hsw_ep"},
                                            {"broadwell", "bdw"},
                                            {"broadwellx", "bdw_ep"},
                                            {"bdx", "bdw_ep"},
                                            {"skylake", "skl"},
                                            {"kabylake", "skl"},
                                            {"kbl", "skl"},
                                            {"coffeelake", "skl"},
                                            {"cfl", "skl"},
                                            {"cometlake", "skl"},
                                            {"cml", "skl"},
                                            {"skylakex", "skx"},
                                            {"cascadelake", "clx"},
                                            {"cascadelakex", "clx"},
                                            {"icelake", "icl"},
                                            {"icelakex", "icx"},
                                            {"sapphirerapids", "spr"},
                                            {"goldmont", "glm"},
                                            {"silvermont", "slm"},
                                            {"tremont", "tmt"},
                                            {"zen1", "amd64_fam17h_zen1"},
                                            {"zen2", "amd64_fam17h_zen2"},
                                            {"zen3", "amd64_fam19h_zen3"},
                                            {"zen4", "amd64_fam19h_zen4"},
                                            {"neoverse-n1", "arm_n1"},
                                            {"neoverse-n2", "arm_n2"},
                                            {"neoverse-v1", "arm_v1"},
                                            {"neoverse-v2", "arm_v2"},
                                            {"zen", "amd64_fam17h_zen1"}}};

constexpr std::array<std::pair<std::string_view, Core>, 26> kCores{
    {{"nhm", Core::nehalem},         {"nhm_ex", Core::nehalem},
     {"wsm", Core::westmere},        {"wsm_dp", Core::westmere},
     {"snb", Core::sandy_bridge},    {"snb_ep", Core::sandy_bridge},
     {"jkt", Core::sandy_bridge},    {"ivb", Core::ivy_bridge},
     {"ivb_ep", Core::ivy_bridge},   {"ivt", Core::ivy_bridge},
     {"hsw", Core::haswell},         {"hsw_ep", Core::haswell},
     {"hsx", Core::haswell},         {"bdw", Core::broadwell},
     {"bdw_ep", Core::broadwell},    {"bdx", Core::broadwell},
     {"bdw-de", Core::broadwell},    {"skl", Core::skylake},
     {"kbl", Core::skylake},         {"cfl", Core::skylake},
     {"skx", Core::skylake_server},  {"clx", Core::skylake_server},
     {"icl", Core::icelake},         {"icx", Core::icelake},
     {"spr", Core::sapphire_rapids}, {"sapphirerapids", Core::sapphire_rapids}}};

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
  const auto found = std::find_if(models.begin(), models.end(),
                                  [model](const Model& known) { return known.model == model; });
  return found == models.end() ? std::string() : std::string(found->name);
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

template <std::size_t N, typename Value>
const Value* find(const std::array<std::pair<std::string_view, Value>, N>& entries,
                  std::string_view name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [name](const auto& entry) { return entry.first == name; });
  return found == entries.end() ? nullptr : &found->second;
}

}  // namespace

std::string pfm_name_of(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string_view* other = find(kOtherNames, lower);
  return other == nullptr ? lower : std::string(*other);
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
  const Core* core = find(kCores, name);
  return core == nullptr ? Core::other : *core;
}

}  // namespace skid::events
