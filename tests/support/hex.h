// Bytes written as text.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace skid::test {

/// "48 8b 00" as three bytes; blanks may be anywhere between bytes.
inline std::vector<std::byte> hex(std::string_view text) {
  std::vector<std::byte> bytes;
  std::string digits;
  for (const char character : text) {
    if (character == ' ') continue;
    digits += character;
    if (digits.size() < 2) continue;
    bytes.push_back(static_cast<std::byte>(std::stoul(digits, nullptr, 16)));
    digits.clear();
  }
  if (!digits.empty()) throw std::invalid_argument("half a byte: " + std::string(text));
  return bytes;
}

}  // namespace skid::test
