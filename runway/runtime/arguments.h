// The command line of a target.
#pragma once

#include "runway.h"

struct arguments {
  u64 iterations;   // or 0
  u64 nanoseconds;  // used when iterations is 0
  int cpu_given;
  u64 cpu;
  const char *control, *acknowledge;  // FIFOs, or null
};

// The arguments, with the target's parameters as defaults. Exits with status 64
// and a message for one that cannot be followed.
struct arguments arguments_from(char** argv);
