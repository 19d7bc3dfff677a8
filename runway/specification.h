// What a target is to be: the words a user chooses, before any byte of it exists.
#pragma once

#include "runway/trigger.h"
#include "src/support/address.h"

#include <chrono>
#include <cstdint>
#include <string_view>
#include <variant>

namespace skid::runway {

/// Takes "x86_64", "amd64", "aarch64", "arm64"; throws UsageError naming those there are.
Arch arch_from(std::string_view name);

/// How long a target runs when its command line does not say.
using RunLength = std::variant<std::uint64_t /* iterations */, std::chrono::nanoseconds>;

struct Specification {
  Arch arch = Arch::x86_64;
  TriggerKind trigger = TriggerKind::load;
  unsigned access_bytes = 8;  ///< width of the access; one of the kind's widths, if it has any
  unsigned nop_bytes = 1;     ///< length of one runway NOP; 1 to 9 on x86-64, 4 on aarch64
  std::uint32_t nops = 5000;  ///< NOPs of the runway; 20 to 1,000,000
  std::uint32_t lead_in_nops = 200;  ///< NOPs in front of the trigger; 0 to 1,000,000
  /// load-l2, load-l3 and load-dram: bytes that the pointer chase goes through; 0 for the others.
  std::uint64_t working_set_bytes = 0;
  RunLength length = std::uint64_t{1'000'000};

  friend bool operator==(const Specification&, const Specification&) = default;
};

/// The specification that a kind starts from on an architecture (aarch64: nop_bytes 4).
Specification default_specification(Arch arch, TriggerKind trigger = TriggerKind::load);

/// Bytes from one element of a pointer chase to the next in memory, 0 for kinds that chase nothing:
/// a cache line for level 2, and two of them beyond, because prefetchers bring the other line of
/// such a pair into level 2 as well (Intel's spatial prefetcher), where it must not be of use.
unsigned chase_stride(TriggerKind kind);

/// How many elements the pointer chase has, the datum among them; 0 for kinds that chase nothing.
std::uint64_t elements_of(const Specification& specification);

/// Bytes of the datum, from its first on, that a data breakpoint is to watch: no more than debug
/// registers take, and of a string all that it reads but for its last repetition.
unsigned watched_bytes(const Specification& specification);

/// string-load: how often the instruction repeats. Once beyond the watched bytes, so that each of
/// the accesses to them is within the instruction and not at its end.
unsigned string_repetitions(const Specification& specification);

/// Throws UsageError for a kind that the architecture does not have, and naming the field, its
/// value and what is allowed.
void check(const Specification& specification);

}  // namespace skid::runway
