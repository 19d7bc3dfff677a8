// A library to preload: makes perf_event_open of this machine that of a poorer one. POORER in the
// environment:
//   silent     breakpoints are accepted and never fire, as some hypervisors have it
//   refused    breakpoints are refused with EOPNOTSUPP
//   forbidden  every event is refused with EACCES, as by kernel.perf_event_paranoid or seccomp
// perf and skidscan call it through syscall(2) of the C library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

typedef long (*system_call)(long, long, long, long, long, long, long);

long syscall(long number, ...) {
  va_list list;
  long argument[6];
  va_start(list, number);
  for (int i = 0; i < 6; ++i) argument[i] = va_arg(list, long);
  va_end(list);
  system_call next = (system_call)dlsym(RTLD_NEXT, "syscall");
  struct perf_event_attr* attribute = (struct perf_event_attr*)argument[0];
  const char* poorer = getenv("POORER");
  unsigned long address = 0;
  int is_moved = 0;
  if (number == SYS_perf_event_open && poorer != NULL) {
    if (strcmp(poorer, "forbidden") == 0) {
      errno = EACCES;
      return -1;
    }
    if (attribute->type == PERF_TYPE_BREAKPOINT && strcmp(poorer, "refused") == 0) {
      errno = EOPNOTSUPP;
      return -1;
    }
    if (attribute->type == PERF_TYPE_BREAKPOINT && strcmp(poorer, "silent") == 0) {
      address = attribute->bp_addr;
      attribute->bp_addr = 0x1000;  // nothing is mapped below vm.mmap_min_addr
      is_moved = 1;
    }
  }
  const long result =
      next(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
  if (is_moved) attribute->bp_addr = address;
  return result;
}
