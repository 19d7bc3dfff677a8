// Random numbers that are the same on every machine: no std:: distribution, no function of libm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace skid {

/// std::mt19937_64, whose output the C++ standard defines, with draws by integer comparisons only.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Evenly from 0 to `bound` - 1; `bound` at least 1.
  std::uint64_t below(std::uint64_t bound);

  /// Evenly from [0, 1), a multiple of 2^-53.
  double share();

  /// A standard normal deviate, by C. F. F. Karney's algorithm N ("Sampling exactly from the normal
  /// distribution", ACM TOMS 42, 2016), here with 64-bit fractions for its unlimited ones.
  double normal();

  /// Brings `list` into random order.
  template <typename Element>
  void shuffle(std::vector<Element>& list) {
    for (std::size_t left = list.size(); left > 1; --left) {
      std::swap(list[left - 1], list[static_cast<std::size_t>(below(left))]);
    }
  }

 private:
  /// True with probability exp(-1/2).
  bool half_survives();
  /// True with probability exp(-x (2k + x) / (2k + 2)), x being a fraction of 2^64.
  bool step_survives(std::uint64_t k, std::uint64_t x);

  std::mt19937_64 engine_;
};

}  // namespace skid
