#include "src/support/file.h"

#include "src/support/error.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
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
  return InputError({.file = path.string(),
                     .offset = {},
                     .found = std::move(found),
                     .expected = std::move(allowed),
                     .remedy = std::move(remedy)});
}

/// What a path that must name a regular file names instead.
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
  return Error(fmt::format("{}: cannot be written: {}{}{}", name, describe_errno(error_number),
                           remedy.empty() ? "" : "; ", remedy));
}

/// Waits until the content is on the disk; file systems without that are trusted.
void synchronize(const FileDescriptor& file, const fs::path& path) {
  while (::fsync(file.get()) != 0) {
    if (errno == EINTR) continue;
    if (errno == EINVAL || errno == ENOSYS || errno == ENOTSUP) return;
    throw unwritable(path, errno);
  }
}

/// A file under a temporary name in a directory, removed unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& final_path) : final_path_(final_path) {
    constexpr int kAttempts = 100;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      path_ = final_path.parent_path() /
              fmt::format(".{}.{}.{}.tmp", final_path.filename().string(), ::getpid(), attempt);
      // Mode 0666 leaves the permissions to the umask, which mkstemp would not.
      file_ = FileDescriptor(
          ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
      if (file_) return;
      if (errno != EEXIST) break;
    }
    throw unwritable(final_path, errno);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  TemporaryFile(TemporaryFile&&) = delete;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile() {
    if (!renamed_) ::unlink(path_.c_str());
  }

  const FileDescriptor& file() const noexcept { return file_; }

  void rename() {
    if (::rename(path_.c_str(), final_path_.c_str()) != 0) throw unwritable(final_path_, errno);
    renamed_ = true;
  }

 private:
  fs::path final_path_;
  fs::path path_;
  FileDescriptor file_;
  bool renamed_ = false;
};

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
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw unreadable(path, describe_errno(errno));
  const auto too_large = [&](std::string_view quantity) {
    return unreadable(path, fmt::format("a file of {} bytes", quantity),
                      fmt::format("at most {}", limit));
  };
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > limit) throw too_large(std::to_string(size));

  // Read to the end instead of to the size: files of /proc and /sys call themselves empty, and a
  // file can grow while it is read.
  constexpr std::size_t kChunk = 65'536;
  std::string content;
  std::size_t filled = 0;
  for (;;) {
    const std::size_t room = filled == 0 ? static_cast<std::size_t>(size) + 1 : kChunk;
    if (content.size() == filled) content.resize(filled + std::max(room, std::size_t{4096}));
    const ssize_t count = ::read(file.get(), content.data() + filled, content.size() - filled);
    if (count < 0) {
      if (errno == EINTR) continue;
      throw unreadable(path, describe_errno(errno));
    }
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
    if (filled > limit) throw too_large(fmt::format("more than {}", limit));
  }
  content.resize(filled);
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
      throw InputError({.file = name,
                        .offset = filled,
                        .found = describe_errno(errno),
                        .expected = {},
                        .remedy = {}});
    }
    if (count == 0) break;
  }
  return text;
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) throw unwritable(path, EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!file) throw unwritable(path, errno);
    write_all(file, content, path.string());
    return;
  }
  const fs::path resolved = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path) : path;

  TemporaryFile temporary(resolved);
  write_all(temporary.file(), content, path.string());
  synchronize(temporary.file(), path);
  temporary.rename();

  // The new name is on the disk once the directory is.
  const fs::path directory = resolved.parent_path().empty() ? "." : resolved.parent_path();
  const FileDescriptor handle(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle) synchronize(handle, path);
}

}  // namespace skid
