// Formats of tracepoints and a payload. The first two bytes are the size of the payload, which
// follows; then the tracing data as perf stores them.
#include "src/perfdata/tracepoint.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kIds = 4096;  // the kernel gives small numbers
  if (size < 2) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(2);
  const auto payload_size = std::min<std::size_t>(data[0] + data[1] * 256U, bytes.size());
  const auto payload = bytes.first(payload_size);
  std::string problem;
  const auto tracepoints = skid::perfdata::Tracepoints::parse(bytes.subspan(payload_size), problem);
  for (std::uint64_t id = 0; id < kIds; ++id) {
    const auto* format = tracepoints.format(id);
    if (format == nullptr) continue;
    (void)tracepoints.fields(*format, payload);
  }
  return 0;
}
