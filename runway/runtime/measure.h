// Warming up, how long a NOP takes, and runs of a given time.
#pragma once

#include "runway.h"

struct pace {
  u64 ticks_per_second;  // of counter()
  u64 iterations;        // of the loop in about a millisecond
};

// Runs the loop until it is warm, and measures with that.
struct pace warm_up(void);

// 1e-9 ticks of counter() per NOP of the runway; 0 when it is too small to measure.
u64 nanoticks_per_nop(u64 ticks_per_second);

// Runs the loop for about this long, in batches of `batch` iterations at first. Returns how many
// iterations that were.
u64 run_for(u64 nanoseconds, u64 batch);
