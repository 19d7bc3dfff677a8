#include "runway/specification.h"

#include "src/support/error.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::runway {

namespace {

using std::chrono::nanoseconds;

constexpr std::array kKinds{
    std::pair{TriggerKind::load, std::string_view("load")},
    std::pair{TriggerKind::store, std::string_view("store")},
    std::pair{TriggerKind::branch, std::string_view("branch")},
    std::pair{TriggerKind::fault, std::string_view("fault")},
    std::pair{TriggerKind::none, std::string_view("none")},
};

// The bounds keep a target below 20 MB and every count of a run far from overflow.
constexpr std::uint32_t kFewestNops = 20;
constexpr std::uint32_t kMostNops = 1'000'000;
constexpr std::uint64_t kMostIterations = 1'000'000'000'000'000;
constexpr nanoseconds kShortest = std::chrono::milliseconds{1};
constexpr nanoseconds kLongest = std::chrono::hours{24};

void require(bool holds, std::string_view field, std::uint64_t value, std::string_view allowed) {
  if (!holds) throw UsageError(fmt::format("{}: {} given, allowed {}", field, value, allowed));
}

}  // namespace

std::string_view name_of(TriggerKind kind) {
  for (const auto& [candidate, name] : kKinds) {
    if (candidate == kind) return name;
  }
  return "unknown";
}

std::string_view name_of(Arch arch) {
  return arch == Arch::x86_64 ? "x86_64" : "aarch64";
}

TriggerKind trigger_kind_from(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& [kind, candidate] : kKinds) {
    if (candidate == name) return kind;
    names.push_back(candidate);
  }
  throw UsageError(
      fmt::format("trigger kind '{}': not known, allowed {}", name, fmt::join(names, ", ")));
}

Arch arch_from(std::string_view name) {
  if (name == "x86_64" || name == "amd64") return Arch::x86_64;
  if (name == "aarch64" || name == "arm64") return Arch::aarch64;
  throw UsageError(
      fmt::format("architecture '{}': not known, allowed x86_64 (amd64), aarch64 (arm64)", name));
}

std::vector<TriggerKind> all_trigger_kinds() {
  std::vector<TriggerKind> kinds;
  kinds.reserve(kKinds.size());
  for (const auto& [kind, name] : kKinds) kinds.push_back(kind);
  return kinds;
}

Specification default_specification(Arch arch) {
  Specification specification;
  specification.arch = arch;
  if (arch == Arch::aarch64) specification.nop_bytes = 4;
  return specification;
}

void check(const Specification& specification) {
  const unsigned access = specification.access_bytes;
  require(access == 1 || access == 2 || access == 4 || access == 8, "access bytes", access,
          "1, 2, 4 or 8");
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
