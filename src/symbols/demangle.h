// Names of C++ and Rust functions as in their sources.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace skid::symbols {

/// libiberty's demangler, as perf uses it, with limits: a name of 400 bytes can expand to more than
/// any memory holds, or take years without any output.
class Demangler {
 public:
  /// The source name of a C++ or Rust (legacy or v0) symbol. nullopt if `symbol` is none or longer
  /// than 16 KiB, its name takes more than 64 KiB or 0.1 s of a CPU, all names before it took more
  /// than 1 s and 10 us each, or the system gives no timer. `parameters`: with
  /// the types of a C++ function's parameters, which perf prints only with -v.
  std::optional<std::string> name_of(const std::string& symbol, bool parameters = false);

 private:
  std::vector<char> output_;  // allocated before the time limit applies
  long nanoseconds_left_ = 1'000'000'000;
};

}  // namespace skid::symbols
