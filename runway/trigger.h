// The kinds of trigger by name, and the CPUs that targets with them run on.
// kinds/kind.h has the rest of what is known of a kind.
#pragma once

#include "src/support/address.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::runway {

/// The instruction that causes the event, one per iteration. Its successor in program order is the
/// first runway byte. The value is the kind's place in kinds/registry.h; it has no enumerators, so
/// that code that needs one kind asks for it by name: trigger_kind_from("fault").
enum class TriggerKind : std::uint8_t {};

/// The memory level that is to serve the loads of a pointer chase.
enum class MemoryLevel { l2, l3, dram };

/// Returns the name of a kind: "load-dram".
std::string_view name_of(TriggerKind kind);
/// Returns the name of an architecture: "x86_64".
std::string_view name_of(Arch arch);
/// Finds a kind by its name. Also accepts "branch", the name of branch-taken in targets built by
/// older versions. Throws ValueError with near names, or all.
TriggerKind trigger_kind_from(std::string_view name);
/// Lists all kinds in the order of kinds/registry.h.
const std::vector<TriggerKind>& all_trigger_kinds();
/// Lists the names of all kinds in the order of kinds/registry.h.
std::vector<std::string> trigger_kind_names();
/// Lists the kinds that targets for an architecture can be built of.
std::vector<TriggerKind> trigger_kinds_of(Arch arch);
/// Whether a kind chases pointers, so that its target has a working set.
bool is_chase(TriggerKind kind);

/// Explains why no target of this kind can be built for the architecture; nullopt: one can.
std::optional<std::string> refusal(TriggerKind kind, Arch arch);
/// Explains why no target of this kind can be built, or run on an x86 CPU with these flags in
/// /proc/cpuinfo. Without any flag the CPU is not known, and no kind is refused because of it.
std::optional<std::string> refusal(TriggerKind kind, Arch arch,
                                   const std::vector<std::string>& cpu_flags);

}  // namespace skid::runway
