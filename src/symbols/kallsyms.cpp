#include "src/symbols/kallsyms.h"

#include "src/support/file.h"
#include "src/support/sorting.h"
#include "src/support/text.h"
#include "src/symbols/location.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace skid::symbols {

namespace {

/// One line of the file. Its texts are views of the file's text.
struct KallsymsLine {
  std::uint64_t address = 0;
  char type = '?';
  std::string_view name;
  std::string_view module;  ///< without brackets; empty: the kernel itself
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
  return contains(std::string_view("TtWw"), type);
}

bool is_data(char type) {
  return contains(std::string_view("DdBb"), type);
}

}  // namespace

Kallsyms Kallsyms::read(const std::filesystem::path& path) {
  return Kallsyms(read_file(path, kLargest));
}

Kallsyms::Kallsyms(std::string text) : text_(std::make_unique<const std::string>(std::move(text))) {
  struct Entry {
    Symbol symbol;
    std::vector<Symbol>* module;  // nodes of symbols_ stay in place
  };
  std::vector<Entry> entries;
  auto module = symbols_.try_emplace(std::string()).first;
  for (std::string_view rest = *text_; !rest.empty();) {
    const auto line = parse_line(take_until('\n', rest));
    if (!line) continue;
    if (line->address != 0) hidden_ = false;
    if (!is_code(line->type) && !is_data(line->type)) continue;
    if (line->name.starts_with('$')) continue;  // labels of assemblers in modules for Arm
    if (line->module != module->first) {
      module = symbols_.try_emplace(std::string(line->module)).first;
    }
    const AddressRange range{line->address, line->address};
    entries.push_back({{range, line->name, is_code(line->type)}, &module->second});
  }
  stable_sort_rest(entries, [](const Entry& one) { return one.symbol.range.begin; });

  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto& [symbol, neighbours] = entries[i];
    const bool last = i + 1 == entries.size() || entries[i + 1].module != neighbours;
    symbol.range.end =
        last ? end_of_last_symbol(symbol.range.begin) : entries[i + 1].symbol.range.begin;
    // Only the last of several symbols at one address has a length, and its name is used.
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

}  // namespace skid::symbols
