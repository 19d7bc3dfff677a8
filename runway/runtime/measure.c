#include "measure.h"

#include "arch.h"
#include "system.h"

enum {
  kMillisecond = 1000000,       // ns
  kWarmUp = 50 * kMillisecond,  // ns
  kBlocks = 201,
  kBlocksPerSecond = 10000,
};

struct instant {
  u64 ticks, nanoseconds;
};

// Both clocks at once. A reading that was interrupted shows by the ticks that it took, so the
// shortest of several counts.
static struct instant read_clocks(void) {
  struct instant best = {0, 0};
  u64 shortest = ~(u64)0;
  for (int i = 0; i < 8; ++i) {
    const u64 before = counter();
    const u64 nanoseconds = monotonic();
    const u64 took = counter() - before;
    if (took >= shortest) continue;
    shortest = took;
    best = (struct instant){before + took / 2, nanoseconds};
  }
  return best;
}

struct pace warm_up(void) {
  struct pace pace = {0, 1};
  const struct instant begin = read_clocks();
  for (;;) {
    const u64 batch_begin = monotonic();
    skid_enter(pace.iterations, skid_loop);
    const u64 now = monotonic();
    if (now - batch_begin < kMillisecond / 2) pace.iterations *= 2;
    if (now - begin.nanoseconds >= kWarmUp) break;
  }
  const struct instant end = read_clocks();
  // Some 50 ms of ticks: the product stays below 2^64 for counters of up to 300 GHz.
  pace.ticks_per_second =
      (end.ticks - begin.ticks) * 1000000000 / (end.nanoseconds - begin.nanoseconds);
  return pace;
}

static i64 smaller(i64 a, i64 b) {
  return a < b ? a : b;
}

// Ticks of `calls` passes over the timed NOPs from `entry` on.
static i64 ticks_of(u64 calls, const char* entry) {
  const u64 begin = counter();
  for (u64 i = 0; i < calls; ++i) {
    settle();
    skid_enter(1, entry);
  }
  return (i64)(counter() - begin);
}

// Passes over all the NOPs against passes over the last of them only, in blocks of the same number
// of passes: what both have in common (calls, the way back, reading the counter) cancels out. Each
// pass begins when the one before it is done, or NOPs would fit into the gaps of the branches and
// take no time. A block lasts 100 us, many ticks even of a counter of a few MHz. All that can
// disturb a block makes it longer, so the shortest of many of either kind are compared: neither
// interrupts nor a busy sibling thread count, unless they last all the time.
u64 nanoticks_per_nop(u64 ticks_per_second) {
  const u64 between = skid_parameters.timed_count - 1;
  const char* const first = skid_parameters.timed_nops;
  const char* const last = first + between * skid_parameters.nop_bytes;
  const i64 enough = (i64)(ticks_per_second / kBlocksPerSecond);
  u64 calls = 1;
  while (ticks_of(calls, first) < enough) calls *= 2;

  i64 whole = __INT64_MAX__, rest = __INT64_MAX__;
  for (int i = 0; i < kBlocks; ++i) {
    whole = smaller(whole, ticks_of(calls, first));
    rest = smaller(rest, ticks_of(calls, last));
  }
  return whole > rest ? (u64)(whole - rest) * 1000000000 / (calls * between) : 0;
}

u64 run_for(u64 nanoseconds, u64 batch) {
  const u64 begin = monotonic();
  u64 iterations = 0;
  for (u64 now = begin; now - begin < nanoseconds;) {
    const u64 batch_begin = now;
    skid_enter(batch, skid_loop);
    iterations += batch;
    now = monotonic();
    // Events that stop the loop, such as breakpoints, make it slower than it was while warming up.
    if (now - batch_begin > 2 * kMillisecond && batch > 1) batch /= 2;
    if (now - batch_begin < kMillisecond / 2) batch *= 2;
  }
  return iterations;
}
