// The generated part of a target as C sees it: runway.s, written by runway/assembly.cpp.
#pragma once

typedef __UINT64_TYPE__ u64;
typedef __INT64_TYPE__ i64;

struct parameters {
  u64 iterations;          // default length in iterations, or 0
  u64 nanoseconds;         // and then this long
  const char* timed_nops;  // NOPs to time, with a return after them: the runway, if it is long
  u64 timed_count;         // how many
  u64 nop_bytes;           // bytes of one
  u64 given_back;          // bytes at skid_datum that each iteration gives back to the kernel, or 0
  u64 elements;            // of the pointer chase, of which skid_datum is the last, or 0
  u64 stride;              // bytes from one of them to the next
};

extern const struct parameters skid_parameters;
extern char skid_datum[];
extern const char skid_loop[];

// Does `iterations` of the loop, the first of them from `entry` on: an instruction of the loop.
// Entered after the trigger, one iteration is the rest of the runway and nothing else. The timed
// NOPs can be entered as well, for one iteration.
void skid_enter(u64 iterations, const void* entry);
