// A sample that was drawn from a model.
#pragma once

#include "src/perfdata/format.h"

#include <cstdint>
#include <tuple>

namespace skid::synth {

/// The process whose code a sample is in.
enum class Origin : std::uint8_t {
  target,       ///< the target, after its exec
  before_exec,  ///< the process that becomes the target
  other,        ///< another process
};

struct DrawnSample {
  std::uint64_t address = 0;
  Origin origin = Origin::target;
  perfdata::CpuMode mode = perfdata::CpuMode::user;
  bool exact = false;      ///< PERF_RECORD_MISC_EXACT_IP
  std::uint64_t data = 0;  ///< PERF_SAMPLE_ADDR, not compared

  friend bool operator==(const DrawnSample& a, const DrawnSample& b) {
    return !(a < b) && !(b < a);
  }
  friend bool operator<(const DrawnSample& a, const DrawnSample& b) {
    return std::tie(a.address, a.origin, a.mode, a.exact) <
           std::tie(b.address, b.origin, b.mode, b.exact);
  }
};

}  // namespace skid::synth
