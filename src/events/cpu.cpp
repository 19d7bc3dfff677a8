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

constexpr std::array<std::pair<std::string_view, Core>, 18> kCores{
    {{"ivb", Core::ivy_bridge},
     {"ivb_ep", Core::ivy_bridge},
     {"ivt", Core::ivy_bridge},
     {"hsw", Core::haswell},
     {"hsw_ep", Core::haswell},
     {"hsx", Core::haswell},
     {"bdw", Core::broadwell},
     {"bdw_ep", Core::broadwell},
     {"bdx", Core::broadwell},
     {"bdw-de", Core::broadwell},
     {"skl", Core::skylake},
     {"kbl", Core::skylake},
     {"cfl", Core::skylake},
     {"skx", Core::skylake_server},
     {"clx", Core::skylake_server},
     {"icl", Core::icelake},
     {"spr", Core::sapphire_rapids},
     {"sapphirerapids", Core::sapphire_rapids}}};

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

Core core_of(std::string_view name) {
  const Core* core = find(kCores, name);
  return core == nullptr ? Core::other : *core;
}

}  // namespace skid::events
