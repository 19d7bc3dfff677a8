// The cores that threads of this program may keep busy, reserved one by one.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace skid {

/// Counts cores, so that work that is divided at several levels (the recordings of a command, the
/// halves of a long file) does not start more threads than there are cores. Thread-safe.
class Cores {
 public:
  /// `count`: number of cores, including that of the calling thread; at least 1.
  explicit Cores(std::size_t count) noexcept : spare_(count > 0 ? count - 1 : 0) {}

  /// Returns how many CPUs this process may run on (sched_setaffinity(2), cpusets), at least 1.
  static std::size_t usable() noexcept;

  struct GiveBack {
    void operator()(Cores* cores) const noexcept;
  };
  /// A reserved core, which the destructor releases.
  using Lease = std::unique_ptr<Cores, GiveBack>;
  /// Reserves a core for one more thread; null if all are in use.
  Lease try_take() noexcept;

 private:
  std::atomic<std::size_t> spare_;
};

}  // namespace skid
