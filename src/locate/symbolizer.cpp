#include "src/locate/symbolizer.h"

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

}  // namespace skid::locate
