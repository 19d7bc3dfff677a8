#include "src/machine/event_attempt.h"

#include "src/support/file_descriptor.h"

#include <bit>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <vector>

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace skid::machine {
namespace {

/// A datum of natural alignment for a data breakpoint, and code for an execute breakpoint.
alignas(sizeof(long)) volatile long watched_datum = 0;
[[gnu::noinline]] void watched_code() {
  watched_datum = watched_datum + 1;
}

void put_breakpoint(const EventAttempt& attempt, perf_event_attr& attribute) {
  const bool execute = attempt.breakpoint == HW_BREAKPOINT_X;
  attribute.bp_type = attempt.breakpoint;
  attribute.bp_addr = execute ? std::bit_cast<std::uintptr_t>(&watched_code)
                              : std::bit_cast<std::uintptr_t>(&watched_datum);
  attribute.bp_len = execute ? sizeof(long) : std::uint64_t{HW_BREAKPOINT_LEN_4};
}

perf_event_attr attribute_of(const EventAttempt& attempt) {
  perf_event_attr attribute{};
  attribute.size = sizeof attribute;
  attribute.type = attempt.type;
  attribute.config = attempt.config;
  attribute.config1 = attempt.config1;
  attribute.config2 = attempt.config2;
  attribute.freq = attempt.frequency ? 1 : 0;
  attribute.sample_period = attempt.period;
  attribute.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  if (attempt.call_graph) attribute.sample_type |= PERF_SAMPLE_CALLCHAIN;
  if (attempt.branch_stack) {
    attribute.sample_type |= PERF_SAMPLE_BRANCH_STACK;
    const std::uint64_t any = PERF_SAMPLE_BRANCH_ANY;
    attribute.branch_sample_type =
        PERF_SAMPLE_BRANCH_USER | (attempt.branch_filter != 0 ? attempt.branch_filter : any);
  }
  attribute.disabled = 1;
  attribute.precise_ip = static_cast<std::uint64_t>(attempt.precise_ip) & 3U;
  attribute.exclude_kernel = attempt.user_only ? 1 : 0;
  if (attempt.breakpoint != 0) put_breakpoint(attempt, attribute);
  return attribute;
}

/// Puts this process on one CPU, and sets `before` to where it was. False where it stays there.
bool pin(int cpu, cpu_set_t& before) {
  if (cpu < 0 || cpu >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof before, &before) != 0) {
    return false;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return ::sched_setaffinity(0, sizeof one, &one) == 0;
}

/// Loads, stores, taken and unpredictable branches, and loads that miss all caches where code can
/// flush a line, thousands of each in about a millisecond.
void cause_events() {
  constexpr std::size_t kLine = 64 / sizeof(std::uint64_t);
  constexpr std::size_t kRounds = 6'000;
  std::vector<std::uint64_t> memory(64 * kLine);
  volatile std::uint64_t* const data = memory.data();
  std::uint64_t random = 88'172'645'463'325'252U;
  for (std::size_t round = 0; round < kRounds; ++round) {
    random ^= random << 13U;
    random ^= random >> 7U;
    random ^= random << 17U;
    const std::size_t index = (random % 64) * kLine;
    if ((random & 0x100U) != 0) {
      data[index] = random;
    } else {
      data[0] = data[index] + 1;
    }
#if defined(__x86_64__)
    __builtin_ia32_clflush(&memory[index]);
    __builtin_ia32_mfence();
#endif
  }
}

/// Returns whether no sample was recorded though the counter reached several periods, or a
/// breakpoint was reached and not counted.
bool came_without_samples(int event, const EventAttempt& attempt) {
  constexpr std::uint64_t kSeveral = 4;
  const bool breakpoint = attempt.breakpoint != 0;
  // In frequency mode the kernel chooses the first period, and a software timer can be late in a
  // guest: neither must give a sample in time.
  if (!breakpoint && (attempt.frequency || attempt.type == PERF_TYPE_SOFTWARE)) return false;
  constexpr std::size_t kPages = 8;
  const std::size_t size = (1 + kPages) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
  const auto unmap = [size](void* memory) { ::munmap(memory, size); };
  const std::unique_ptr<void, decltype(unmap)> buffer(address == MAP_FAILED ? nullptr : address,
                                                      unmap);
  if (!buffer || ::ioctl(event, PERF_EVENT_IOC_ENABLE, 0) != 0) return false;
  breakpoint ? watched_code() : cause_events();
  ::ioctl(event, PERF_EVENT_IOC_DISABLE, 0);  // what PEBS has buffered comes now
  std::uint64_t count = 0;
  if (::read(event, &count, sizeof count) != static_cast<ssize_t>(sizeof count)) return false;
  if (breakpoint) return count == 0;
  const auto* page = static_cast<const volatile perf_event_mmap_page*>(buffer.get());
  return count / kSeveral >= attempt.period && page->data_head == 0;
}

int open_here(const EventAttempt& attempt) {
  perf_event_attr attribute = attribute_of(attempt);
  constexpr pid_t kThisProcess = 0, kEveryProcess = -1;
  constexpr int kNoGroup = -1;
  const long opened =
      ::syscall(SYS_perf_event_open, &attribute, attempt.whole_cpu ? kEveryProcess : kThisProcess,
                attempt.cpu, kNoGroup, static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC));
  if (opened < 0) return errno;
  const FileDescriptor event(static_cast<int>(opened));
  return came_without_samples(event.get(), attempt) ? kNoSamples : kAccepted;
}

}  // namespace

int try_event(const EventAttempt& attempt) {
  cpu_set_t before{};
  const bool is_pinned = pin(attempt.cpu, before);
  const int answer = open_here(attempt);
  if (is_pinned) ::sched_setaffinity(0, sizeof before, &before);
  return answer;
}

}  // namespace skid::machine
