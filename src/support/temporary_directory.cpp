#include "src/support/temporary_directory.h"

#include "src/support/error.h"
#include "src/support/file.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace skid {

std::filesystem::path TemporaryDirectory::usual_parent() {
  std::error_code ignored;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(ignored);
  return parent.empty() ? "/tmp" : parent;
}

TemporaryDirectory::TemporaryDirectory(const std::filesystem::path& parent) {
  std::string name = (parent / "skidscan-XXXXXX").string();  // mkdtemp(3) replaces the X's
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error(
        fmt::format("{}: cannot be created: {}; name a directory that can be written to in TMPDIR",
                    name, describe_errno(errno)));
  }
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace skid
