#include "runway/trigger.h"

#include "src/support/error.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::runway {

namespace {

/// The older spelling of a kind, in targets and scripts.
constexpr std::string_view kOldBranch = "branch";

const std::vector<TriggerTraits>& table() {
  static const std::vector<unsigned> words{1, 2, 4, 8};
  static const std::vector<unsigned> pointer{8};
  static const std::vector<TriggerTraits> traits{
      // kind, name, mnemonic on x86-64 and aarch64, flag, widths, touches the datum, level
      {TriggerKind::load, "load", "mov", "ldr", "", words, true},
      {TriggerKind::load_l2, "load-l2", "mov", "", "", pointer, true, MemoryLevel::l2},
      {TriggerKind::load_l3, "load-l3", "mov", "", "", pointer, true, MemoryLevel::l3},
      {TriggerKind::load_dram, "load-dram", "mov", "", "", pointer, true, MemoryLevel::dram},
      {TriggerKind::xmm_load, "xmm-load", "movups", "", "sse", {16}, true},
      {TriggerKind::ymm_load, "ymm-load", "vmovups", "", "avx", {32}, true},
      {TriggerKind::zmm_load, "zmm-load", "vmovups", "", "avx512f", {64}, true},
      {TriggerKind::string_load, "string-load", "rep lods", "", "", words, true},
      {TriggerKind::nt_load, "nt-load", "movntdqa", "", "sse4_1", {16}, true},
      {TriggerKind::store, "store", "mov", "str", "", words, true},
      {TriggerKind::nt_store, "nt-store", "movnti", "", "sse2", {4, 8}, true},
      {TriggerKind::lock_rmw, "lock-rmw", "lock inc", "", "", words, true},
      {TriggerKind::prefetch, "prefetch", "prefetcht0", "", "sse", {}, false},
      {TriggerKind::flush, "flush", "clflush", "", "clflush", {}, true},
      {TriggerKind::mfence, "mfence", "mfence", "", "sse2", {}, false},
      {TriggerKind::cpuid, "cpuid", "cpuid", "", "", {}, false},
      {TriggerKind::div, "div", "div", "udiv", "", {}, false},
      {TriggerKind::branch_taken, "branch-taken", "jmp", "b", "", {}, false},
      {TriggerKind::branch_not_taken, "branch-not-taken", "jb", "", "", {}, false},
      {TriggerKind::branch_mispredict, "branch-mispredict", "jb", "", "", {}, false},
      {TriggerKind::call, "call", "call", "", "", {}, false},
      {TriggerKind::ret, "ret", "ret", "", "", {}, false},
      {TriggerKind::fault, "fault", "mov", "ldr", "", words, true},
      {TriggerKind::none, "none", "nop", "nop", "", {}, false},
  };
  return traits;
}

std::string_view mnemonic_of(const TriggerTraits& traits, Arch arch) {
  return arch == Arch::x86_64 ? traits.x86_64 : traits.aarch64;
}

std::string names_of(const std::vector<TriggerKind>& kinds) {
  std::vector<std::string_view> names;
  names.reserve(kinds.size());
  for (const TriggerKind kind : kinds) names.push_back(name_of(kind));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

const TriggerTraits& traits_of(TriggerKind kind) {
  for (const TriggerTraits& traits : table()) {
    if (traits.kind == kind) return traits;
  }
  throw std::logic_error("a trigger kind without a row in the table");
}

std::string_view name_of(TriggerKind kind) {
  return traits_of(kind).name;
}

std::string_view name_of(Arch arch) {
  return arch == Arch::x86_64 ? "x86_64" : "aarch64";
}

TriggerKind trigger_kind_from(std::string_view name) {
  if (name == kOldBranch) return TriggerKind::branch_taken;
  for (const TriggerTraits& traits : table()) {
    if (traits.name == name) return traits.kind;
  }
  throw UsageError(
      fmt::format("trigger kind '{}': not known, allowed {}", name, trigger_kind_names()));
}

std::vector<TriggerKind> all_trigger_kinds() {
  std::vector<TriggerKind> kinds;
  kinds.reserve(table().size());
  for (const TriggerTraits& traits : table()) kinds.push_back(traits.kind);
  return kinds;
}

std::string trigger_kind_names() {
  return names_of(all_trigger_kinds());
}

std::vector<TriggerKind> trigger_kinds_of(Arch arch) {
  std::vector<TriggerKind> kinds;
  for (const TriggerTraits& traits : table()) {
    if (!mnemonic_of(traits, arch).empty()) kinds.push_back(traits.kind);
  }
  return kinds;
}

std::optional<std::string> refusal(TriggerKind kind, Arch arch) {
  const TriggerTraits& traits = traits_of(kind);
  if (!mnemonic_of(traits, arch).empty()) return std::nullopt;
  return fmt::format("trigger kind '{}': there is none for {}, allowed {}", traits.name,
                     name_of(arch), names_of(trigger_kinds_of(arch)));
}

std::optional<std::string> refusal(TriggerKind kind, Arch arch,
                                   const std::vector<std::string>& cpu_flags) {
  if (std::optional<std::string> reason = refusal(kind, arch)) return reason;
  const std::string_view wanted = traits_of(kind).cpu_flag;
  const bool known = arch == Arch::x86_64 && !wanted.empty() && !cpu_flags.empty();
  if (!known || std::find(cpu_flags.begin(), cpu_flags.end(), wanted) != cpu_flags.end()) {
    return std::nullopt;
  }
  return fmt::format(
      "trigger kind '{}': this CPU lacks {} (it is not among the flags of /proc/cpuinfo)",
      name_of(kind), wanted);
}

}  // namespace skid::runway
