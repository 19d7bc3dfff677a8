// Trigger kinds by name, so that a new kind recompiles no test.
#pragma once

#include "runway/trigger.h"

#include <cstddef>

namespace skid {

/// "load-dram"_trigger
inline runway::TriggerKind operator""_trigger(const char* name, std::size_t length) {
  return runway::trigger_kind_from({name, length});
}

}  // namespace skid
