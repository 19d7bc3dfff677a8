#include "src/events/encoding.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace skid::events {
namespace {

/// AMD has bits 11:8 of the event in 35:32.
constexpr std::uint64_t kAmdEventHigh = 0xfULL << 32;
constexpr std::uint64_t kEventLow = 0xff;
constexpr std::uint64_t kArmEvent = 0xffff;
constexpr unsigned kUmaskShift = 8;
constexpr unsigned kCmaskShift = 24;

struct Flag {
  std::string_view name;
  unsigned bit;
  bool intel_only;
};
constexpr std::array<Flag, 6> kFlags{{{"edge", 18, false},
                                      {"pc", 19, true},
                                      {"any", 21, true},
                                      {"inv", 23, false},
                                      {"in_tx", 32, true},
                                      {"in_tx_cp", 33, true}}};

}  // namespace

std::uint64_t event_select(ConfigLayout layout, std::uint64_t config) {
  switch (layout) {
    case ConfigLayout::arm:
      return config & kArmEvent;
    case ConfigLayout::amd:
      return config & (kEventLow | kAmdEventHigh);
    case ConfigLayout::intel:
      break;
  }
  return config & kEventLow;
}

std::uint64_t unit_mask(ConfigLayout layout, std::uint64_t config) {
  return layout == ConfigLayout::arm ? 0 : (config >> kUmaskShift) & 0xff;
}

std::uint64_t without_modifiers(ConfigLayout layout, std::uint64_t config) {
  return event_select(layout, config) | unit_mask(layout, config) << kUmaskShift;
}

std::string perf_encoding(ConfigLayout layout, const Event& event) {
  const std::uint64_t select = event_select(layout, event.config);
  const std::uint64_t number = (select & kArmEvent) | ((select & kAmdEventHigh) >> 24);
  std::uint64_t left = event.config & ~without_modifiers(layout, event.config);
  std::string terms = fmt::format("event=0x{:02x}", number);
  if (layout != ConfigLayout::arm) {
    terms += fmt::format(",umask=0x{:02x}", unit_mask(layout, event.config));
    for (const Flag& flag : kFlags) {
      if (flag.intel_only && layout != ConfigLayout::intel) continue;
      const std::uint64_t bit = std::uint64_t{1} << flag.bit;
      if ((left & bit) != 0) terms += fmt::format(",{}=1", flag.name);
      left &= ~bit;
    }
    const std::uint64_t cmask = (left >> kCmaskShift) & 0xff;
    if (cmask != 0) terms += fmt::format(",cmask=0x{:02x}", cmask);
    left &= ~(std::uint64_t{0xff} << kCmaskShift);
  }
  if (left != 0) terms = fmt::format("config=0x{:x}", event.config);
  if (event.config1 != 0) terms += fmt::format(",config1=0x{:x}", event.config1);
  return fmt::format("{}/{}/", event.pmu, terms);
}

std::string raw_encoding(const Event& event) {
  return event.config1 != 0 ? std::string() : fmt::format("r{:04x}", event.config);
}

}  // namespace skid::events
