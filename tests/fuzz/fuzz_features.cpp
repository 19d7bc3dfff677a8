// One feature section. The first byte selects the kind (low seven bits, of which 64 and above are
// those of simpleperf, 128 and above) and the byte order (high bit).
#include "src/perfdata/features.h"

#include <cstddef>
#include <cstdint>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using skid::perfdata::ByteOrder;
  if (size == 0) return 0;
  constexpr unsigned kOfSimpleperf = 64;
  const unsigned kind = data[0] & 0x7fU;
  const unsigned bit = kind < kOfSimpleperf ? kind : kind + kOfSimpleperf;
  const auto order = (data[0] & 0x80U) != 0 ? ByteOrder::big : ByteOrder::little;
  skid::perfdata::Features features;
  skid::perfdata::parse_feature(bit, std::as_bytes(std::span(data, size)).subspan(1), order,
                                features);
  return 0;
}
