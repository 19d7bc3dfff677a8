// The sampled addresses compared with those of a tracepoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace skid::analysis {

/// Compares the sampled addresses with those that a tracepoint recorded of the same events
/// (docs/method.md, "Page faults against their tracepoint").
struct IpCheck {
  struct Difference {
    std::uint64_t sampled = 0, traced = 0;  ///< addresses
    std::int32_t tid = 0;
    std::uint64_t time = 0;  ///< in ns of the recording's clock
  };
  std::string tracepoint;      ///< "exceptions:page_fault_user"
  std::uint64_t compared = 0;  ///< samples whose event the tracepoint recorded too
  std::uint64_t agreeing = 0;  ///< compared samples with the tracepoint's address
  std::uint64_t unpaired = 0;  ///< user-mode samples that could not be compared
  std::optional<Difference> first_difference;
};

}  // namespace skid::analysis
