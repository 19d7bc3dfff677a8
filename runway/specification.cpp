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
  if (arch == Arch::aarch64) specification.nop_bytes = 4;
  return specification;
}

void check(const Specification& specification) {
  if (const auto reason = refusal(specification.trigger, specification.arch)) {
    throw UsageError(*reason);
  }
  check_access(specification);
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
