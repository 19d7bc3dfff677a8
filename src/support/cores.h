// The cores that threads of this program may keep busy, given out one by one.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace skid {

/// Counts cores, so that work that is divided at several levels (the recordings of a command, the
/// halves of a long file) does not start more threads than there are cores. Safe to be used by
/// several threads at a time.
class Cores {
 public:
  /// `count`: cores, that of the calling thread included; at least 1.
  explicit Cores(std::size_t count) noexcept : spare_(count > 0 ? count - 1 : 0) {}

  /// The CPUs that this process may run on (sched_setaffinity(2), cpusets), at least 1.
  static std::size_t usable() noexcept;

  struct GiveBack {
    void operator()(Cores* cores) const noexcept;
  };
  /// A core for one more thread, given back by its destructor; null: all are busy.
  using Lease = std::unique_ptr<Cores, GiveBack>;
  Lease try_take() noexcept;

 private:
  std::atomic<std::size_t> spare_;
};

}  // namespace skid
