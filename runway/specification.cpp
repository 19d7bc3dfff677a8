#include "runway/specification.h"

#include "src/support/error.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::runway {

namespace {

using std::chrono::nanoseconds;

// The bounds keep a target below 20 MB and every count of a run far from overflow.
constexpr std::uint32_t kFewestNops = 20;
constexpr std::uint32_t kMostNops = 1'000'000;
constexpr std::uint64_t kMostIterations = 1'000'000'000'000'000;
constexpr nanoseconds kShortest = std::chrono::milliseconds{1};
constexpr nanoseconds kLongest = std::chrono::hours{24};

constexpr std::uint64_t kSmallestWorkingSet = std::uint64_t{1} << 10;
constexpr std::uint64_t kLargestWorkingSet = std::uint64_t{1} << 40;
/// What the debug registers of x86-64 and the watchpoints of aarch64 watch at most (the latter can
/// mask more, which Linux does not offer to perf).
constexpr unsigned kMostWatched = 8;

void require(bool holds, std::string_view field, std::uint64_t value, std::string_view allowed) {
  if (!holds) throw UsageError(fmt::format("{}: {} given, allowed {}", field, value, allowed));
}

void check_access(const Specification& specification) {
  static const std::vector<unsigned> any{1, 2, 4, 8};
  const TriggerTraits& traits = traits_of(specification.trigger);
  // A kind that accesses nothing still has a datum, for breakpoints to watch.
  const std::vector<unsigned>& widths = traits.widths.empty() ? any : traits.widths;
  const unsigned access = specification.access_bytes;
  require(std::find(widths.begin(), widths.end(), access) != widths.end(), "access bytes", access,
          fmt::format("{} for the trigger {}", fmt::join(widths, ", "), traits.name));
}

void check_working_set(const Specification& specification) {
  const std::uint64_t bytes = specification.working_set_bytes;
  const unsigned stride = chase_stride(specification.trigger);
  if (stride == 0) {
    require(bytes == 0, "working set bytes", bytes,
            fmt::format("0 for the trigger {}", name_of(specification.trigger)));
    return;
  }
  require(bytes >= kSmallestWorkingSet && bytes <= kLargestWorkingSet, "working set bytes", bytes,
          fmt::format("{} to {}", kSmallestWorkingSet, kLargestWorkingSet));
  require(
      bytes % stride == 0, "working set bytes", bytes,
      fmt::format("multiples of {} for the trigger {}", stride, name_of(specification.trigger)));
}

/// What suits many CPUs, for a target that is built for no CPU in particular.
std::uint64_t usual_working_set(MemoryLevel level) {
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
  switch (level) {
    case MemoryLevel::none:
      return 0;
    case MemoryLevel::l2:
      return kMebibyte / 8;
    case MemoryLevel::l3:
      return 4 * kMebibyte;
    case MemoryLevel::dram:
      return 256 * kMebibyte;
  }
  return 0;
}

}  // namespace

Arch arch_from(std::string_view name) {
  if (name == "x86_64" || name == "amd64") return Arch::x86_64;
  if (name == "aarch64" || name == "arm64") return Arch::aarch64;
  throw UsageError(
      fmt::format("architecture '{}': not known, allowed x86_64 (amd64), aarch64 (arm64)", name));
}

Specification default_specification(Arch arch, TriggerKind trigger) {
  Specification specification;
  specification.arch = arch;
  specification.trigger = trigger;
  const std::vector<unsigned>& widths = traits_of(trigger).widths;
  if (!widths.empty()) specification.access_bytes = widths.back();
  specification.working_set_bytes = usual_working_set(traits_of(trigger).level);
  if (arch == Arch::aarch64) specification.nop_bytes = 4;
  return specification;
}

unsigned chase_stride(TriggerKind kind) {
  constexpr unsigned kLine = 64;
  const MemoryLevel level = traits_of(kind).level;
  if (level == MemoryLevel::none) return 0;
  return level == MemoryLevel::l2 ? kLine : 2 * kLine;
}

std::uint64_t elements_of(const Specification& specification) {
  const unsigned stride = chase_stride(specification.trigger);
  return stride == 0 ? 0 : specification.working_set_bytes / stride;
}

unsigned watched_bytes(const Specification& specification) {
  if (specification.trigger == TriggerKind::string_load) return kMostWatched;
  return std::min(specification.access_bytes, kMostWatched);
}

unsigned string_repetitions(const Specification& specification) {
  return watched_bytes(specification) / specification.access_bytes + 1;
}

void check(const Specification& specification) {
  if (const auto reason = refusal(specification.trigger, specification.arch)) {
    throw UsageError(*reason);
  }
  check_access(specification);
  check_working_set(specification);
  const unsigned nop = specification.nop_bytes;
  if (specification.arch == Arch::aarch64) {
    require(nop == 4, "NOP bytes", nop, "4 on aarch64");
  } else {
    require(nop >= 1 && nop <= 9, "NOP bytes", nop, "1 to 9 on x86_64");
  }
  require(specification.nops >= kFewestNops && specification.nops <= kMostNops, "runway NOPs",
          specification.nops, fmt::format("{} to {}", kFewestNops, kMostNops));
  require(specification.lead_in_nops <= kMostNops, "lead-in NOPs", specification.lead_in_nops,
          fmt::format("0 to {}", kMostNops));
  if (const auto* iterations = std::get_if<std::uint64_t>(&specification.length)) {
    require(*iterations >= 1 && *iterations <= kMostIterations, "iterations", *iterations,
            fmt::format("1 to {}", kMostIterations));
  } else {
    const nanoseconds duration = std::get<nanoseconds>(specification.length);
    if (duration < kShortest || duration > kLongest) {
      throw UsageError(
          fmt::format("duration: {} ns given, allowed 1 ms to 24 h", duration.count()));
    }
  }
}

}  // namespace skid::runway
