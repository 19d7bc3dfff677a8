// The signals that end a recording session.
#pragma once

#include "src/support/file_descriptor.h"

#include <csignal>

namespace skid::record {

/// Records SIGINT, SIGTERM and SIGHUP during its lifetime, so that they do not end the process.
/// Those that were ignored at the start stay ignored. The destructor restores the handlers and does
/// not deliver recorded signals.
class Interrupts {
 public:
  Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts();

  /// Returns true once for each signal that has come since the last call.
  bool take();
  /// Returns the first signal that was taken; 0: none.
  int first() const noexcept { return first_; }

 private:
  sigset_t watched_{};
  sigset_t mask_before_{};
  FileDescriptor signals_;
  int first_ = 0;
};

}  // namespace skid::record
