// x86-64: system calls (numbers from asm/unistd_64.h) and the time-stamp counter.
#pragma once

#include "runway.h"

enum {
  kRead = 0,
  kWrite = 1,
  kClose = 3,
  kMmap = 9,
  kMadvise = 28,
  kMunlock = 150,
  kMlockall = 151,
  kPrctl = 157,
  kSchedSetaffinity = 203,
  kClockGettime = 228,
  kExitGroup = 231,
  kOpenat = 257,
  kGetcpu = 309,
};

static inline long system_call6(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

// The time-stamp counter. The fences keep instructions of either side from crossing the reading
// (Intel SDM Vol. 2B, RDTSC; on AMD Linux makes LFENCE serialize).
static inline u64 counter(void) {
  u64 low, high;
  __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
  return high << 32 | low;
}

// Waits until all earlier instructions are done.
static inline void settle(void) {
  __asm__ volatile("lfence" : : : "memory");
}
