// The system calls of a target, by what they are for. There is no C library: a target must build
// wherever a compiler is installed, and its bytes must not depend on anything else.
#pragma once

#include "runway.h"

enum { kExitDone = 0, kExitFailed = 1, kExitUsage = 64 };

_Noreturn void leave(int status);
// Prints "skidscan-target: <what> <detail>" on standard error and exits.
_Noreturn void die(int status, const char* what, const char* detail);

// Writes all of `length` bytes; 0, or the errno.
int write_all(int fd, const char* bytes, u64 length);
// One byte: 1, 0 at the end, or minus the errno.
int read_byte(int fd, char* byte);
// A descriptor, or minus the errno.
int open_to_write(const char* path);
int open_to_read(const char* path);

// Nanoseconds of CLOCK_MONOTONIC.
u64 monotonic(void);

// Memory of zeros, to read and write; or 0.
char* map_memory(u64 bytes);
// How much of this process's memory is in huge pages, or 0 where the kernel does not report it.
u64 huge_page_bytes(void);

// All of these give 0, or the errno.
int pin_to(u64 cpu);
// Has us killed when the process dies that started us.
int die_with_parent(void);
int lock_memory(void);
int unlock_memory(const void* begin, u64 bytes);
int ask_for_huge_pages(const void* begin, u64 bytes);
int give_back_memory(const void* begin, u64 bytes);
int current_cpu(u64* cpu);
