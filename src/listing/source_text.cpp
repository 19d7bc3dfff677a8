#include "src/listing/source_text.h"

#include "src/support/error.h"
#include "src/support/file.h"

namespace skid::listing {

const SourceText::File& SourceText::open(const std::string& path) {
  static const File none;
  const auto known = files_.find(path);
  if (known != files_.end()) return known->second;
  if (files_.size() >= kMostFiles) return none;
  File& file = files_[path];
  try {
    file.text = read_file(path, kLargest);
  } catch (const InputError&) {
    return file;  // most programs' sources are not at hand
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
  const File& opened = open(file);
  if (line < 1 || static_cast<std::size_t>(line) > opened.begins.size()) return std::nullopt;
  const std::size_t begin = opened.begins[static_cast<std::size_t>(line) - 1];
  std::size_t end = opened.text.find('\n', begin);
  if (end == std::string::npos) end = opened.text.size();
  if (end > begin && opened.text[end - 1] == '\r') --end;
  return std::string_view(opened.text).substr(begin, end - begin);
}

}  // namespace skid::listing
