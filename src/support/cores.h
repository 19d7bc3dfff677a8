// The cores that threads of this program may keep busy, given out one by one.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>

namespace skid {

/// Counts cores, so that work that is divided at several levels (the recordings of a command, the
/// halves of a long file) does not start more threads than there are cores. Safe to be used by
/// several threads at a time.
class Cores {
 public:
  /// `count`: cores, that of the calling thread included; at least 1.
  explicit Cores(std::size_t count) noexcept : spare_(count > 0 ? count - 1 : 0) {}
  Cores(const Cores&) = delete;
  Cores& operator=(const Cores&) = delete;
  Cores(Cores&&) = delete;
  Cores& operator=(Cores&&) = delete;
  ~Cores() = default;

  /// The CPUs that this process may run on (sched_setaffinity(2), cpusets), at least 1.
  static std::size_t usable() noexcept;

  /// A core for one more thread, given back by its destructor.
  class Lease {
   public:
    Lease(Lease&& other) noexcept : cores_(other.cores_) { other.cores_ = nullptr; }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (cores_ != nullptr) cores_->spare_.fetch_add(1, std::memory_order_relaxed);
    }

   private:
    friend class Cores;
    explicit Lease(Cores& cores) noexcept : cores_(&cores) {}
    Cores* cores_;
  };

  /// nullopt: all are busy.
  std::optional<Lease> try_take() noexcept;

 private:
  std::atomic<std::size_t> spare_;
};

}  // namespace skid
