// The command line of a target.
#pragma once

#include "runway.h"

struct arguments {
  u64 iterations;   // or 0
  u64 nanoseconds;  // used when there is no number of iterations
  int cpu_given;
  u64 cpu;
  const char *control, *acknowledge;  // FIFOs, or null
  int print_hypervisor;               // and do nothing else
};

// What the command line says and the target's parameters where it does not. Exits with status 64
// and a message for one that cannot be followed.
struct arguments arguments_from(char** argv);
