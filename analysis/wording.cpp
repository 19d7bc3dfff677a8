#include "analysis/wording.h"

#include "analysis/contract.h"
#include "analysis/share.h"

#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

namespace skid::analysis {

std::string percent(double share) {
  if (!std::isfinite(share)) return "unknown";
  const double value = share * 100.0;
  if (value == 0.0 || value == 100.0) return fmt::format("{:.0f}%", value);
  constexpr std::array kLandmarks{0.0, kRequiredShare * 100.0, 100.0};
  constexpr int kMostDecimals = 7;
  int decimals = 2;
  for (; decimals < kMostDecimals; ++decimals) {
    const double scale = std::pow(10.0, decimals);
    const double shown = std::round(value * scale) / scale;
    bool misleads = false;
    for (const double landmark : kLandmarks) {
      misleads = misleads || (std::abs(shown - landmark) < 1e-9 && shown != value);
    }
    if (!misleads) break;
  }
  return fmt::format("{:.{}f}%", value, decimals);
}

std::string p_text(double p) {
  return p < 1e-300 ? std::string("p < 1e-300") : fmt::format("p {:.2g}", p);
}

std::string signed_number(std::int64_t offset) {
  return offset > 0 ? fmt::format("+{}", offset) : fmt::format("{}", offset);
}

std::string counts_and_interval(const Share& share) {
  return fmt::format("{} of {} ({}, {:.0f}% interval {} to {})", share.count, share.total,
                     percent(share.value), share.confidence * 100.0, percent(share.low),
                     percent(share.high));
}

std::string in_thousands(std::string digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string in_thousands(std::uint64_t number) {
  return in_thousands(std::to_string(number));
}

std::string no_pmu_counts(const std::string& events) {
  return "perf found no PMU that counts " + events;
}

std::string counted(std::uint64_t count, const std::string& singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

}  // namespace skid::analysis
