#include "src/locate/symbolizer.h"

#include <utility>

namespace skid::locate {

const Symbol& Symbolizer::symbol_at(symbols::FileLocation location) {
  const auto [answer, is_new] = answers_.try_emplace({location.file, location.offset});
  if (!is_new) return answer->second;
  const auto found = modules_.find(spaces_.file(location.file));
  if (found.module == nullptr) return answer->second;
  const auto address = found.module->address_at(location.offset);
  if (!address) return answer->second;
  if (auto function = found.module->function_at(*address)) {
    answer->second = {std::move(function->name), *address - function->range.begin};
  }
  return answer->second;
}

const Symbol& Symbolizer::kernel_symbol_at(symbols::FileLocation location, std::uint64_t address) {
  const auto [answer, is_new] = kernel_answers_.try_emplace({location.file, address});
  if (!is_new) return answer->second;
  if (auto symbol = kernel_.symbol_at(spaces_.file(location.file).path, address, location.offset)) {
    answer->second = {std::move(symbol->name), address - symbol->range.begin};
  }
  return answer->second;
}

}  // namespace skid::locate
