#include "runway/working_set.h"

#include "runway/kinds/kind.h"
#include "runway/specification.h"

#include <algorithm>

#include <fmt/format.h>

namespace skid::runway {

namespace {

constexpr std::uint64_t kFarAboveL2 = 16;
constexpr std::uint64_t kFarAboveLast = 8;
constexpr std::uint64_t kLeastAbove = 4;

/// `wanted`, at most `most`; refused below `least`.
WorkingSet between(TriggerKind kind, std::uint64_t wanted, std::uint64_t most, std::uint64_t least,
                   const std::string& refusal) {
  const std::uint64_t stride = chase_stride(kind);
  const std::uint64_t bytes = std::min(wanted, most) / stride * stride;
  if (bytes < least) return {.bytes = 0, .refusal = refusal, .remark = {}};
  return {.bytes = bytes, .refusal = {}, .remark = {}};
}

}  // namespace

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
            .refusal = {},
            .remark = fmt::format("{}: the sizes of this CPU's caches are not known, so the chase "
                                  "goes through {}; --working-set names another size",
                                  name, size_text(usual))};
  }
  const std::uint64_t last = std::max(sizes.l2, sizes.l3);
  switch (chase->level) {
    case MemoryLevel::l2:
      return between(kind, sizes.l2 / 2, sizes.l2 / 2, 2 * sizes.l1,
                     fmt::format("{}: half of the level 2 cache ({}) is not far above level 1 ({})",
                                 name, size_text(sizes.l2), size_text(sizes.l1)));
    case MemoryLevel::l3:
      if (sizes.l3 == 0) {
        return {.bytes = 0,
                .refusal = fmt::format("{}: this CPU has no level 3 cache", name),
                .remark = {}};
      }
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
