// Formats of tracepoints and a payload. The first two bytes are the size of the payload, which
// follows; then the tracing data as perf stores them.
#include "src/perfdata/tracepoint.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

void skid::fuzz::use(std::span<const std::uint8_t> input) {
  constexpr std::uint64_t kIds = 4096;  // the kernel gives small numbers
  if (input.size() < 2) return;
  const auto bytes = std::as_bytes(input).subspan(2);
  const auto payload_size = std::min<std::size_t>(input[0] + input[1] * 256U, bytes.size());
  const auto payload = bytes.first(payload_size);
  [&]() noexcept {
    std::string problem;
    const auto tracepoints = perfdata::Tracepoints::parse(bytes.subspan(payload_size), problem);
    for (std::uint64_t id = 0; id < kIds; ++id) {
      const auto* format = tracepoints.format(id);
      if (format != nullptr) (void)tracepoints.fields(*format, payload);
    }
  }();
}
