// aarch64: system calls (numbers from asm-generic/unistd.h) and the virtual counter.
#pragma once

#include "runway.h"

enum {
  kOpenat = 56,
  kClose = 57,
  kRead = 63,
  kWrite = 64,
  kExitGroup = 94,
  kClockGettime = 113,
  kSchedSetaffinity = 122,
  kPrctl = 167,
  kGetcpu = 168,
  kMmap = 222,
  kMunlock = 229,
  kMlockall = 230,
  kMadvise = 233,
};

static inline long system_call6(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc #0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory", "cc");
  return x0;
}

// The virtual counter. The barriers keep instructions of either side from crossing the reading
// (Arm ARM, "The Generic Timer": reads of CNTVCT_EL0 can be done out of order).
static inline u64 counter(void) {
  u64 value;
  __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(value) : : "memory");
  return value;
}

// Waits until all earlier instructions are done.
static inline void settle(void) {
  __asm__ volatile("isb" : : : "memory");
}
