// The kinds of trigger: which instruction each is, and what it needs.
#pragma once

#include "src/support/address.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::runway {

/// The instruction that causes the event, one per iteration. Its successor in program order is the
/// first runway byte, whatever it is.
enum class TriggerKind {
  load,               ///< a load from the watched datum
  load_l2,            ///< a load of a pointer chase that the level 2 cache holds
  load_l3,            ///< a load of a pointer chase that the level 3 cache holds
  load_dram,          ///< a load of a pointer chase that no cache holds
  xmm_load,           ///< a load of 16 bytes into a vector register
  ymm_load,           ///< a load of 32 bytes into a vector register
  zmm_load,           ///< a load of 64 bytes into a vector register
  string_load,        ///< a repeated string load over the watched datum
  nt_load,            ///< a load with the hint that the datum is not used again
  store,              ///< a store to the watched datum
  nt_store,           ///< a store to the watched datum past the caches
  lock_rmw,           ///< an atomic read-modify-write of the watched datum
  prefetch,           ///< a prefetch of the watched datum
  flush,              ///< a flush of the watched datum's line out of all caches
  mfence,             ///< a memory fence
  cpuid,              ///< a serializing instruction, which hypervisors intercept
  div,                ///< an integer division of registers
  branch_taken,       ///< a jump to the first runway byte
  branch_not_taken,   ///< a conditional branch that is never taken
  branch_mispredict,  ///< a conditional branch whose direction is random
  call,               ///< a call of the first runway byte
  ret,                ///< a return to the first runway byte
  fault,              ///< first touch of a page that each iteration gives back
  none,               ///< the control: a NOP stands where the trigger would be
};

/// Where the loads of a kind are to be served from; `none` for kinds that chase no pointers.
enum class MemoryLevel { none, l2, l3, dram };

struct TriggerTraits {
  TriggerKind kind = TriggerKind::none;
  std::string_view name;     ///< as on the command line
  std::string_view x86_64;   ///< the mnemonic there, "mov"; empty: not made for it
  std::string_view aarch64;  ///< the same
  /// What the CPU must have, as /proc/cpuinfo of x86 calls it; empty: what every one has.
  std::string_view cpu_flag;
  /// Bytes of one access, ascending; empty for kinds that access no memory of their choice.
  std::vector<unsigned> widths;
  bool touches_datum = false;  ///< a data breakpoint on the datum sees the trigger
  MemoryLevel level = MemoryLevel::none;
};

const TriggerTraits& traits_of(TriggerKind kind);
std::string_view name_of(TriggerKind kind);
std::string_view name_of(Arch arch);
/// Takes "branch" for "branch-taken" as well, which targets of older versions say. Throws
/// UsageError naming the kinds there are.
TriggerKind trigger_kind_from(std::string_view name);
/// In the order of the enumeration.
std::vector<TriggerKind> all_trigger_kinds();
/// Their names, with commas between them, for messages.
std::string trigger_kind_names();
/// Those that targets for an architecture can be built of.
std::vector<TriggerKind> trigger_kinds_of(Arch arch);

/// Why no target of this kind can be built for the architecture; nullopt: one can.
std::optional<std::string> refusal(TriggerKind kind, Arch arch);
/// Why none can be built, or run on an x86 CPU whose flags in /proc/cpuinfo are these; without any
/// flag the CPU is not known and nothing is refused on its account.
std::optional<std::string> refusal(TriggerKind kind, Arch arch,
                                   const std::vector<std::string>& cpu_flags);

}  // namespace skid::runway
