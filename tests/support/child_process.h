// Programs that a test watches while they run.
#pragma once

#include "src/support/process.h"

#include <chrono>
#include <functional>

namespace skid::test {

/// Waits until `done` holds; false when the program ended or a minute passed before.
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
