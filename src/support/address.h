// Addresses and architectures as they are passed between the layers.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
namespace skid {

/// The instruction sets that targets are built for and recordings are decoded for.
enum class Arch { x86_64, aarch64 };

/// The architecture that this program was built for.
#if defined(__aarch64__)
inline constexpr Arch kOwnArch = Arch::aarch64;
#else
inline constexpr Arch kOwnArch = Arch::x86_64;
#endif

/// Whether `machine` can be a kernel's name of an architecture. Damaged recordings contain other
/// texts, which have no meaning.
inline bool is_architecture_name(std::string_view machine) {
  constexpr std::string_view kCharacters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return !machine.empty() && machine.find_first_not_of(kCharacters) == std::string_view::npos;
}

/// Returns the architecture that `uname -m` or a recording names: "x86_64", "aarch64", "aarch64_be"
/// (whose code is that of aarch64), and the other names "amd64" and "arm64". nullopt for all
/// others, including those of 32 bits.
inline std::optional<Arch> arch_of_kernel(std::string_view machine) {
  if (machine == "x86_64" || machine == "amd64") return Arch::x86_64;
  if (machine == "aarch64" || machine == "aarch64_be" || machine == "arm64") return Arch::aarch64;
  return std::nullopt;
}

/// Bytes [begin, end) of an address space; each use documents which one.
struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  /// Returns the range of `size` bytes from `begin` on, or up to the last address.
  static AddressRange of_size(std::uint64_t begin, std::uint64_t size) noexcept {
    return {begin, begin + std::min(size, UINT64_MAX - begin)};
  }

  bool contains(std::uint64_t address) const noexcept { return begin <= address && address < end; }
  std::uint64_t size() const noexcept { return end - begin; }
  bool empty() const noexcept { return begin == end; }
  friend auto operator<=>(const AddressRange&, const AddressRange&) = default;
};

/// Whether one of `ranges`, ascending by their begin, contains an address. Where they overlap, only
/// the last that begins at or before the address counts.
inline bool contains(const std::vector<AddressRange>& ranges, std::uint64_t address) {
  const auto after = std::ranges::upper_bound(ranges, address, {}, &AddressRange::begin);
  return after != ranges.begin() && std::prev(after)->contains(address);
}

/// Sorts ranges, and joins those that overlap or touch.
inline void join(std::vector<AddressRange>& ranges) {
  std::ranges::sort(ranges, {}, &AddressRange::begin);
  std::size_t joined = 0;
  for (const AddressRange& range : ranges) {
    if (joined > 0 && range.begin <= ranges[joined - 1].end) {
      ranges[joined - 1].end = std::max(ranges[joined - 1].end, range.end);
    } else {
      ranges[joined++] = range;
    }
  }
  ranges.resize(joined);
}
}  // namespace skid
