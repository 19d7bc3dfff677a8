#include "src/support/error.h"

namespace skid {

std::string describe(const InputFault& fault) {
  std::string text = fault.file + ": ";
  if (fault.offset) text += fmt::format("at offset {:#x}: ", *fault.offset);
  text += fault.found;
  if (!fault.expected.empty()) text += ", expected " + fault.expected;
  if (!fault.remedy.empty()) text += "; " + fault.remedy;
  return text;
}

InputError::InputError(InputFault fault) : Error(describe(fault)), fault_(std::move(fault)) {}

}  // namespace skid
