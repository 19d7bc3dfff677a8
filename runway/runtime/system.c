#include "system.h"

#include "arch.h"
#include "text.h"

enum {
  kInterrupted = 4,          // EINTR
  kInvalid = 22,             // EINVAL
  kCloseOnExec = 02000000,   // O_CLOEXEC
  kWriteOnly = 1,            // O_WRONLY
  kWorkingDirectory = -100,  // AT_FDCWD
  kClockMonotonic = 1,
  kLockCurrent = 1,  // MCL_CURRENT
  kDontNeed = 4,     // MADV_DONTNEED
  kMostCpus = 8192,  // the most that Linux can be built for
};

static long call(long number, long a, long b, long c, long d) {
  long result;
  do {
    result = system_call(number, a, b, c, d);
  } while (result == -kInterrupted);
  return result;
}

_Noreturn void leave(int status) {
  for (;;) system_call(kExitGroup, status, 0, 0, 0);
}

_Noreturn void die(int status, const char* what, const char* detail) {
  struct text message;
  message.length = 0;
  append(&message, "skidscan-target: ");
  append(&message, what);
  append(&message, " ");
  append(&message, detail);
  append(&message, "\n");
  write_all(2, message.bytes, message.length);
  leave(status);
}

int write_all(int fd, const char* bytes, u64 length) {
  while (length > 0) {
    const long written = call(kWrite, fd, (long)bytes, (long)length, 0);
    if (written < 0) return (int)-written;
    bytes += written;
    length -= (u64)written;
  }
  return 0;
}

int read_byte(int fd, char* byte) {
  return (int)call(kRead, fd, (long)byte, 1, 0);
}

int open_to_write(const char* path) {
  return (int)call(kOpenat, kWorkingDirectory, (long)path, kWriteOnly | kCloseOnExec, 0);
}

int open_to_read(const char* path) {
  return (int)call(kOpenat, kWorkingDirectory, (long)path, kCloseOnExec, 0);
}

u64 monotonic(void) {
  struct {
    i64 seconds, nanoseconds;
  } now = {0, 0};
  call(kClockGettime, kClockMonotonic, (long)&now, 0, 0);
  return (u64)now.seconds * 1000000000 + (u64)now.nanoseconds;
}

int pin_to(u64 cpu) {
  u64 mask[kMostCpus / 64];
  if (cpu >= kMostCpus) return kInvalid;
  for (unsigned i = 0; i < kMostCpus / 64; ++i) mask[i] = i == cpu / 64 ? (u64)1 << cpu % 64 : 0;
  return (int)-call(kSchedSetaffinity, 0, sizeof mask, (long)mask, 0);
}

int lock_memory(void) {
  return (int)-call(kMlockall, kLockCurrent, 0, 0, 0);
}

int unlock_memory(const void* begin, u64 bytes) {
  return (int)-call(kMunlock, (long)begin, (long)bytes, 0, 0);
}

int give_back_memory(const void* begin, u64 bytes) {
  return (int)-call(kMadvise, (long)begin, (long)bytes, kDontNeed, 0);
}

int current_cpu(u64* cpu) {
  unsigned number = 0;
  const long result = call(kGetcpu, (long)&number, 0, 0, 0);
  *cpu = number;
  return (int)-result;
}
