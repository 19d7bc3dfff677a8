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
  kLockCurrent = 1,        // MCL_CURRENT
  kDontNeed = 4,           // MADV_DONTNEED
  kUseHugePages = 14,      // MADV_HUGEPAGE
  kMapReadable = 1,        // PROT_READ
  kMapWritable = 2,        // PROT_WRITE
  kPrivate = 0x02,         // MAP_PRIVATE
  kAnonymous = 0x20,       // MAP_ANONYMOUS
  kParentDeathSignal = 1,  // PR_SET_PDEATHSIG
  kKill = 9,               // SIGKILL
  kMostCpus = 8192,        // the most that Linux can be built for
};

static long system_call(long number, long a, long b, long c, long d) {
  return system_call6(number, a, b, c, d, 0, 0);
}

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

int die_with_parent(void) {
  return (int)-call(kPrctl, kParentDeathSignal, kKill, 0, 0);
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

char* map_memory(u64 bytes) {
  const long result = system_call6(kMmap, 0, (long)bytes, kMapReadable | kMapWritable,
                                   kPrivate | kAnonymous, -1, 0);
  // The last page of the address space is never mapped: its addresses are error numbers.
  return (u64)result > -(u64)4096 ? 0 : (char*)result;
}

int ask_for_huge_pages(const void* begin, u64 bytes) {
  return (int)-call(kMadvise, (long)begin, (long)bytes, kUseHugePages, 0);
}

// The number after `label` in the text, which ends with 0; or 0.
static u64 number_after(const char* text, const char* label) {
  for (; *text; ++text) {
    u64 i = 0;
    while (label[i] && text[i] == label[i]) ++i;
    if (label[i]) continue;
    text += i;
    while (*text == ' ') ++text;
    u64 number = 0;
    for (; *text >= '0' && *text <= '9'; ++text) number = number * 10 + (u64)(*text - '0');
    return number;
  }
  return 0;
}

u64 huge_page_bytes(void) {
  char text[4096];  // some 25 lines
  const int fd = open_to_read("/proc/self/smaps_rollup");
  if (fd < 0) return 0;
  const long length = call(kRead, fd, (long)text, sizeof text - 1, 0);
  system_call(kClose, fd, 0, 0, 0);
  text[length > 0 ? length : 0] = 0;
  return number_after(text, "AnonHugePages:") * 1024;
}

int current_cpu(u64* cpu) {
  unsigned number = 0;
  const long result = call(kGetcpu, (long)&number, 0, 0, 0);
  *cpu = number;
  return (int)-result;
}
