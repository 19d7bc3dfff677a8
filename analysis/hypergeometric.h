// How many of the drawn ones are marked, when some of a lot are drawn without putting back.
#pragma once

#include "src/support/random.h"

#include <cstdint>

namespace skid::analysis {

/// The marked ones among `drawn` of a lot of `total`, `marked` of them marked: by inversion where
/// few can be, else by ratio of uniforms (E. Stadlober, J. Comput. Appl. Math. 31, 1990). It takes
/// IEEE 754's basic operations and no function of libm, so that a seed gives the same on every
/// machine. Takes time in proportion to the standard deviation. Throws std::invalid_argument when
/// `marked` or `drawn` exceeds `total`, or `total` exceeds `kLargestLot`.
std::uint64_t draw_hypergeometric(Random& random, std::uint64_t total, std::uint64_t marked,
                                  std::uint64_t drawn);
/// Up to here a double counts exactly.
inline constexpr std::uint64_t kLargestLot = std::uint64_t{1} << 53;

/// Fisher's exact test that two shares are of the same chance: the probability, all margins given,
/// of a table that is at most as likely as count_a of total_a and count_b of total_b. Beyond
/// `kLongestExact` samples, where the sum gets too long, the normal approximation with the pooled
/// share stands for it. Throws std::invalid_argument when a count exceeds its total.
double fisher_exact_p(std::uint64_t count_a, std::uint64_t total_a, std::uint64_t count_b,
                      std::uint64_t total_b);
inline constexpr double kLongestExact = 1e9;

}  // namespace skid::analysis
