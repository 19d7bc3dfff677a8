#include "src/support/random.h"

#include <limits>

namespace skid {

std::uint64_t Random::below(std::uint64_t bound) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t number = engine_();
  if (number > kMost - bound) {
    // Values past the last whole multiple of the bound are drawn again.
    const std::uint64_t rest = (kMost % bound + 1) % bound;
    while (number > kMost - rest) number = engine_();
  }
  return number % bound;
}

double Random::share() {
  constexpr unsigned kSpare = 11;  // bits beyond the 53 of a double
  return static_cast<double>(engine_() >> kSpare) * 0x1p-53;
}

bool Random::half_survives() {
  // Karney's algorithm H, after von Neumann: the length of a falling run that begins below 1/2.
  std::uint64_t last = engine_();
  if (last >= std::uint64_t{1} << 63U) return true;
  for (bool even = false;; even = !even) {
    const std::uint64_t next = engine_();
    if (next >= last) return even;
    last = next;
  }
}

bool Random::step_survives(std::uint64_t k, std::uint64_t x) {
  // Karney's algorithm B: a falling run that continues with probability (2k + x) / (2k + 2).
  std::uint64_t last = x;
  for (bool even = true;; even = !even) {
    const std::uint64_t next = engine_();
    if (next >= last) return even;
    const std::uint64_t part = below(2 * k + 2);
    if (part == 2 * k + 1 || (part == 2 * k && engine_() >= x)) return even;
    last = next;
  }
}

double Random::normal() {
  for (;;) {
    std::uint64_t k = 0;  // the whole part, with probability proportional to exp(-k / 2)
    while (half_survives()) ++k;
    bool kept = true;  // with probability exp(-k (k - 1) / 2)
    for (std::uint64_t i = k > 1 ? k * (k - 1) : 0; kept && i > 0; --i) kept = half_survives();
    if (!kept) continue;
    const std::uint64_t x = engine_();  // the fraction, with probability exp(-x (2k + x) / 2)
    for (std::uint64_t i = 0; kept && i <= k; ++i) kept = step_survives(k, x);
    if (!kept) continue;
    const double magnitude = static_cast<double>(k) + static_cast<double>(x) * 0x1p-64;
    return engine_() % 2 == 0 ? magnitude : -magnitude;
  }
}

}  // namespace skid
