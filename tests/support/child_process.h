// Programs that a test observes while they run.
#pragma once

#include "src/support/process.h"

#include <chrono>
#include <functional>

namespace skid::test {

/// Waits until `done()`; false if the program ends or a minute passes before.
inline bool wait_until(ChildProcess& child, const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::chrono::steady_clock::now() < deadline) {
    if (done()) return true;
    if (child.wait(std::chrono::milliseconds(5))) return false;
  }
  return false;
}

inline void finish(ChildProcess& child) {
  while (!child.wait(std::chrono::seconds(10))) {
  }
}

}  // namespace skid::test
