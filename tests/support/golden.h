// Texts that are compared with files beside the tests.
#pragma once

#include "tests/support/prelude.h"

#include <fstream>
#include <ios>
#include <iterator>
#include <string>

namespace skid::test {

/// A text that differs from tests/DIRECTORY/NAME is written to the temporary directory, to be
/// looked at and, when it is right, copied over.
inline void expect_golden(const std::string& name, const std::string& actual,
                          const std::string& directory = "golden") {
  const std::string path = directory + "/" + name;
  std::ifstream file(std::string(SKIDSCAN_TEST_DATA) + "/" + path, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  if (actual == expected) return;
  const std::string written = ::testing::TempDir() + name;
  std::ofstream(written, std::ios::binary) << actual;
  ADD_FAILURE() << "differs from tests/" << path << "; see " << written;
}

}  // namespace skid::test
