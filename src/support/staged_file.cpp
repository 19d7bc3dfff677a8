#include "src/support/staged_file.h"

#include "src/support/file.h"
#include "src/support/temporary_directory.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skid {

namespace {

namespace fs = std::filesystem;

/// Waits until the content is on the disk. File systems that cannot do that are trusted.
void synchronize(const FileDescriptor& file, const fs::path& path) {
  while (::fsync(file.get()) != 0) {
    if (errno == EINTR) continue;
    if (errno == EINVAL || errno == ENOSYS || errno == ENOTSUP) return;
    throw unwritable(path, errno);
  }
}

bool is_below_proc(const fs::path& path) {
  return path.string().starts_with("/proc/");
}

/// Returns the file that a symbolic link names, existing or not. Links below /proc are not
/// followed: they lead to a file that a process has open, whatever they name.
fs::path followed(fs::path path) {
  constexpr int kMostLinks = 40;  // MAXSYMLINKS, include/linux/namei.h
  std::error_code error;
  for (int i = 0; i < kMostLinks && !is_below_proc(path) && fs::is_symlink(path, error); ++i) {
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return path;
}

fs::path directory_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

/// Writes the rest of `file` at the position of `to`, which `name` names in errors.
constexpr const char* kDescriptors = "/proc/self/fd";

}  // namespace

StagedFile::StagedFile(fs::path path, unsigned mode) : path_(std::move(path)) {
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) throw unwritable(path_, errno);
  if (exists && S_ISDIR(status.st_mode)) throw unwritable(path_, EISDIR);
  final_ = followed(path_);
  if (exists && (!S_ISREG(status.st_mode) || is_below_proc(final_))) {
    // Appending: output that other programs wrote there is kept.
    device_ = FileDescriptor(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY));
    if (!device_) throw unwritable(path_, errno);
    std::string ignored;
    file_ = unnamed_file(ignored);
    return;
  }
  // Opened here, because mkstemp would not apply the umask. Not all file systems have files without
  // a name; linkat() needs /proc to name them.
  if (::access(kDescriptors, X_OK) == 0) {
    file_ =
        FileDescriptor(::open(directory_of(final_).c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, mode));
  }
  if (file_) return;
  temporary_ = temporary_name([&](const fs::path& name) {
    file_ = FileDescriptor(
        ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
    return static_cast<bool>(file_);
  });
}

/// Returns a free name in the directory of the file, under which `take` created a file.
template <typename Take>
fs::path StagedFile::temporary_name(const Take& take) const {
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    fs::path name = directory_of(final_) / fmt::format(".skidscan.{}.{}.tmp", ::getpid(), attempt);
    if (take(name)) return name;
    if (errno != EEXIST) break;
  }
  throw unwritable(path_, errno);
}

StagedFile::~StagedFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void StagedFile::complete() {
  if (device_) {
    copy_bytes(file_, 0, size_of(file_), device_, path_.string(), path_.string());
    return;
  }
  synchronize(file_, path_);
  const auto link = [this](const fs::path& name) {
    const std::string unnamed = fmt::format("{}/{}", kDescriptors, file_.get());
    return ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (!temporary_.empty() || !link(final_)) {
    if (temporary_.empty()) temporary_ = temporary_name(link);
    if (::rename(temporary_.c_str(), final_.c_str()) != 0) throw unwritable(path_, errno);
    temporary_.clear();
  }

  // The new name is on the disk once the directory is.
  const FileDescriptor handle(
      ::open(directory_of(final_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle) synchronize(handle, path_);
}

void write_file_atomically(const fs::path& path, std::string_view content, unsigned mode) {
  StagedFile staged(path, mode);
  write_all(staged.file(), content, path.string());
  staged.complete();
}

}  // namespace skid
