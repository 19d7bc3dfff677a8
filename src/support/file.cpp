#include "src/support/file.h"

#include "src/support/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

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

/// Names the kind of a file that is not a regular file.
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

}  // namespace

Error unwritable(const std::string& name, int error_number, std::string_view remedy) {
  return Error("{}: cannot be written: {}{}{}", name, describe_errno(error_number),
               remedy.empty() ? "" : "; ", remedy);
}

FileDescriptor open_regular_file(const fs::path& path, Links links) {
  // The type is checked before the file is opened, because opening a device can have effects, and
  // again afterwards, because another file may have replaced it in between.
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

  // Read to the end instead of to the size: files of /proc and /sys report a size of 0, and a file
  // can grow while it is read.
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

void copy_bytes(const FileDescriptor& from, std::uint64_t offset, std::uint64_t size,
                const FileDescriptor& to, const std::string& source,
                const std::string& destination) {
  std::vector<char> buffer(std::size_t{1} << 20U);
  while (size > 0) {
    const std::span bytes(buffer.data(), std::min<std::uint64_t>(size, buffer.size()));
    if (read_at(from, std::as_writable_bytes(bytes), offset) < bytes.size()) {
      throw InputError({source, offset, "the end of the file, or an error of reading"});
    }
    write_all(to, {bytes.data(), bytes.size()}, destination);
    offset += bytes.size();
    size -= bytes.size();
  }
}

}  // namespace skid
