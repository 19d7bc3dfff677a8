// A PATH of a test's own.
#pragma once

#include "tests/support/standard.h"

namespace skid::test {

/// PATH, set to a single directory for as long as this lives.
class OnlyPath {
 public:
  explicit OnlyPath(const std::filesystem::path& directory) : before_(std::getenv("PATH")) {
    ::setenv("PATH", directory.c_str(), 1);
  }
  OnlyPath(const OnlyPath&) = delete;
  OnlyPath& operator=(const OnlyPath&) = delete;
  ~OnlyPath() { ::setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

}  // namespace skid::test
