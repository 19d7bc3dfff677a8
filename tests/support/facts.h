// What this machine has and permits. The program `facts` finds it out once for a run of the tests
// (find_facts.cpp) and writes it into a file, which all tests read.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace skid::test {

/// The reason of the first of these facts that does not hold here; empty if all hold. Facts are
/// listed in find_facts.cpp. Throws std::runtime_error for a name that is no fact, and where the
/// facts cannot be found out.
std::string why_without(std::initializer_list<std::string_view> facts);

}  // namespace skid::test

/// Skips a test, with the reason, unless all of these facts hold: SKIP_WITHOUT("samples", "cc").
#define SKIP_WITHOUT(...)                                                      \
  if (const std::string missing_fact = skid::test::why_without({__VA_ARGS__}); \
      !missing_fact.empty()) {                                                 \
    GTEST_SKIP() << missing_fact;                                              \
  }                                                                            \
  static_assert(true, "a semicolon follows")
