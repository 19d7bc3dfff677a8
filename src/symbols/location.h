// What a code address means to people: a function and a source line.
#pragma once

#include "src/support/address.h"

#include <string>

namespace skid::symbols {

/// A function from the symbol table: [begin, end) in link-time virtual addresses.
struct Function {
  std::string name;  ///< demangled, or as in the symbol table; "puts@plt" for a PLT entry
  AddressRange range;
};

struct SourceLine {
  std::string file;
  int line = 0;
};

}  // namespace skid::symbols
