// The pointer chase: words that each hold the address of another, in one cycle of random order.
#pragma once

#include "runway.h"

// Links all of `elements` words, at least 1, into one cycle: those at `memory` and each `stride`
// bytes behind, and `last`, which is the last of them. The same order each time. Nothing but the
// words is touched.
void link_chase(char* memory, u64 elements, u64 stride, char* last);
