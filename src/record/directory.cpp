#include "src/record/directory.h"

#include "src/run/run.h"
#include "src/support/error.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <optional>
#include <ratio>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace skid::record {
namespace {

namespace fs = std::filesystem;

/// An old run that took longer to record is never removed.
constexpr std::chrono::seconds kSoonRecorded = std::chrono::minutes(1);

/// Absolute and without a slash at its end, so that it has a file name and a parent.
fs::path normalized(const fs::path& path) {
  fs::path absolute = fs::absolute(path).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  if (!absolute.has_filename())
    throw ValueError("{}: is not the name of a new directory", path.string());
  return absolute;
}

bool is_taken(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

bool is_empty_directory(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) && fs::is_empty(path, error) && !error;
}

fs::path old_name(const fs::path& path) {
  return path.parent_path() / (path.filename().string() + ".old");
}

/// The name that the old run has until a new one is kept.
fs::path aside_name(const fs::path& path) {
  return path.parent_path() / (path.filename().string() + ".replaced");
}

bool has_recording(const fs::path& path) {
  std::error_code none;
  return std::any_of(fs::directory_iterator(path, none), fs::directory_iterator(),
                     [](const auto& entry) { return entry.path().extension() == ".data"; });
}

/// Locks a directory for as long as the descriptor lives. File systems without locks are trusted.
FileDescriptor lock(const fs::path& directory) {
  FileDescriptor handle(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle && ::flock(handle.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw Error(
        "{}: another skidscan is recording into it; wait for its end, or name another directory",
        directory.string());
  }
  return handle;
}

/// A run or nothing at all may be displaced; other files are not ours.
bool is_displaceable(const fs::path& path) {
  return run::is_run(path) || is_empty_directory(path);
}

void check_displaceable(const fs::path& path, const std::string& remedy) {
  if (!is_displaceable(path)) throw Error("{}: exists and is not a run; {}", path.string(), remedy);
}

void rename_directory(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    throw Error("{}: cannot be renamed to {}: {}", from.string(), to.string(),
                describe_errno(errno));
  }
}

void remove_directory(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) throw Error("{}: cannot be removed: {}", path.string(), describe_errno(error.value()));
}

/// Ends what a killed skidscan left: without a recording, the run that it set aside is back.
void restore_replaced(const fs::path& path) {
  const fs::path aside = aside_name(path);
  if (!is_displaceable(aside)) return;
  const FileDescriptor begun = lock(path), replaced = lock(aside);
  if (has_recording(path) || (is_taken(path) && !is_displaceable(path))) {
    throw Error("{}: exists, a run that was set aside for {}; move it away", aside.string(),
                path.string());
  }
  remove_directory(path);
  rename_directory(aside, path);
}

/// Returns the time that perf took for the measurements of a run, without those during which the
/// clock was set back; the longest where a time is missing, or where a run that has recordings
/// cannot be read.
std::chrono::seconds time_recorded(const fs::path& path) {
  using std::chrono::seconds;
  const auto time_of = [](const std::string& utc) {
    std::tm time{};
    return ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &time) == nullptr
               ? std::nullopt
               : std::optional(seconds(::timegm(&time)));
  };
  seconds sum{};
  try {
    for (const auto& measurement : run::read_run(path).measurements) {
      if (measurement.state != run::State::finished) continue;
      const auto started = time_of(measurement.started), ended = time_of(measurement.ended);
      if (!started || !ended) return seconds::max();
      sum += std::max(seconds(0), *ended - *started);
    }
  } catch (const InputError&) {
    if (has_recording(path)) return seconds::max();
  }
  return sum;
}

/// Makes room for a run that becomes `old`. Returns what was done with the run of that name.
std::string displace_old(const fs::path& old) {
  if (!is_taken(old)) return {};
  const std::string name = old.filename().string();
  if (time_recorded(old) <= kSoonRecorded) {
    remove_directory(old);
    return fmt::format("; the previous {} was removed", name);
  }
  int number = 1;
  while (is_taken(fmt::format("{}.{}", old.string(), number))) ++number;
  rename_directory(old, fmt::format("{}.{}", old.string(), number));
  return fmt::format("; the previous {0} is now {0}.{1}", name, number);
}

}  // namespace

void check_run_directory(const fs::path& asked, Displace displace, std::string_view remedy) {
  const fs::path path = normalized(asked);
  restore_replaced(path);
  if (!is_taken(path)) return;
  if (displace == Displace::refuse) {
    throw Error("{}: exists; {}", asked.string(), remedy);
  }
  check_displaceable(path, "name another directory");
  lock(path);
  if (displace == Displace::rotate && is_taken(old_name(path))) {
    check_displaceable(old_name(path), "move it away, or name another directory");
  }
}

fs::path replaced_run(const fs::path& path) {
  const fs::path aside = aside_name(normalized(path));
  return run::is_run(aside) ? aside : fs::path();
}

RunDirectory RunDirectory::create(const fs::path& asked, Displace displace,
                                  std::string_view remedy) {
  check_run_directory(asked, displace, remedy);
  RunDirectory directory(normalized(asked), displace, true);  // until there is one of ours
  const fs::path& path = directory.path_;
  if (is_taken(path)) {
    directory.old_lock_ = lock(path);
    rename_directory(path, aside_name(path));
    directory.set_aside_ = aside_name(path);
  }
  if (::mkdir(path.c_str(), 0777) != 0) {
    const int error = errno;
    if (!directory.set_aside_.empty()) rename_directory(directory.set_aside_, path);
    throw Error("{}: cannot be created: {}", asked.string(), describe_errno(error));
  }
  directory.lock_ = lock(path);
  directory.kept_ = false;
  // Shows whose directory it is, until the run can be described.
  const FileDescriptor mark(
      ::open((path / run::kFileName).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  return directory;
}

RunDirectory RunDirectory::resume(const fs::path& asked) {
  RunDirectory directory(normalized(asked), Displace::refuse, true);
  directory.lock_ = lock(directory.path_);
  return directory;
}

RunDirectory::RunDirectory(RunDirectory&& other) noexcept
    : path_(std::move(other.path_)),
      set_aside_(std::move(other.set_aside_)),
      displace_(other.displace_),
      kept_(std::exchange(other.kept_, true)),
      lock_(std::move(other.lock_)),
      old_lock_(std::move(other.old_lock_)) {}

RunDirectory::~RunDirectory() {
  if (kept_) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (!set_aside_.empty()) fs::rename(set_aside_, path_, ignored);
}

std::string RunDirectory::keep() {
  if (std::exchange(kept_, true) || set_aside_.empty()) return {};
  if (displace_ == Displace::replace) {
    remove_directory(set_aside_);
    return {};
  }
  const fs::path old = old_name(path_);
  const std::string displaced = displace_old(old);
  rename_directory(set_aside_, old);
  return fmt::format("{} is now {}{}", path_.filename().string(), old.filename().string(),
                     displaced);
}

}  // namespace skid::record
