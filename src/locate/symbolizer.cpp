#include "src/locate/symbolizer.h"

#include "src/locate/kernel_symbols.h"
#include "src/locate/mapping_name.h"
#include "src/locate/module_store.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"
#include "src/symbols/file_location.h"
#include "src/symbols/location.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/module.h"

#include <utility>

namespace skid::locate {

std::optional<symbols::Function> kernel_function_at(KernelSymbols& kernel, ModuleStore& modules,
                                                    const symbols::MappedFile& file,
                                                    std::uint64_t address, std::uint64_t offset) {
  auto function = kernel.symbol_at(file, address, offset);
  if (function || file.build_id.empty() || file.path == kKernelName) return function;
  const auto* module = modules.find(file).module;
  if (module == nullptr || !module->is_kernel_module()) return std::nullopt;
  const auto linked = module->address_at(offset);
  if (linked) function = module->function_at(*linked);
  if (!function) return std::nullopt;
  function->range.begin += address - *linked;
  function->range.end += address - *linked;
  return function;
}

Symbol Symbolizer::symbol_at(symbols::FileLocation location, std::uint64_t address,
                             bool in_kernel) {
  const std::uint64_t file = std::uint64_t{location.file} * 2 + (in_kernel ? 1 : 0);
  const std::uint64_t at = in_kernel ? address : location.offset;
  const Answer& known = slot_of(file, at);
  if (known.file == file) return known.symbol;
  if (++used_ * 4 > answers_.size() * 3) {
    for (const Answer& old : std::exchange(answers_, std::vector<Answer>(answers_.size() * 2))) {
      if (old.file != Answer::kFree) slot_of(old.file, old.at) = old;
    }
  }
  return (slot_of(file, at) = {file, at, look_up(location, address, in_kernel)}).symbol;
}

/// Returns the slot of this place, or the free slot to enter it in.
Symbolizer::Answer& Symbolizer::slot_of(std::uint64_t file, std::uint64_t at) {
  for (std::size_t slot = hashed(at ^ hashed(file, seed_), seed_);; ++slot) {
    Answer& answer = answers_[slot & (answers_.size() - 1)];
    if ((answer.at == at && answer.file == file) || answer.file == Answer::kFree) return answer;
  }
}

Symbol Symbolizer::look_up(symbols::FileLocation location, std::uint64_t address, bool in_kernel) {
  const symbols::MappedFile& file = spaces_.file(location.file);
  std::optional<symbols::Function> function;
  if (in_kernel) {
    function = kernel_function_at(kernel_, modules_, file, address, location.offset);
  } else if (is_perf_map(file.path)) {
    address = location.offset;
    function = modules_.generated_function_at(file.path, address);
  } else if (const auto* module = modules_.find(file).module) {
    if (const auto linked = module->address_at(location.offset)) {
      address = *linked;
      function = module->function_at(address);
    }
  }
  if (!function) return {};
  return {*names_.insert(std::move(function->name)).first, address - function->range.begin};
}

}  // namespace skid::locate
