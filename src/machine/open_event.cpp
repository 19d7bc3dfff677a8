#include "src/machine/diagnosis.h"
#include "src/support/file.h"

#include <bit>
#include <cerrno>

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace skid::machine {

namespace {

/// A multiple of 16, which IBS demands, and within what all PMUs and clocks take.
constexpr std::uint64_t kPeriod = 100'000;

/// A datum of natural alignment for a data breakpoint.
alignas(sizeof(long)) long watched_datum = 0;

void put_breakpoint(const EventAttempt& attempt, perf_event_attr& attribute) {
  const bool execute = attempt.breakpoint == HW_BREAKPOINT_X;
  attribute.bp_type = attempt.breakpoint;
  attribute.bp_addr = execute ? std::bit_cast<std::uintptr_t>(&try_event)
                              : std::bit_cast<std::uintptr_t>(&watched_datum);
  attribute.bp_len = execute ? sizeof(long) : std::uint64_t{HW_BREAKPOINT_LEN_4};
}

}  // namespace

int try_event(const EventAttempt& attempt) {
  perf_event_attr attribute{};
  attribute.size = sizeof attribute;
  attribute.type = attempt.type;
  attribute.config = attempt.config;
  attribute.sample_period = kPeriod;
  attribute.sample_type = PERF_SAMPLE_IP;
  attribute.disabled = 1;
  attribute.precise_ip = static_cast<std::uint64_t>(attempt.precise_ip) & 3U;
  attribute.exclude_kernel = attempt.user_only ? 1 : 0;
  if (attempt.breakpoint != 0) put_breakpoint(attempt, attribute);

  constexpr pid_t kThisProcess = 0;
  constexpr int kAnyCpu = -1;
  constexpr int kNoGroup = -1;
  const long opened = ::syscall(SYS_perf_event_open, &attribute, kThisProcess, kAnyCpu, kNoGroup,
                                static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC));
  if (opened < 0) return errno;
  const FileDescriptor closed_again(static_cast<int>(opened));
  return 0;
}

}  // namespace skid::machine
