#include "src/support/temporary_directory.h"

#include "src/support/error.h"
#include "src/support/file.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace skid {

namespace {

namespace fs = std::filesystem;

}  // namespace

fs::path TemporaryDirectory::usual_parent() {
  std::error_code ignored;
  const fs::path parent = fs::temp_directory_path(ignored);
  return parent.empty() ? "/tmp" : parent;
}

fs::path TemporaryDirectory::roomy_parent() {
  const bool is_chosen = std::getenv("TMPDIR") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  const bool is_writable = ::access("/var/tmp", W_OK | X_OK) == 0;
  return is_chosen || !is_writable ? usual_parent() : "/var/tmp";
}

TemporaryDirectory::TemporaryDirectory(const fs::path& parent) {
  std::string name = (parent / "skidscan-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error("{}: cannot be created: {}; name a directory that can be written to in TMPDIR",
                name, describe_errno(errno));
  }
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

FileDescriptor unnamed_file(std::string& directory) {
  directory = TemporaryDirectory::roomy_parent();
  FileDescriptor file(::open(directory.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
  if (file) return file;  // not all file systems have such files
  const TemporaryDirectory temporary(directory);
  const auto path = temporary.path() / "unnamed";
  file = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) throw unwritable(path, errno);
  return file;
}

}  // namespace skid
