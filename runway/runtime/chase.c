#include "chase.h"

// SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014).
static u64 next_random(u64* state) {
  u64 value = *state += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

// Of `number` values from 0 on, a bias far below 1 in 2^20 aside.
static u64 random_below(u64* state, u64 number) {
  return (u64)((unsigned __int128)next_random(state) * number >> 64);
}

struct chase {
  char* memory;
  u64 elements, stride;
  char* last;
};

static u64* element(const struct chase* chase, u64 index) {
  const int is_last = index == chase->elements - 1;
  return (u64*)(is_last ? chase->last : chase->memory + index * chase->stride);
}

void link_chase(char* memory, u64 elements, u64 stride, char* last) {
  const struct chase chase = {memory, elements, stride, last};
  for (u64 i = 0; i < elements; ++i) {
    u64* const word = element(&chase, i);
    *word = (u64)word;
  }
  // S. Sattolo, Information Processing Letters 22, 1986: swapping each with one before it, never
  // with itself, gives a permutation of one cycle, each as likely as any other.
  u64 state = 0;
  for (u64 i = elements - 1; i > 0; --i) {
    u64* const a = element(&chase, i);
    u64* const b = element(&chase, random_below(&state, i));
    const u64 successor = *a;
    *a = *b;
    *b = successor;
  }
}
