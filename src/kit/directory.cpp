#include "src/kit/directory.h"

#include "src/kit/slurm.h"
#include "src/run/run.h"
#include "src/support/error.h"
#include "src/support/file.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skid::kit {

namespace {

namespace fs = std::filesystem;

/// A directory in the making, gone unless it gets its name.
class StagedDirectory {
 public:
  explicit StagedDirectory(const fs::path& final_path)
      : final_path_(final_path),
        path_(final_path.parent_path() /
              fmt::format(".{}.{}.new", final_path.filename().string(), ::getpid())) {
    if (::mkdir(path_.c_str(), 0777) != 0) refuse(errno);
  }
  StagedDirectory(const StagedDirectory&) = delete;
  StagedDirectory& operator=(const StagedDirectory&) = delete;
  StagedDirectory(StagedDirectory&&) = delete;
  StagedDirectory& operator=(StagedDirectory&&) = delete;
  ~StagedDirectory() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  const fs::path& path() const noexcept { return path_; }

  void rename() {
    if (::rename(path_.c_str(), final_path_.c_str()) != 0) refuse(errno);
    path_.clear();
  }

 private:
  [[noreturn]] void refuse(int error) const {
    throw Error(
        fmt::format("{}: cannot be created: {}", final_path_.string(), describe_errno(error)));
  }

  fs::path final_path_;
  fs::path path_;
};

fs::path without_slash(const fs::path& path) {
  fs::path absolute = fs::absolute(path).lexically_normal();
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

bool is_empty_directory(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) && fs::is_empty(path, error) && !error;
}

}  // namespace

bool is_kit(const fs::path& path) {
  std::error_code ignored;
  return run::has_plan(path) && !run::is_run(path) &&
         fs::is_regular_file(path / kScriptName, ignored);
}

void write_directory(const std::vector<File>& files, const fs::path& asked, bool force) {
  const fs::path path = without_slash(asked);
  std::error_code ignored;
  const bool taken = fs::exists(fs::symlink_status(path, ignored));
  if (taken && !force) {
    throw Error(fmt::format("{}: exists; replace it with --force, or name another with -o",
                            asked.string()));
  }
  if (taken && !is_kit(path) && !is_empty_directory(path)) {
    throw Error(fmt::format("{}: exists and is no kit; name another with -o", asked.string()));
  }
  if (taken && fs::exists(fs::symlink_status(path / kSlurmResults, ignored))) {
    throw Error(
        fmt::format("{}: has {} in it, which nothing brings back; move them elsewhere, or "
                    "name another with -o",
                    asked.string(), kSlurmResults));
  }
  StagedDirectory staged(path);
  for (const File& file : files) {
    const fs::path name = staged.path() / file.name;
    write_file_atomically(name, file.content);
    std::error_code error;
    fs::permissions(name, file.executable ? fs::perms{0755} : fs::perms{0644}, error);
    if (error) {
      throw Error(
          fmt::format("{}: cannot be written: {}", name.string(), describe_errno(error.value())));
    }
  }
  if (taken) fs::remove_all(path, ignored);
  staged.rename();
}

}  // namespace skid::kit
