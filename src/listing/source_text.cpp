#include "src/listing/source_text.h"

#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/file_descriptor.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

namespace skid::listing {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& path, const fs::path& directory) {
  return std::mismatch(directory.begin(), directory.end(), path.begin(), path.end()).first ==
         directory.end();
}

}  // namespace

SourceText::SourceText(const fs::path& trusted)
    : trusted_(trusted.empty() ? trusted : fs::canonical(trusted)) {}

bool SourceText::may_be_shown(const FileDescriptor& file) const {
  // The path of the open file, even if its name has been redirected since.
  std::error_code error;
  const fs::path place = fs::read_symlink(fmt::format("/proc/self/fd/{}", file.get()), error);
  struct stat status {};
  if (error || ::fstat(file.get(), &status) != 0) return false;
  if (!trusted_.empty() && is_below(place, trusted_)) return true;
  constexpr std::array kOfTheKernel{"/proc", "/sys", "/dev"};
  return (status.st_mode & S_IROTH) != 0 &&
         std::ranges::none_of(kOfTheKernel,
                              [&](const char* directory) { return is_below(place, directory); });
}

const SourceText::File& SourceText::open(const std::string& path) {
  static const File none;
  const auto known = files_.find(path);
  if (known != files_.end()) return known->second;
  if (files_.size() >= kMostFiles) return none;
  File& file = files_[path];
  try {
    const FileDescriptor opened = open_regular_file(path);
    if (!may_be_shown(opened)) {
      withheld_.push_back(path);
      return file;
    }
    file.text = read_to_end(opened, kLargest, path);
  } catch (const InputError&) {
    return file;  // the sources of most programs are elsewhere
  }
  if (file.text.size() > kLargest) file.text.clear();
  std::size_t begin = 0;
  while (begin < file.text.size()) {
    file.begins.push_back(begin);
    const auto end = file.text.find('\n', begin);
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return file;
}

std::optional<std::string_view> SourceText::line(const std::string& file, int line) {
  if (!file.starts_with('/')) return std::nullopt;
  const File& opened = open(file);
  if (line < 1 || static_cast<std::size_t>(line) > opened.begins.size()) return std::nullopt;
  const std::size_t begin = opened.begins[static_cast<std::size_t>(line) - 1];
  std::size_t end = opened.text.find('\n', begin);
  if (end == std::string::npos) end = opened.text.size();
  if (end > begin && opened.text[end - 1] == '\r') --end;
  return std::string_view(opened.text).substr(begin, end - begin);
}

}  // namespace skid::listing
