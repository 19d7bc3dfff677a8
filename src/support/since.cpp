#include "src/support/since.h"

#include "src/support/text.h"

#include <optional>

namespace skid {

Since version_of(std::string_view release) {
  const auto major = whole_number<int>(take_until('.', release));
  const auto minor = whole_number<int>(release.substr(0, release.find_first_not_of("0123456789")));
  return major && minor ? Since{*major, *minor} : Since{};
}

}  // namespace skid
