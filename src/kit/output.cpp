#include "src/kit/output.h"

#include "src/run/run.h"
#include "src/support/error.h"
#include "src/support/file.h"

#include <memory>
#include <system_error>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

namespace skid::kit {

namespace {

namespace fs = std::filesystem;
using Archive = std::unique_ptr<archive, decltype(&::archive_write_free)>;
using Entry = std::unique_ptr<archive_entry, decltype(&::archive_entry_free)>;

constexpr unsigned kExecutable = 0755;
constexpr unsigned kPlain = 0644;

void check(int result, archive* tar) {
  if (result == ARCHIVE_OK) return;
  const char* reason = ::archive_error_string(tar);
  throw Error(
      fmt::format("the tar cannot be written: {}", reason == nullptr ? "no reason given" : reason));
}

la_ssize_t append(archive* /*tar*/, void* bytes, const void* more, std::size_t length) {
  static_cast<std::string*>(bytes)->append(static_cast<const char*>(more), length);
  return static_cast<la_ssize_t>(length);
}

void add(archive* tar, const std::string& name, unsigned type, unsigned mode,
         std::string_view content) {
  const Entry entry(::archive_entry_new(), &::archive_entry_free);
  ::archive_entry_set_pathname(entry.get(), name.c_str());
  ::archive_entry_set_filetype(entry.get(), type);
  ::archive_entry_set_perm(entry.get(), mode);
  ::archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  ::archive_entry_set_mtime(entry.get(), 0, 0);
  ::archive_entry_set_uid(entry.get(), 0);
  ::archive_entry_set_gid(entry.get(), 0);
  check(::archive_write_header(tar, entry.get()), tar);
  if (content.empty()) return;
  const la_ssize_t written = ::archive_write_data(tar, content.data(), content.size());
  if (written != static_cast<la_ssize_t>(content.size())) check(ARCHIVE_FATAL, tar);
}

bool is_replaceable(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error) && fs::is_empty(path, error) && !error) return true;
  // submit.sh keeps runs in there.
  return is_kit(path) && !fs::exists(path / "results", error);
}

}  // namespace

std::string tar_of(const std::vector<File>& files, std::string_view top) {
  std::string bytes;
  const Archive tar(::archive_write_new(), &::archive_write_free);
  check(::archive_write_set_format_ustar(tar.get()), tar.get());
  check(::archive_write_open(tar.get(), &bytes, nullptr, &append, nullptr), tar.get());
  add(tar.get(), fmt::format("{}/", top), AE_IFDIR, kExecutable, {});
  for (const File& file : files) {
    add(tar.get(), fmt::format("{}/{}", top, file.name), AE_IFREG,
        file.executable ? kExecutable : kPlain, file.content);
  }
  check(::archive_write_close(tar.get()), tar.get());
  return bytes;
}

bool is_kit(const fs::path& path) {
  std::error_code ignored;
  return run::has_plan(path) && !run::is_run(path) &&
         fs::is_regular_file(path / kScriptName, ignored);
}

void write_directory(const std::vector<File>& files, const fs::path& path, bool force) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error))) {
    if (!force) {
      throw Error(fmt::format("{}: exists; replace it with --force, or name another with -o",
                              path.string()));
    }
    if (!is_replaceable(path)) {
      throw Error(fmt::format(
          "{}: exists and is not a kit without recordings; name another with -o", path.string()));
    }
    fs::remove_all(path, error);
  }
  if (!fs::create_directory(path, error)) {
    throw Error(
        fmt::format("{}: cannot be created: {}", path.string(), describe_errno(error.value())));
  }
  for (const File& file : files) {
    const fs::path name = path / file.name;
    write_file_atomically(name, file.content);
    fs::permissions(name, file.executable ? fs::perms{kExecutable} : fs::perms{kPlain}, error);
  }
}

}  // namespace skid::kit
