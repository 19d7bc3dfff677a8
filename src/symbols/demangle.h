// Source names of C++ and Rust symbols.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace skid::symbols {

/// libiberty's demangler, which perf uses, too, with limits: the result for a name of 400 bytes can
/// exceed any memory, or take years to compute.
class Demangler {
 public:
  /// Returns the source name of a C++ or Rust (legacy or v0) symbol. nullopt if `symbol` is not one
  /// or longer than 16 KiB, if its name takes more than 64 KiB or 0.1 s of a CPU, if the names
  /// before it took more than 1 s plus 10 us each, or if the system has no timer for it.
  /// `parameters`: append the types of a C++ function's parameters, which perf prints only with -v.
  std::optional<std::string> name_of(const std::string& symbol, bool parameters = false);

 private:
  std::vector<char> output_;  ///< allocated before the time limit applies
  long nanoseconds_left_ = 1'000'000'000;
};

}  // namespace skid::symbols
