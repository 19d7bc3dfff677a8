#include "src/symbols/text_symbols.h"

#include "src/support/error.h"
#include "src/support/file.h"
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

/// One line of the file, its texts in the file's text.
struct KallsymsLine {
  std::uint64_t address = 0;
  char type = '?';
  std::string_view name;
  std::string_view module;  // without brackets; empty: the kernel itself
};

std::optional<KallsymsLine> parse_line(std::string_view line) {
  const auto address = whole_number<std::uint64_t>(take_until(' ', line), 16);
  const std::string_view type = take_until(' ', line);
  if (!address || type.size() != 1 || line.empty()) return std::nullopt;
  KallsymsLine parsed{*address, type[0], take_until('\t', line), {}};
  if (line.size() > 2 && line[0] == '[' && line.back() == ']') {
    parsed.module = line.substr(1, line.size() - 2);
  }
  return parsed;
}

bool is_code(char type) {
  return std::string_view("TtWw").find(type) != std::string_view::npos;
}

bool is_data(char type) {
  return std::string_view("DdBb").find(type) != std::string_view::npos;
}

/// The next word of a line as a hexadecimal number.
std::optional<std::uint64_t> take_number(std::string_view& line) {
  std::string_view digits = take_until(' ', line);
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  return whole_number<std::uint64_t>(digits, 16);
}

}  // namespace

Kallsyms Kallsyms::read(const std::filesystem::path& path) {
  return Kallsyms(read_file(path, kLargest));
}

Kallsyms::Kallsyms(std::string text) : text_(std::make_unique<const std::string>(std::move(text))) {
  struct Entry {
    Symbol symbol;
    std::vector<Symbol>* module;  // nodes of symbols_ stay where they are
  };
  std::vector<Entry> entries;
  auto module = symbols_.try_emplace(std::string()).first;
  for (std::string_view rest = *text_; !rest.empty();) {
    const auto line = parse_line(take_until('\n', rest));
    if (!line) continue;
    if (line->address != 0) hidden_ = false;
    if (!is_code(line->type) && !is_data(line->type)) continue;
    if (line->name.starts_with('$')) continue;  // the labels of assemblers in modules for Arm
    if (line->module != module->first) {
      module = symbols_.try_emplace(std::string(line->module)).first;
    }
    const AddressRange range{line->address, line->address};
    entries.push_back({{range, line->name, is_code(line->type)}, &module->second});
  }
  std::ranges::stable_sort(entries, {}, [](const Entry& one) { return one.symbol.range.begin; });

  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto& [symbol, neighbours] = entries[i];
    const bool last = i + 1 == entries.size() || entries[i + 1].module != neighbours;
    symbol.range.end =
        last ? end_of_last_symbol(symbol.range.begin) : entries[i + 1].symbol.range.begin;
    // Only the last of several symbols at one address has a length, and so it is the one to be
    // named.
    if (!neighbours->empty() && neighbours->back().range.begin == symbol.range.begin) {
      neighbours->pop_back();
    }
    neighbours->push_back(symbol);
  }
}

std::optional<std::uint64_t> Kallsyms::address_of(std::string_view name) const {
  for (std::string_view rest = *text_; !rest.empty();) {
    const auto line = parse_line(take_until('\n', rest));
    if (line && line->name == name && line->module.empty()) return line->address;
  }
  return std::nullopt;
}

std::optional<Function> Kallsyms::symbol_at(std::string_view module, std::uint64_t address) const {
  const auto found = symbols_.find(module);
  if (found == symbols_.end()) return std::nullopt;
  const auto& symbols = found->second;
  const auto after = std::ranges::upper_bound(
      symbols, address, {}, [](const Symbol& symbol) { return symbol.range.begin; });
  if (after == symbols.begin()) return std::nullopt;
  const Symbol& symbol = *(after - 1);
  if (!symbol.range.contains(address)) return std::nullopt;
  return Function{std::string(symbol.name), symbol.range};
}

std::optional<AddressRange> Kallsyms::code_of(std::string_view module) const {
  const auto found = symbols_.find(module);
  if (found == symbols_.end()) return std::nullopt;
  std::optional<AddressRange> code;
  for (const Symbol& symbol : found->second) {
    if (!symbol.code) continue;
    if (!code) code = AddressRange{symbol.range.begin, 0};
    code->end = symbol.range.begin + 1;
  }
  return code;
}

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
