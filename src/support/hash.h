// Hashes of numbers that come from an input. A random seed prevents that an input makes many of
// them collide.
#pragma once

#include <cerrno>
#include <cstdint>
#include <system_error>

#include <unistd.h>

namespace skid {

/// Returns a random seed from the kernel. std::random_device would execute CPUID each time, which
/// is slow in a virtual machine.
inline std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  if (::getentropy(&seed, sizeof seed) != 0) {
    throw std::system_error(errno, std::generic_category(), "getentropy");
  }
  return seed;
}

/// Returns a hash, each bit of which depends on all bits of `number` and `seed`: two rounds of
/// Fibonacci hashing, each followed by folding the upper half into the lower.
constexpr std::uint64_t hashed(std::uint64_t number, std::uint64_t seed) noexcept {
  constexpr std::uint64_t kGolden = 0x9e37'79b9'7f4a'7c15;
  number = (number ^ seed) * kGolden;
  number = (number ^ number >> 32 ^ seed >> 17) * kGolden;
  return number ^ number >> 32;
}

}  // namespace skid
