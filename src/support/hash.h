// Hashes of numbers that an input chooses: with a random seed, so that no input can make many of
// them collide.
#pragma once

#include <cstdint>
#include <random>

namespace skid {

inline std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

/// Each bit depends on all bits of `number` and `seed`: two rounds of Fibonacci hashing, each
/// followed by folding the upper half into the lower.
constexpr std::uint64_t hashed(std::uint64_t number, std::uint64_t seed) noexcept {
  constexpr std::uint64_t kGolden = 0x9e37'79b9'7f4a'7c15;
  number = (number ^ seed) * kGolden;
  number = (number ^ number >> 32 ^ seed >> 17) * kGolden;
  return number ^ number >> 32;
}

}  // namespace skid
