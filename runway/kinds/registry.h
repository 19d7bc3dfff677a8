// The kinds of trigger: for KIND(NAME) the function NAME() in another file of this folder
// describes it. Help, docs/triggers.md and the tests keep this order; of several kinds that cause
// an event, the first is recorded. The first of all is the default. Only trigger.cpp includes this,
// so that a new kind recompiles nothing else.
#pragma once

#include "runway/kinds/kind.h"

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): a declaration and a call from one line
#define SKIDSCAN_TRIGGER_KINDS(KIND) \
  KIND(load)                         \
  KIND(load_l2)                      \
  KIND(load_l3)                      \
  KIND(load_dram)                    \
  KIND(xmm_load)                     \
  KIND(ymm_load)                     \
  KIND(zmm_load)                     \
  KIND(string_load)                  \
  KIND(nt_load)                      \
  KIND(store)                        \
  KIND(nt_store)                     \
  KIND(lock_rmw)                     \
  KIND(prefetch)                     \
  KIND(flush)                        \
  KIND(mfence)                       \
  KIND(cpuid)                        \
  KIND(div)                          \
  KIND(branch_taken)                 \
  KIND(branch_not_taken)             \
  KIND(branch_mispredict)            \
  KIND(call)                         \
  KIND(ret)                          \
  KIND(fault)                        \
  KIND(none)
