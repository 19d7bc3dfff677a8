// Source names of C++ and Rust symbols.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skid::symbols {

/// The names of functions: as in the symbol table, or of C++ and Rust as in the source, without or
/// with the types of parameters.
enum class NameStyle : std::uint8_t { symbols, names, signatures };

/// libiberty's demangler, which perf uses, too, with limits: the result for a name of 400 bytes can
/// exceed any memory, or take years to compute.
class Demangler {
 public:
  /// Returns the source name of a C++ or Rust (legacy or v0) symbol. nullopt if `symbol` is not one
  /// or longer than 16 KiB, if its name takes more than 64 KiB or 0.1 s of a CPU, if the names
  /// before it took more than 1 s plus 10 us each, or if the system has no timer for it.
  /// `parameters`: with the types of a C++ function's parameters and the result type of a template,
  /// as abi::__cxa_demangle() prints them, which perf calls since Linux 6.4.
  std::optional<std::string> name_of(const std::string& symbol, bool parameters = false);

 private:
  std::vector<char> output_;  ///< allocated before the time limit applies
  long nanoseconds_left_ = 1'000'000'000;
};

}  // namespace skid::symbols
