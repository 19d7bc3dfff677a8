// What a code address means to users: a function and a source line.
#pragma once

#include "src/support/address.h"

#include <compare>
#include <cstdint>
#include <string>

namespace skid::symbols {

/// A function from the symbol table. Its range is in link-time virtual addresses.
struct Function {
  std::string name;  ///< demangled, or as in the symbol table; "puts@plt" for a PLT entry
  AddressRange range;
};

/// Returns the end that perf gives the last symbol of a table, whose size is not known: one page
/// after the page boundary at or after its start.
inline std::uint64_t end_of_last_symbol(std::uint64_t begin) {
  constexpr std::uint64_t kPage = 4096;
  return AddressRange::of_size(begin, (kPage - begin % kPage) % kPage + kPage).end;
}

struct SourceLine {
  std::string file;
  int line = 0;

  friend auto operator<=>(const SourceLine&, const SourceLine&) = default;
};

}  // namespace skid::symbols
