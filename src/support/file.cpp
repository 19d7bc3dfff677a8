#include "src/support/file.h"

#include "src/support/error.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skid {

namespace {

namespace fs = std::filesystem;

InputError unreadable(const fs::path& path, std::string found, std::string allowed = {},
                      std::string remedy = {}) {
  return InputError(
      {path.string(), std::nullopt, std::move(found), std::move(allowed), std::move(remedy)});
}

/// The kind of file that a path names instead of a regular file.
std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISLNK(mode)) return "a symbolic link";
  return "a device";
}

void require_regular(const fs::path& path, mode_t mode) {
  if (!S_ISREG(mode)) throw unreadable(path, kind_of(mode), "a regular file");
}

Error unwritable(const std::string& name, int error_number, std::string_view remedy = {}) {
  return Error("{}: cannot be written: {}{}{}", name, describe_errno(error_number),
               remedy.empty() ? "" : "; ", remedy);
}

/// Waits until the content is on the disk; file systems without that are trusted.
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

/// The file that a symbolic link names, existing or not. Links below /proc lead to what a process
/// has open, whatever they name.
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
void copy_to_end(const FileDescriptor& file, const FileDescriptor& to, const std::string& name) {
  std::string bytes(std::size_t{1} << 20, '\0');
  for (;;) {
    const ssize_t count = ::read(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw unwritable(name, errno);
    if (count == 0) return;
    write_all(to, std::string_view(bytes).substr(0, static_cast<std::size_t>(count)), name);
  }
}

constexpr const char* kDescriptors = "/proc/self/fd";

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

int FileDescriptor::release() noexcept {
  return std::exchange(fd_, -1);
}

std::string describe_errno(int error_number) {
  std::string text = std::generic_category().message(error_number);
  const bool acronym = text.size() > 1 && std::isupper(static_cast<unsigned char>(text[1])) != 0;
  if (!text.empty() && !acronym) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

FileDescriptor open_regular_file(const fs::path& path, Links links) {
  // Looked at before it is opened because opening a device can have effects, and again afterwards
  // because something else may have taken the name in between.
  struct stat status {};
  const bool follows = links == Links::followed;
  if ((follows ? ::stat : ::lstat)(path.c_str(), &status) != 0) {
    throw unreadable(path, describe_errno(errno));
  }
  require_regular(path, status.st_mode);

  int fd = -1;
  do {
    fd = ::open(path.c_str(),
                O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follows ? 0 : O_NOFOLLOW));
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) throw unreadable(path, describe_errno(errno));
  FileDescriptor file(fd);
  if (::fstat(file.get(), &status) != 0) throw unreadable(path, describe_errno(errno));
  require_regular(path, status.st_mode);
  return file;
}

std::string read_file(const fs::path& path, std::uint64_t limit) {
  const FileDescriptor file = open_regular_file(path);
  const auto too_large = [&](std::string_view quantity) {
    return unreadable(path, fmt::format("a file of {} bytes", quantity),
                      fmt::format("at most {}", limit));
  };
  const std::uint64_t size = size_of(file);
  if (size > limit) throw too_large(std::to_string(size));

  // Read to the end instead of to the size: files of /proc and /sys call themselves empty, and a
  // file can grow while it is read.
  std::string content = read_to_end(file, limit, path.string());
  if (content.size() > limit) throw too_large(fmt::format("more than {}", limit));
  return content;
}

std::string peek(const FileDescriptor& file, std::size_t count) {
  std::string bytes(count, '\0');
  const auto kept = [&bytes](ssize_t size) {
    bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return bytes;
  };
  const off_t position = ::lseek(file.get(), 0, SEEK_CUR);
  if (position >= 0) return kept(::pread(file.get(), bytes.data(), bytes.size(), position));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return kept(0);
  const FileDescriptor copy(ends[0]), into(ends[1]);
  ssize_t copied = 0;
  do {
    copied = ::tee(file.get(), into.get(), count, 0);
  } while (copied < 0 && errno == EINTR);
  if (copied <= 0) return kept(0);
  return kept(::read(copy.get(), bytes.data(), bytes.size()));
}

std::size_t read_at(const FileDescriptor& file, std::span<std::byte> bytes, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::pread(file.get(), bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::uint64_t size_of(const FileDescriptor& file) {
  struct stat status {};
  return ::fstat(file.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::uint64_t size_without_holes(const FileDescriptor& file) {
  off_t size = 0;
  off_t end = 0;
  for (;;) {
    const off_t begin = ::lseek(file.get(), end, SEEK_DATA);
    if (begin < 0 && errno != ENXIO) size = ::lseek(file.get(), 0, SEEK_END);
    end = begin < 0 ? begin : ::lseek(file.get(), begin, SEEK_HOLE);
    if (end <= begin) return static_cast<std::uint64_t>(std::max(size, off_t{0}));
    size += end - begin;
  }
}

void write_all(const FileDescriptor& file, std::string_view content, const std::string& name,
               std::string_view remedy) {
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw unwritable(name, errno, remedy);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string read_to_end(const FileDescriptor& file, std::uint64_t limit, const std::string& name) {
  constexpr std::size_t kChunk = std::size_t{64} << 10;
  std::string text;
  while (text.size() <= limit) {
    const std::size_t filled = text.size();
    text.resize(filled + kChunk);
    const ssize_t count = ::read(file.get(), text.data() + filled, kChunk);
    text.resize(filled + static_cast<std::size_t>(count > 0 ? count : 0));
    if (count < 0 && errno != EINTR) {
      throw InputError({.file = name, .offset = filled, .found = describe_errno(errno)});
    }
    if (count == 0) break;
  }
  return text;
}

FileDescriptor duplicate(int file, const std::string& name) {
  FileDescriptor copy(::fcntl(file, F_DUPFD_CLOEXEC, 0));
  if (!copy) throw unwritable(name, errno);
  return copy;
}

fs::path TemporaryDirectory::usual_parent() {
  std::error_code ignored;
  const fs::path parent = fs::temp_directory_path(ignored);
  return parent.empty() ? "/tmp" : parent;
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
  const bool is_chosen = std::getenv("TMPDIR") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  const bool is_writable = ::access("/var/tmp", W_OK | X_OK) == 0;
  directory = is_chosen || !is_writable ? TemporaryDirectory::usual_parent().string() : "/var/tmp";
  FileDescriptor file(::open(directory.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
  if (file) return file;  // not all file systems can
  const TemporaryDirectory temporary(directory);
  const auto path = temporary.path() / "unnamed";
  file = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) throw unwritable(path, errno);
  return file;
}

StagedFile::StagedFile(fs::path path, unsigned mode) : path_(std::move(path)) {
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) throw unwritable(path_, errno);
  if (exists && S_ISDIR(status.st_mode)) throw unwritable(path_, EISDIR);
  final_ = followed(path_);
  if (exists && (!S_ISREG(status.st_mode) || is_below_proc(final_))) {
    // Appending: what others wrote to their standard output stays.
    device_ = FileDescriptor(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY));
    if (!device_) throw unwritable(path_, errno);
    std::string ignored;
    file_ = unnamed_file(ignored);
    return;
  }
  // The mode is left to the umask, which mkstemp would not do. Not all file systems have files
  // without a name, which are named by way of /proc.
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

/// A free name beside the file that `take` could create.
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
    if (::lseek(file_.get(), 0, SEEK_SET) < 0) throw unwritable(path_, errno);
    copy_to_end(file_, device_, path_.string());
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
