#include "src/support/error.h"

#include <cctype>
#include <system_error>

namespace skid {

std::string describe(const InputFault& fault) {
  std::string text = fault.file.empty() ? "" : fault.file + ": ";
  if (fault.offset) text += fmt::format("at offset {:#x}: ", *fault.offset);
  text += fault.found;
  if (!fault.expected.empty()) text += ", expected " + fault.expected;
  if (!fault.remedy.empty()) text += "; " + fault.remedy;
  return text;
}

std::string describe_errno(int error_number) {
  std::string text = std::generic_category().message(error_number);
  const bool acronym = text.size() > 1 && std::isupper(static_cast<unsigned char>(text[1])) != 0;
  if (!text.empty() && !acronym) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

InputError::InputError(InputFault fault) : Error(describe(fault)), fault_(std::move(fault)) {}

}  // namespace skid
