#include "src/listing/source_text.h"

#include "src/support/error.h"
#include "src/support/file.h"

#include <algorithm>
#include <array>

namespace skid::listing {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& path, const fs::path& directory) {
  return std::mismatch(directory.begin(), directory.end(), path.begin(), path.end()).first ==
         directory.end();
}

}  // namespace

bool SourceText::may_be_shown(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return false;  // most programs' sources are not at hand
  if (!trusted_.empty() && is_below(real, fs::canonical(trusted_, error)) && !error) return true;
  constexpr std::array kOfTheKernel{"/proc", "/sys", "/dev"};
  const bool is_public =
      (fs::status(real, error).permissions() & fs::perms::others_read) != fs::perms::none;
  const bool is_shown =
      is_public && std::none_of(kOfTheKernel.begin(), kOfTheKernel.end(),
                                [&](const char* directory) { return is_below(real, directory); });
  if (!is_shown) withheld_.push_back(path);
  return is_shown;
}

const SourceText::File& SourceText::open(const std::string& path) {
  static const File none;
  const auto known = files_.find(path);
  if (known != files_.end()) return known->second;
  if (files_.size() >= kMostFiles) return none;
  File& file = files_[path];
  if (!may_be_shown(path)) return file;
  try {
    file.text = read_file(path, kLargest);
  } catch (const InputError&) {
    return file;
  }
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
