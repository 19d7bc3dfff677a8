// The pointer chase: words that each hold the address of another, in one cycle of random order.
#pragma once

#include "runway.h"

// Links `elements` words, at least 1, into one cycle: those at `memory` and every `stride` bytes
// after it, and `last`, which is the last of them. The order is the same each time. Only these
// words are accessed.
void link_chase(char* memory, u64 elements, u64 stride, char* last);
