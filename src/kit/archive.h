// A kit as a tar.
#pragma once

#include "src/kit/kit.h"

#include <string>
#include <string_view>
#include <vector>

namespace skid::kit {

/// The files in one directory `top`, as a tar (ustar of POSIX.1-1988, which every tar reads). The
/// same files give the same bytes: they are of user 0 and from 1970. Throws Error.
std::string tar_of(const std::vector<File>& files, std::string_view top);

}  // namespace skid::kit
