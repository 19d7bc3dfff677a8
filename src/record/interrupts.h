// Ctrl-C and its kin, turned into a question that can be asked.
#pragma once

#include "src/support/file.h"

#include <csignal>

namespace skid::record {

/// While it lives SIGINT, SIGTERM and SIGHUP do not end this process but are remembered; those that
/// our parent told us to ignore stay ignored. Afterwards everything is as before, and signals that
/// were remembered do not arrive late.
class Interrupts {
 public:
  Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  Interrupts(Interrupts&&) = delete;
  Interrupts& operator=(Interrupts&&) = delete;
  ~Interrupts();

  /// True once for each time that one has come since the last call.
  bool take();

 private:
  sigset_t watched_{};
  sigset_t mask_before_{};
  FileDescriptor signals_;
};

}  // namespace skid::record
