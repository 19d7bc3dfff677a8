// A module of the kernel, compressed or not: where it is loaded, and what the kernel replaces in
// it.
#include "src/audit/kernel_code.h"
#include "src/support/address.h"
#include "src/symbols/module.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

void skid::fuzz::use(std::span<const std::uint8_t> input) {
  constexpr std::uint64_t kMostCode = 4096;
  const test::MemoryFile file(text_of(input));
  const auto module = symbols::Module::open(file.path());
  if (!module.is_kernel_module()) return;
  const auto code = audit::KernelCode::read_module(module);
  require(std::ranges::is_sorted(module.unresolved_fields(), {}, &AddressRange::begin));
  require(!module.address_at(std::numeric_limits<std::uint64_t>::max()));
  for (std::uint64_t offset = 0; offset < kMostCode; ++offset) {
    const auto address = module.address_at(offset);
    if (!address) return;
    module.function_range_at(*address);
    if (!code) continue;
    const AddressRange byte{*address, *address + 1};
    if (code->is_unresolved(byte)) require(code->is_code(*address));
    code->is_patched(byte);
  }
}
