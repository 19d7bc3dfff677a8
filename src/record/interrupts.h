// Polling for Ctrl-C and similar signals.
#pragma once

#include "src/support/file.h"

#include <csignal>

namespace skid::record {

/// During its lifetime SIGINT, SIGTERM and SIGHUP do not end this process but are recorded; those
/// that were ignored at the start stay ignored. The destructor restores the handlers and does not
/// deliver recorded signals.
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
