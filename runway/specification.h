// What a target is to be: the words a user chooses, before any byte of it exists.
#pragma once

#include "src/support/address.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace skid::runway {

/// The instruction that causes the event, one per iteration.
enum class TriggerKind {
  load,    ///< a load from the watched datum
  store,   ///< a store to the watched datum
  branch,  ///< a taken jump to the first runway byte
  fault,   ///< first touch of a page that each iteration gives back
  none,    ///< the control: a NOP stands where the trigger would be
};

std::string_view name_of(TriggerKind kind);
std::string_view name_of(Arch arch);
/// Throws UsageError naming the kinds there are.
TriggerKind trigger_kind_from(std::string_view name);
/// Takes "x86_64", "amd64", "aarch64", "arm64"; throws UsageError naming those there are.
Arch arch_from(std::string_view name);
std::vector<TriggerKind> all_trigger_kinds();

/// How long a target runs when its command line does not say.
using RunLength = std::variant<std::uint64_t /* iterations */, std::chrono::nanoseconds>;

struct Specification {
  Arch arch = Arch::x86_64;
  TriggerKind trigger = TriggerKind::load;
  unsigned access_bytes = 8;         ///< load, store and fault: width of the access; 1, 2, 4 or 8
  unsigned nop_bytes = 1;            ///< length of one runway NOP; 1 to 9 on x86-64, 4 on aarch64
  std::uint32_t nops = 5000;         ///< NOPs of the runway; 20 to 1,000,000
  std::uint32_t lead_in_nops = 200;  ///< NOPs in front of the trigger; 0 to 1,000,000
  RunLength length = std::uint64_t{1'000'000};

  friend bool operator==(const Specification&, const Specification&) = default;
};

/// The specification an architecture starts from (aarch64: nop_bytes 4).
Specification default_specification(Arch arch);

/// Throws UsageError naming the field, its value and what is allowed.
void check(const Specification& specification);

}  // namespace skid::runway
