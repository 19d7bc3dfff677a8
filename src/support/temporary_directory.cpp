#include "src/support/temporary_directory.h"

#include "src/support/error.h"
#include "src/support/file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace skid {

namespace {

namespace fs = std::filesystem;

/// The path of a directory that a signal removes. Its memory is never freed, because a handler may
/// read it at any time.
struct Registered {
  std::atomic<bool> is_taken = false, is_valid = false;
  std::array<char, 256> path{};
};
std::array<Registered, 32> registered;
constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

/// Removes the files of a directory, and it. Calls only functions that are async-signal-safe
/// (signal-safety(7)) or system calls: readdir() allocates.
void remove_at_signal(const char* path) {
  struct Entry {  // linux_dirent64, getdents64(2)
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t size;
    std::uint8_t type;
    char name[1];
  };
  constexpr int kMostPasses = 8;  // another thread may still write files
  for (int pass = 0; pass < kMostPasses && ::rmdir(path) != 0 && errno == ENOTEMPTY; ++pass) {
    const int directory = ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0) return;
    alignas(Entry) std::array<char, 4096> entries;
    long bytes = 0;
    while ((bytes = ::syscall(SYS_getdents64, directory, entries.data(), entries.size())) > 0) {
      for (long at = 0; at < bytes;) {
        const auto* const entry = reinterpret_cast<const Entry*>(entries.data() + at);
        ::unlinkat(directory, entry->name, 0);  // "." and ".." are refused
        at += entry->size;
      }
    }
    ::close(directory);
  }
}

void remove_all_and_end(int signal) {
  for (const Registered& one : registered) {
    if (one.is_valid) remove_at_signal(one.path.data());
  }
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

/// Handles the signals that would end the process.
void handle_signals() {
  for (const int signal : kSignals) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = remove_all_and_end;
    action.sa_flags = 0;
    ::sigaction(signal, &action, nullptr);
  }
}

void register_path(const std::string& path) {
  static const bool is_handled = (handle_signals(), true);
  static_cast<void>(is_handled);
  for (Registered& one : registered) {
    if (path.size() >= one.path.size() || one.is_taken.exchange(true)) continue;
    one.path.fill('\0');
    std::ranges::copy(path, one.path.begin());
    one.is_valid = true;
    return;
  }
}

void unregister_path(const std::string& path) {
  for (Registered& one : registered) {
    if (!one.is_valid || path != one.path.data()) continue;
    one.is_valid = false;
    one.is_taken = false;
  }
}

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
  register_path(path_.string());
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  unregister_path(path_.string());
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
