#include "runway/specification.h"

#include "runway/kinds/kind.h"
#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace skid::runway {

namespace {

using std::chrono::nanoseconds;

// Like kMostNops, these keep a target below 20 MB and every count of a run far from overflow.
constexpr std::uint64_t kMostNopsOfAll = 2'000'000;
constexpr nanoseconds kShortest = std::chrono::milliseconds{1};
constexpr nanoseconds kLongest = std::chrono::hours{24};

constexpr std::uint64_t kSmallestWorkingSet = std::uint64_t{1} << 10;
constexpr std::uint64_t kLargestWorkingSet = std::uint64_t{1} << 40;
/// The most bytes that the debug registers of x86-64 and the watchpoints of aarch64 watch (the
/// latter can mask more, which Linux does not offer to perf).
constexpr unsigned kMostWatched = 8;

void require(bool holds, std::string_view field, std::uint64_t value, std::string_view expected) {
  if (!holds) throw ValueError("{}: {} given; expected {}", field, value, expected);
}

void check_access(const Specification& specification) {
  const Kind& kind = kind_of(specification.trigger);
  // A kind that accesses nothing still has a datum, for breakpoints to watch.
  const std::vector<unsigned>& widths = kind.widths.empty() ? kinds::kWords : kind.widths;
  const unsigned access = specification.access_bytes;
  require(contains(widths, access), "access bytes", access,
          fmt::format("{} for the trigger {}", fmt::join(widths, ", "), kind.name));
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

void check_nops(const Specification& specification) {
  require(specification.nops >= kFewestNops && specification.nops <= kMostNops, "runway NOPs",
          specification.nops, fmt::format("{} to {}", kFewestNops, kMostNops));
  require(specification.lead_in_nops <= kMostNops, "lead-in NOPs", specification.lead_in_nops,
          fmt::format("0 to {}", kMostNops));
  require(triggers_of(specification) <= kMostTriggers, "triggers", triggers_of(specification),
          fmt::format("1 to {}", kMostTriggers));
  std::uint64_t all = std::uint64_t{specification.nops} + specification.lead_in_nops;
  for (const std::uint32_t gap : specification.gaps) {
    require(gap <= kMostNops, "NOPs between two triggers", gap, fmt::format("0 to {}", kMostNops));
    all += gap;
  }
  require(all <= kMostNopsOfAll, "NOPs of an iteration", all,
          fmt::format("at most {}", kMostNopsOfAll));
}

constexpr std::uint64_t kFarAboveL2 = 16;
constexpr std::uint64_t kFarAboveLast = 8;
constexpr std::uint64_t kLeastAbove = 4;

/// `wanted`, at most `most`; refused below `least`.
WorkingSet between(TriggerKind kind, std::uint64_t wanted, std::uint64_t most, std::uint64_t least,
                   const std::string& refusal) {
  const std::uint64_t stride = chase_stride(kind);
  const std::uint64_t bytes = std::min(wanted, most) / stride * stride;
  if (bytes < least) return {.refusal = refusal};
  return {.bytes = bytes};
}

}  // namespace

Arch arch_from(std::string_view name) {
  if (name == "x86_64" || name == "amd64") return Arch::x86_64;
  if (name == "aarch64" || name == "arm64") return Arch::aarch64;
  throw ValueError("architecture '{}' is not supported; expected x86_64 (amd64) or aarch64 (arm64)",
                   name);
}

Specification default_specification(Arch arch, TriggerKind trigger) {
  Specification specification;
  specification.arch = arch;
  specification.trigger = trigger;
  const Kind& kind = kind_of(trigger);
  if (!kind.widths.empty()) specification.access_bytes = kind.widths.back();
  if (kind.chase) specification.working_set_bytes = kind.chase->usual_bytes;
  if (arch == Arch::aarch64) specification.nop_bytes = 4;
  return specification;
}

std::size_t triggers_of(const Specification& specification) {
  return specification.gaps.size() + 1;
}

std::uint32_t runway_nops(const Specification& specification, std::size_t trigger) {
  return trigger < specification.gaps.size() ? specification.gaps[trigger] : specification.nops;
}

std::vector<std::uint32_t> gaps_for(std::optional<std::size_t> triggers,
                                    const std::vector<std::uint32_t>& gaps, std::uint32_t nops) {
  const std::size_t number = triggers.value_or(gaps.size() + 1);
  require(number >= 1 && number <= kMostTriggers, "triggers", number,
          fmt::format("1 to {}", kMostTriggers));
  if (!gaps.empty()) {
    require(gaps.size() == number - 1, "gaps", gaps.size(),
            fmt::format("{}, one fewer than triggers", number - 1));
    return gaps;
  }
  std::vector<std::uint32_t> graded;
  for (std::size_t i = 1; i < number; ++i) {
    const auto gap = static_cast<std::uint32_t>(std::uint64_t{nops} * i / number);
    if (gap < kFewestNops) {
      throw ValueError(
          "runway NOPs: {} given; expected at least {} for {} triggers, or explicit gaps", nops,
          kFewestNops * number, number);
    }
    graded.push_back(gap);
  }
  return graded;
}

unsigned chase_stride(TriggerKind kind) {
  const std::optional<Chase>& chase = kind_of(kind).chase;
  return chase ? chase->stride : 0;
}

std::uint64_t elements_of(const Specification& specification) {
  const unsigned stride = chase_stride(specification.trigger);
  return stride == 0 ? 0 : specification.working_set_bytes / stride;
}

double share_in_caches(const Specification& specification, std::uint64_t bytes) {
  constexpr std::uint64_t kLine = 64;
  const auto lines = static_cast<double>(bytes / kLine);
  const auto elements = static_cast<double>(elements_of(specification));
  return elements == 0 ? 0 : std::min(1.0, lines / elements);
}

unsigned watched_bytes(const Specification& specification) {
  if (kind_of(specification.trigger).repeats) return kMostWatched;
  return std::min(specification.access_bytes, kMostWatched);
}

unsigned string_repetitions(const Specification& specification) {
  return watched_bytes(specification) / specification.access_bytes + 1;
}

void check(const Specification& specification) {
  if (const auto reason = refusal(specification.trigger, specification.arch)) {
    throw ValueError(*reason);
  }
  check_access(specification);
  check_working_set(specification);
  const unsigned nop = specification.nop_bytes;
  if (specification.arch == Arch::aarch64) {
    require(nop == 4, "NOP bytes", nop, "4 on aarch64");
  } else {
    require(nop >= 1 && nop <= 9, "NOP bytes", nop, "1 to 9 on x86_64");
  }
  check_nops(specification);
  if (const auto* iterations = std::get_if<std::uint64_t>(&specification.length)) {
    require(*iterations >= 1 && *iterations <= kMostIterations, "iterations", *iterations,
            fmt::format("1 to {}", kMostIterations));
  } else {
    const nanoseconds duration = std::get<nanoseconds>(specification.length);
    if (duration < kShortest || duration > kLongest) {
      throw ValueError("duration: {} ns given; expected 1 ms to 24 h", duration.count());
    }
  }
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kKibibyte = 1024;
  if (bytes == 0 || bytes % kKibibyte != 0) return fmt::format("{} bytes", bytes);
  if (bytes % (kKibibyte * kKibibyte) != 0) return fmt::format("{} KiB", bytes / kKibibyte);
  return fmt::format("{} MiB", bytes / (kKibibyte * kKibibyte));
}

WorkingSet working_set_for(TriggerKind kind, const MemorySizes& sizes) {
  const std::optional<Chase>& chase = kind_of(kind).chase;
  if (!chase) return {};
  const auto name = name_of(kind);
  if (sizes.l2 == 0) {
    const std::uint64_t usual = chase->usual_bytes;
    return {.bytes = usual,
            .remark = fmt::format("{}: the sizes of this CPU's caches are not known, so the chase "
                                  "goes through {}; another working set can be chosen",
                                  name, size_text(usual))};
  }
  const std::uint64_t last = std::max(sizes.l2, sizes.l3);
  switch (chase->level) {
    case MemoryLevel::l2:
      return between(kind, sizes.l2 / 2, sizes.l2 / 2, 2 * sizes.l1,
                     fmt::format("{}: half of the level 2 cache ({}) is not far above level 1 ({})",
                                 name, size_text(sizes.l2), size_text(sizes.l1)));
    case MemoryLevel::l3:
      if (sizes.l3 == 0) return {.refusal = fmt::format("{}: this CPU has no level 3 cache", name)};
      return between(kind, kFarAboveL2 * sizes.l2, sizes.l3 / 2, kLeastAbove * sizes.l2,
                     fmt::format("{}: half of the level 3 cache ({}) is not far above level 2 ({})",
                                 name, size_text(sizes.l3), size_text(sizes.l2)));
    case MemoryLevel::dram: {
      const std::uint64_t most = sizes.memory == 0 ? kFarAboveLast * last : sizes.memory / 4;
      return between(
          kind, kFarAboveLast * last, most, kLeastAbove * last,
          fmt::format("{}: a quarter of the memory ({}) is not far above the caches ({})", name,
                      size_text(sizes.memory), size_text(last)));
    }
  }
  return {};
}

}  // namespace skid::runway
