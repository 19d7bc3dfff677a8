// What differs between the architectures: system calls and the counter.
#pragma once

#if defined(__x86_64__)
#include "arch_x86_64.h"
#elif defined(__aarch64__)
#include "arch_aarch64.h"
#else
#error "targets are built for x86-64 and aarch64"
#endif
