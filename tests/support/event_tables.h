// Catalogues of CPUs that are not here, and whether libpfm4 supports those of the tests of events.
#pragma once

#include "src/events/catalogue.h"
#include "tests/support/prelude.h"

#if !defined(__x86_64__)
#define SKIP_WITHOUT_X86_TABLES() GTEST_SKIP() << "libpfm4 has the tables of its own architecture"
#else
#define SKIP_WITHOUT_X86_TABLES() static_cast<void>(0)
#endif

namespace skid::test {

/// The events of a CPU by a name that --cpu takes. Throws UsageError for others.
inline events::Catalogue catalogue_of(const std::string& cpu) {
  return events::open_catalogue({.cpu = cpu, .perfmon = {}}, machine::Machine());
}

/// A CPU of Intel's family 6.
inline machine::CpuIdentity intel_cpu(int model, std::optional<int> stepping = {}) {
  return {.arch = "x86_64",
          .vendor = "GenuineIntel",
          .family = 6,
          .model = model,
          .stepping = stepping};
}

}  // namespace skid::test
