// A file that may be compressed.
#include "src/symbols/compressed_file.h"
#include "tests/fuzz/target.h"

#include <cstdint>
#include <span>
#include <string>

void skid::fuzz::use(std::span<const std::uint8_t> input) {
  constexpr std::uint64_t kMost = 1 << 20;
  const auto file = std::as_bytes(input);
  const std::string content = symbols::decompressed(file, kMost);
  require(content.size() <= kMost && (content.empty() || symbols::is_compressed(file)));
  // A smaller limit refuses the whole content, and gives no part of it.
  if (!content.empty()) require(symbols::decompressed(file, content.size() - 1).empty());
  require(symbols::decompressed(file, content.size()) == content);
}
