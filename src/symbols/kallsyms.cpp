#include "src/symbols/kallsyms.h"

#include "src/support/file.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace skid::symbols {

/// One line of the file, its texts in the file's text.
struct Kallsyms::Line {
  std::uint64_t address = 0;
  char type = '?';
  std::string_view name;
  std::string_view module;  // without brackets; empty: the kernel itself
};

namespace {

bool is_code(char type) {
  return std::string_view("TtWw").find(type) != std::string_view::npos;
}

bool is_data(char type) {
  return std::string_view("DdBb").find(type) != std::string_view::npos;
}

/// As perf ends the last symbol of the kernel and of each module: at the page boundary at or after
/// its begin, and one page more.
std::uint64_t end_of_last(std::uint64_t begin) {
  constexpr std::uint64_t kPage = 4096;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t size = (kPage - begin % kPage) % kPage + kPage;
  return begin + std::min(size, kMost - begin);
}

}  // namespace

Kallsyms Kallsyms::read(const std::filesystem::path& path) {
  return Kallsyms(read_file(path, kLargest));
}

std::optional<Kallsyms::Line> Kallsyms::parse_line(std::string_view line) {
  Line parsed;
  const auto [end, error] =
      std::from_chars(line.data(), line.data() + line.size(), parsed.address, 16);
  if (error != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  if (line.size() < 4 || line[0] != ' ' || line[2] != ' ') return std::nullopt;
  parsed.type = line[1];
  line.remove_prefix(3);
  const std::size_t name_end = std::min(line.find('\t'), line.size());
  parsed.name = line.substr(0, name_end);
  line.remove_prefix(name_end);
  if (line.size() > 3 && line[1] == '[' && line.back() == ']') {
    parsed.module = line.substr(2, line.size() - 3);
  }
  return parsed;
}

Kallsyms::Kallsyms(std::string text) : text_(std::move(text)) {
  const std::string_view whole = text_;
  const auto place_of = [&](std::string_view part) {
    return Text{static_cast<std::size_t>(part.data() - whole.data()), part.size()};
  };
  struct Entry {
    Symbol symbol;
    std::vector<Symbol>* module;  // nodes of symbols_ stay where they are
  };
  std::vector<Entry> entries;
  auto module = symbols_.try_emplace(std::string()).first;
  for (std::size_t begin = 0; begin < whole.size();) {
    const std::size_t end = std::min(whole.find('\n', begin), whole.size());
    const auto line = parse_line(whole.substr(begin, end - begin));
    begin = end + 1;
    if (!line) continue;
    if (line->address != 0) hidden_ = false;
    if (!is_code(line->type) && !is_data(line->type)) continue;
    if (line->name.starts_with('$')) continue;  // the labels of assemblers in modules for Arm
    if (line->module != module->first) {
      module = symbols_.try_emplace(std::string(line->module)).first;
    }
    entries.push_back({.symbol = {.range = {line->address, line->address},
                                  .name = place_of(line->name),
                                  .code = is_code(line->type)},
                       .module = &module->second});
  }
  std::ranges::stable_sort(entries, [](const Entry& a, const Entry& b) {
    return a.symbol.range.begin < b.symbol.range.begin;
  });

  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto& [symbol, neighbours] = entries[i];
    const bool last = i + 1 == entries.size() || entries[i + 1].module != neighbours;
    symbol.range.end = last ? end_of_last(symbol.range.begin) : entries[i + 1].symbol.range.begin;
    // Only the last of several symbols at one address has a length, and so it is the one to be
    // named.
    if (!neighbours->empty() && neighbours->back().range.begin == symbol.range.begin) {
      neighbours->pop_back();
    }
    neighbours->push_back(symbol);
  }
}

std::optional<std::uint64_t> Kallsyms::address_of(std::string_view name) const {
  for (std::size_t begin = 0; begin < text_.size();) {
    const std::size_t end = std::min(text_.find('\n', begin), text_.size());
    const auto line = parse_line(std::string_view(text_).substr(begin, end - begin));
    if (line && line->name == name && line->module.empty()) return line->address;
    begin = end + 1;
  }
  return std::nullopt;
}

std::optional<Function> Kallsyms::symbol_at(std::string_view module, std::uint64_t address) const {
  const auto found = symbols_.find(module);
  if (found == symbols_.end()) return std::nullopt;
  const auto& symbols = found->second;
  const auto after = std::ranges::partition_point(
      symbols, [address](const Symbol& symbol) { return symbol.range.begin <= address; });
  if (after == symbols.begin()) return std::nullopt;
  const Symbol& symbol = *(after - 1);
  if (!symbol.range.contains(address)) return std::nullopt;
  return Function{std::string(text(symbol.name)), symbol.range};
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

}  // namespace skid::symbols
