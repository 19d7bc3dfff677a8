// The CPU time of a thread, for limits that do not depend on what else the machine does.
#pragma once

#include <cstdint>
#include <ctime>

namespace skid {

/// Returns the CPU time of this thread in ns.
inline std::uint64_t thread_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace skid
