// Numbers to text and back, in integer arithmetic.
#pragma once

#include "runway.h"

// Text under construction; what does not fit is left out. Only `length` is to be set to begin with:
// an initializer would make compilers call memset, which a target does not have.
struct text {
  u64 length;
  char bytes[4096];
};

void append(struct text* text, const char* more);
void append_number(struct text* text, u64 number);
// 1234567 with 3 decimals is "1234.567".
void append_decimal(struct text* text, u64 scaled, unsigned decimals);

int same(const char* a, const char* b);

// The number that all of `word` is, with up to `decimals` decimals, times ten to the `decimals`:
// "1.5" with 3 is 1500. 0 when it is none or does not fit, which no option allows either.
u64 number_from(const char* word, unsigned decimals);
