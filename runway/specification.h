// The user's choice of a target, and how much memory a pointer chase must go through so that a
// given level of the memory serves it.
#pragma once

#include "runway/trigger.h"
#include "src/support/address.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace skid::runway {

/// Finds an architecture by "x86_64", "amd64", "aarch64" or "arm64"; throws ValueError naming them.
Arch arch_from(std::string_view name);

/// How long a target runs by default.
using RunLength = std::variant<std::uint64_t /* iterations */, std::chrono::nanoseconds>;

/// What a target is made of and how long it runs.
struct Specification {
  Arch arch = Arch::x86_64;
  TriggerKind trigger{};      ///< load
  unsigned access_bytes = 8;  ///< width of the access; one of the kind's widths, if it has any
  unsigned nop_bytes = 1;     ///< length of one runway NOP; 1 to 9 on x86-64, 4 on aarch64
  std::uint32_t nops = 5000;  ///< NOPs of the runway; 20 to 1,000,000
  std::uint32_t lead_in_nops = 200;  ///< NOPs before the first trigger; 0 to 1,000,000
  /// NOPs between each trigger and the next, 0 to 1,000,000 each: one fewer than triggers. `nops`
  /// follow the last.
  std::vector<std::uint32_t> gaps;
  /// load-l2, load-l3 and load-dram: bytes that the pointer chase goes through; 0 for the others.
  std::uint64_t working_set_bytes = 0;
  RunLength length = std::uint64_t{1'000'000};

  friend bool operator==(const Specification&, const Specification&) = default;
};

/// Returns the specification that a kind starts from on an architecture (aarch64: nop_bytes 4).
Specification default_specification(Arch arch, TriggerKind trigger = {});

inline constexpr std::size_t kMostTriggers = 16;
/// The bounds of a runway.
inline constexpr std::uint32_t kFewestNops = 20, kMostNops = 1'000'000;
/// The most iterations of a run.
inline constexpr std::uint64_t kMostIterations = 1'000'000'000'000'000;

/// Returns how many triggers an iteration has.
std::size_t triggers_of(const Specification& specification);
/// Returns the number of NOPs after a trigger, by its number from 0.
std::uint32_t runway_nops(const Specification& specification, std::size_t trigger);

/// Returns the gaps of --triggers and --gaps. Without the latter they grow evenly up to `nops`, the
/// NOPs after the last trigger: no two distances are the same. Throws ValueError when the two
/// contradict each other, or for a number of triggers out of bounds.
std::vector<std::uint32_t> gaps_for(std::optional<std::size_t> triggers,
                                    const std::vector<std::uint32_t>& gaps, std::uint32_t nops);

/// Returns the bytes from one element of a pointer chase to the next in memory; 0 for kinds that
/// chase nothing.
unsigned chase_stride(TriggerKind kind);

/// Returns how many elements the pointer chase has, the datum among them; 0 for kinds that chase
/// nothing.
std::uint64_t elements_of(const Specification& specification);

/// Returns the largest share of these elements that caches of `bytes` together hold at a time, each
/// element in a line of 64 bytes. Under LRU a chase through more than a cache holds always misses.
/// Other policies can keep this share; few CPUs document their policy.
double share_in_caches(const Specification& specification, std::uint64_t bytes);

/// Returns the number of first bytes of the datum that a data breakpoint is to watch. They are no
/// more than debug registers take. For a string they are all that it reads but for its last
/// repetition.
unsigned watched_bytes(const Specification& specification);

/// Returns how often the instruction of string-load repeats. Once beyond the watched bytes, so that
/// each of the accesses to them is within the instruction and not at its end.
unsigned string_repetitions(const Specification& specification);

/// Checks a specification. Throws ValueError for a kind that the architecture does not have, and
/// naming the field, its value and the expected values.
void check(const Specification& specification);

/// Bytes of the data or unified caches that one CPU uses, and of all memory; 0: none, or not known.
struct MemorySizes {
  std::uint64_t l1 = 0, l2 = 0, l3 = 0, memory = 0;
};

/// The working set of a pointer chase on a machine, or why none is suitable.
struct WorkingSet {
  std::uint64_t bytes = 0;   ///< value of working_set_bytes; 0 for kinds without a chase
  std::string refusal = {};  ///< why no size is suitable here, or empty; `bytes` is 0 then
  std::string remark = {};   ///< what to know of the size, for people; may be empty
};

/// Chooses the working set of a trigger kind. If the level 2 cache is not known, it is the one of
/// default_specification(), with a remark.
///
/// A level is missed reliably only by several times its size, because caches do not evict only what
/// was used least recently: a random one that is gone through in a cycle, and holds 1/n of it,
/// hits by a share h = exp(-n (1-h)), which is 20% for n = 2, 2% for 4 and 0.04% for 8. So:
///   load-l2    half the level 2 cache;
///   load-l3    16 times level 2, of which the elements take half of the lines, or half of level 3
///              where that is less, but no less than 4 times level 2;
///   load-dram  8 times the last level, of which the elements take half of the lines, or a quarter
///              of memory where that is less, but no less than 4 times the last level.
WorkingSet working_set_for(TriggerKind kind, const MemorySizes& sizes);

/// Formats a size: "2080 MiB", "384 KiB", "100 bytes".
std::string size_text(std::uint64_t bytes);

}  // namespace skid::runway
