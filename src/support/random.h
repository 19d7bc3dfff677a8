// Random numbers that are the same on every machine: they use no std:: distribution and no libm.
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

  /// Draws an integer from 0 to `bound` - 1, each equally likely; `bound` is at least 1.
  std::uint64_t below(std::uint64_t bound);

  /// Draws a multiple of 2^-53 from [0, 1), each equally likely.
  double share();

  /// Draws a standard normal deviate by C. F. F. Karney's algorithm N ("Sampling exactly from the
  /// normal distribution", ACM TOMS 42, 2016), with fractions of 64 bits in place of unlimited
  /// ones.
  double normal();

  /// Puts `list` into random order.
  template <typename Element>
  void shuffle(std::vector<Element>& list) {
    for (std::size_t left = list.size(); left > 1; --left) {
      std::swap(list[left - 1], list[static_cast<std::size_t>(below(left))]);
    }
  }

 private:
  /// Returns true with probability exp(-1/2).
  bool half_survives();
  /// Returns true with probability exp(-x (2k + x) / (2k + 2)), where x is a fraction of 2^64.
  bool step_survives(std::uint64_t k, std::uint64_t x);

  std::mt19937_64 engine_;
};

}  // namespace skid
