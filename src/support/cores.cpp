#include "src/support/cores.h"

#include <algorithm>
#include <array>
#include <thread>

#include <sched.h>

namespace skid {

std::size_t Cores::usable() noexcept {
  // Most versions of glibc make std::thread::hardware_concurrency() count all online CPUs.
  constexpr std::size_t kMostCpus = 8192;  // maximum of Linux in any configuration
  std::array<cpu_set_t, kMostCpus / CPU_SETSIZE> allowed{};
  if (::sched_getaffinity(0, sizeof(allowed), allowed.data()) == 0) {
    const int count = CPU_COUNT_S(sizeof(allowed), allowed.data());
    if (count > 0) return static_cast<std::size_t>(count);
  }
  return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

void Cores::GiveBack::operator()(Cores* cores) const noexcept {
  cores->spare_.fetch_add(1, std::memory_order_relaxed);
}

Cores::Lease Cores::try_take() noexcept {
  std::size_t spare = spare_.load(std::memory_order_relaxed);
  while (spare > 0) {
    if (spare_.compare_exchange_weak(spare, spare - 1, std::memory_order_relaxed)) {
      return Lease(this);
    }
  }
  return nullptr;
}

}  // namespace skid
