#include "runway/trigger.h"

#include "runway/kinds/kind.h"
#include "runway/kinds/registry.h"
#include "src/instructions/counted.h"
#include "src/support/error.h"
#include "src/support/near_names.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace skid::runway {

namespace kinds {

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define SKIDSCAN_DECLARE_KIND(NAME) Kind NAME();
SKIDSCAN_TRIGGER_KINDS(SKIDSCAN_DECLARE_KIND)
#undef SKIDSCAN_DECLARE_KIND

}  // namespace kinds

namespace {

const auto& table() {
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define SKIDSCAN_DESCRIBE(NAME) kinds::NAME(),
  static const std::array kinds{SKIDSCAN_TRIGGER_KINDS(SKIDSCAN_DESCRIBE)};
#undef SKIDSCAN_DESCRIBE
  return kinds;
}

std::vector<std::string> names_of(const std::vector<TriggerKind>& kinds) {
  std::vector<std::string> names;
  for (const TriggerKind kind : kinds) names.emplace_back(name_of(kind));
  return names;
}

}  // namespace

const Effect* Kind::effect_on(Counted counted) const {
  return find_by(effects, &Effect::counted, counted);
}

bool Kind::causes(Counted counted) const {
  const Effect* effect = effect_on(counted);
  return effect != nullptr && effect->by_trigger != Verdict::never;
}

std::vector<Effect> kinds::through_kernel(std::vector<Effect> effects) {
  for (const Counted counted :
       {Counted::l1_hits, Counted::l2_hits, Counted::l3_hits, Counted::l1_misses,
        Counted::l2_misses, Counted::l3_misses, Counted::branches, Counted::taken_branches,
        Counted::taken_conditional_branches, Counted::untaken_conditional_branches,
        Counted::mispredicted, Counted::mispredicted_conditional}) {
    if (find_by(effects, &Effect::counted, counted) == nullptr) {
      effects.push_back({counted, kDepends, Verdict::never});
    }
  }
  return effects;
}

const Kind& kind_of(TriggerKind kind) {
  return table().at(static_cast<std::size_t>(kind));
}

std::string_view name_of(TriggerKind kind) {
  return kind_of(kind).name;
}

std::string_view name_of(Arch arch) {
  return arch == Arch::x86_64 ? "x86_64" : "aarch64";
}

TriggerKind trigger_kind_from(std::string_view name) {
  if (name == "branch") name = "branch-taken";
  for (const TriggerKind kind : all_trigger_kinds()) {
    if (name_of(kind) == name) return kind;
  }
  throw ValueError("trigger kind '{}' does not exist{}", name,
                   did_you_mean_or_all(name, trigger_kind_names()));
}

const std::vector<TriggerKind>& all_trigger_kinds() {
  static const std::vector<TriggerKind> kinds = [] {
    std::vector<TriggerKind> all;
    for (std::size_t i = 0; i < table().size(); ++i) all.push_back(static_cast<TriggerKind>(i));
    return all;
  }();
  return kinds;
}

std::vector<std::string> trigger_kind_names() {
  return names_of(all_trigger_kinds());
}

std::vector<TriggerKind> trigger_kinds_of(Arch arch) {
  std::vector<TriggerKind> kinds = all_trigger_kinds();
  std::erase_if(kinds, [arch](TriggerKind kind) { return !kind_of(kind).code(arch); });
  return kinds;
}

bool is_chase(TriggerKind kind) {
  return kind_of(kind).chase.has_value();
}

std::optional<std::string> refusal(TriggerKind kind, Arch arch) {
  if (kind_of(kind).code(arch)) return std::nullopt;
  return fmt::format("trigger kind '{}' does not exist for {}; expected {}", name_of(kind),
                     name_of(arch), fmt::join(names_of(trigger_kinds_of(arch)), ", "));
}

std::optional<std::string> refusal(TriggerKind kind, Arch arch,
                                   const std::vector<std::string>& cpu_flags) {
  if (std::optional<std::string> reason = refusal(kind, arch)) return reason;
  const std::string_view flag = kind_of(kind).cpu_flag;
  const bool known = arch == Arch::x86_64 && !flag.empty() && !cpu_flags.empty();
  if (!known || contains(cpu_flags, flag)) return std::nullopt;
  return fmt::format(
      "trigger kind '{}': this CPU lacks {} (it is not among the flags of /proc/cpuinfo)",
      name_of(kind), flag);
}

}  // namespace skid::runway
