#include "src/symbols/perf_map.h"

#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/file_descriptor.h"
#include "src/support/text.h"
#include "src/symbols/location.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skid::symbols {

namespace {

/// Removes the next word from a line. Returns it as a hexadecimal number.
std::optional<std::uint64_t> take_number(std::string_view& line) {
  std::string_view digits = take_until(' ', line);
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  return whole_number<std::uint64_t>(digits, 16);
}

}  // namespace

PerfMap PerfMap::read(const std::filesystem::path& path, std::size_t most_symbols) {
  const auto refuse = [&](std::string found, std::string expected) {
    throw InputError({path.string(), std::nullopt, std::move(found), std::move(expected),
                      "the names of generated code are not known"});
  };
  const FileDescriptor file = open_regular_file(path, Links::refused);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) refuse("no owner", "root or the user");
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    refuse(fmt::format("owned by user {}", status.st_uid), "root or the user as owner");
  }
  if ((status.st_mode & S_IWOTH) != 0)
    refuse("writable by all users", "writable by its owner and group only");
  std::string text = read_to_end(file, kLargest, path.string());
  if (text.size() > kLargest) refuse("a larger file", fmt::format("at most {} bytes", kLargest));
  PerfMap map(std::move(text));
  if (map.size() > most_symbols) {
    refuse(fmt::format("{} symbols or more", map.size()),
           fmt::format("at most {} in the maps of all processes", kMostSymbols));
  }
  return map;
}

PerfMap::PerfMap(std::string text) : text_(std::make_unique<const std::string>(std::move(text))) {
  std::vector<AddressRange> ranges;
  for (std::string_view rest = *text_; !rest.empty() && symbols_.size() <= kMostSymbols;) {
    std::string_view line = take_until('\n', rest);
    const auto begin = take_number(line);
    const auto size = take_number(line);
    if (!begin || !size || *size == 0 || line.empty()) continue;
    if (*size > std::numeric_limits<std::uint64_t>::max() - *begin) continue;
    symbols_.push_back({{*begin, *begin + *size}, line});
    ranges.push_back(symbols_.back().range);
  }
  index_ = OverlapIndex(ranges);
}

std::optional<Function> PerfMap::function_at(std::uint64_t address) const {
  const auto number = index_.newest(address, symbols_.size());
  if (!number) return std::nullopt;
  const Symbol& symbol = symbols_[*number];
  return Function{std::string(symbol.name), symbol.range};
}

}  // namespace skid::symbols
