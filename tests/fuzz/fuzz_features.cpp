// One feature section. The first byte selects the kind (low seven bits, of which 64 and above are
// those of simpleperf, 128 and above) and the byte order (high bit).
#include "src/perfdata/bytes.h"
#include "src/perfdata/feature_sections.h"
#include "src/perfdata/features.h"
#include "tests/fuzz/target.h"

#include <cstdint>
#include <span>

void skid::fuzz::use(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  constexpr unsigned kOfSimpleperf = 64;
  const unsigned kind = input[0] & 0x7fU;
  const unsigned bit = kind < kOfSimpleperf ? kind : kind + kOfSimpleperf;
  const bool is_big_endian = (input[0] & 0x80U) != 0;
  perfdata::Features features;
  [&]() noexcept {
    perfdata::parse_feature(bit, std::as_bytes(input).subspan(1),
                            is_big_endian ? perfdata::ByteOrder::big : perfdata::ByteOrder::little,
                            features);
  }();
}
