// A PATH of a test's own.
#pragma once

#include "tests/support/variable.h"

#include <filesystem>

namespace skid::test {

/// PATH, set to a single directory for as long as this lives.
class OnlyPath : public Variable {
 public:
  explicit OnlyPath(const std::filesystem::path& directory) : Variable("PATH", directory) {}
};

}  // namespace skid::test
