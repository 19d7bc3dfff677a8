#include "src/audit/kernel_code.h"

#include "src/support/byte_order.h"
#include "src/support/byte_reader.h"
#include "src/symbols/kernel_reference.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace skid::audit {
namespace {

/// How an entry of a table gives a piece of code. `size`: of the entry, bytes; 0: there is no such
/// layout.
struct Layout {
  std::uint8_t size = 0;
  bool is_relative = true;     ///< a 32-bit distance from the entry; false: a 64-bit address
  std::uint8_t length_at = 0;  ///< offset of the byte with the code's length; 0: see `Table`
};

/// A table between two symbols, in a module a section, and the bytes that are replaced before and
/// from the address in an entry on, if the entry has no length. The layout is the first by which
/// all entries are of code. Without a layout it is code that is patched as a whole.
struct Table {
  const char *begin, *end, *section;
  std::array<Layout, 3> layouts = {};
  std::uint64_t before = 0, length = 5;
};

/// Structures and symbols of Linux 2.6.39 to 7.2: arch/x86/include/asm/alternative.h (entries of 14
/// bytes since 6.3, of 12 since 5.13 and up to 4.0, of 13 between), that of arm64 (12),
/// asm/paravirt_types.h (up to 6.7), include/linux/jump_label.h (relative since 4.20),
/// static_call_types.h, arch/*/kernel/vmlinux.lds.S. FineIBT replaces 14 bytes before indirect
/// calls, and the 16 and more before a function (arch/x86/kernel/alternative.c). LOCK prefixes on a
/// single CPU (__smp_locks), ENDBRs that no call needs (__ibt_endbr_seal), and PACIASP and AUTIASP
/// with a shadow call stack (arch/arm64/kernel/pi/patch-scs.c) are replaced by instructions of the
/// same length, no branches either.
constexpr std::array kTables{
    Table{"__alt_instructions",
          "__alt_instructions_end",
          ".altinstructions",
          {{{14, true, 12}, {12, true, 10}, {13, true, 10}}}},
    Table{"__parainstructions", "__parainstructions_end", ".parainstructions", {{{16, false, 9}}}},
    Table{"__retpoline_sites", "__retpoline_sites_end", ".retpoline_sites", {{{4}}}, 14, 8},
    Table{"__return_sites", "__return_sites_end", ".return_sites", {{{4}}}},
    Table{"__call_sites", "__call_sites_end", ".call_sites", {{{4}}}},
    Table{"__cfi_sites", "__cfi_sites_end", ".cfi_sites", {{{4}}}, 0, 40},
    Table{"__start_static_call_sites", "__stop_static_call_sites", ".static_call_sites", {{{8}}}},
    Table{
        "__start___jump_table", "__stop___jump_table", "__jump_table", {{{16}, {24, false}}}, 0, 1},
    Table{"__start_mcount_loc", "__stop_mcount_loc", "__mcount_loc", {{{8, false}}}},
    Table{"__static_call_text_start", "__static_call_text_end", ".static_call.text"},
};
/// The most pieces of patched code. A kernel has about 500,000, a damaged file can have any number.
constexpr std::size_t kMostPatched = std::size_t{1} << 22;

/// Handlers of exceptions were in the section of kprobes, too, up to Linux 4.x
/// (arch/x86/kernel/entry_64.S).
constexpr std::array<std::array<const char*, 2>, 2> kEntries{
    {{"__entry_text_start", "__entry_text_end"}, {"__kprobes_text_start", "__kprobes_text_end"}}};
/// Entries of FRED are elsewhere (arch/x86/entry/entry_64_fred.S).
constexpr std::array<const char*, 2> kFredEntries{"asm_fred_entrypoint_user",
                                                  "asm_fred_entrypoint_kernel"};

/// The call at the beginning of each function that an arm64 kernel replaces by a NOP when it
/// starts, unless compiled with NOPs there (CONFIG_DYNAMIC_FTRACE_WITH_ARGS). The table of these
/// calls has no addresses in the file of a kernel that can be relocated.
constexpr const char* kTracedCall = "_mcount";

/// Whether one of `ranges`, which are ascending and disjoint, has bytes of `range`.
bool meets(const std::vector<AddressRange>& ranges, AddressRange range) {
  const auto next = std::ranges::upper_bound(ranges, range.begin, {}, &AddressRange::end);
  return next != ranges.end() && next->begin < range.end;
}

std::optional<AddressRange> range_between(const symbols::Module& file, const char* begin,
                                          const char* end) {
  const auto first = file.value_of(begin), after = file.value_of(end);
  return first && after ? std::optional(AddressRange{*first, *after}) : std::nullopt;
}

/// Adds the code in the entries of a table to `patched`. False if some of it is not code.
bool read_table(AddressRange place, std::span<const std::byte> bytes, const Table& table,
                const Layout& layout, const std::vector<AddressRange>& code,
                std::vector<AddressRange>& patched) {
  for (std::size_t at = 0; at < bytes.size(); at += layout.size) {
    ByteReader reader(bytes.subspan(at, layout.size), ByteOrder::little);
    const std::uint64_t address =
        layout.is_relative
            ? place.begin + at + static_cast<std::uint64_t>(std::int64_t{reader.i32()})
            : reader.u64();
    if (!contains(code, address)) {
      if (address == 0) continue;  // a call of ftrace in a function that the linker left out
      return false;
    }
    const std::uint64_t length = layout.length_at == 0
                                     ? table.length
                                     : std::to_integer<std::uint64_t>(bytes[at + layout.length_at]);
    patched.push_back({address - std::min(address, table.before), address + length});
  }
  return true;
}

}  // namespace

std::optional<KernelCode> KernelCode::read(const symbols::Module& file,
                                           const symbols::KernelReference& loaded) {
  const auto reference = file.value_of(loaded.symbol);
  if (!reference || !file.arch()) return std::nullopt;
  if (file.arch() == Arch::aarch64 && file.value_of(kTracedCall)) return std::nullopt;
  KernelCode kernel;
  kernel.shift_ = *reference - loaded.address;
  for (const auto& [begin, end] : kEntries) {
    if (const auto range = range_between(file, begin, end)) kernel.entries_.push_back(*range);
  }
  if (kernel.entries_.empty()) return std::nullopt;
  for (const char* symbol : kFredEntries) {
    if (const auto entry = file.value_of(symbol)) kernel.entries_.push_back({*entry, *entry + 1});
  }

  kernel.code_ = file.executable_ranges();
  return kernel.read_tables(file) ? std::optional(std::move(kernel)) : std::nullopt;
}

std::optional<KernelCode> KernelCode::read_module(const symbols::Module& file) {
  KernelCode module;
  module.code_ = file.executable_ranges();
  module.unresolved_ = file.unresolved_fields();
  return module.read_tables(file) ? std::optional(std::move(module)) : std::nullopt;
}

bool KernelCode::read_tables(const symbols::Module& file) {
  for (const Table& table : kTables) {
    const auto place = file.is_kernel_module() ? file.section(table.section)
                                               : range_between(file, table.begin, table.end);
    if (!place || place->empty()) continue;
    if (table.layouts.front().size == 0) {
      patched_.push_back(*place);
      continue;
    }
    const std::vector<std::byte> bytes = file.code(*place);
    if (bytes.size() != place->size()) return false;
    const std::size_t before = patched_.size();
    const bool is_read = std::ranges::any_of(table.layouts, [&](const Layout& layout) {
      patched_.resize(before);
      return layout.size != 0 && bytes.size() % layout.size == 0 &&
             bytes.size() / layout.size <= kMostPatched - before &&
             read_table(*place, bytes, table, layout, code_, patched_);
    });
    if (!is_read) return false;
  }
  join(patched_);
  return true;
}

bool KernelCode::is_patched(AddressRange range) const {
  return meets(patched_, range);
}

bool KernelCode::is_unresolved(AddressRange range) const {
  return meets(unresolved_, range);
}

bool KernelCode::is_entry(std::uint64_t address) const {
  return std::ranges::any_of(entries_, [&](AddressRange one) { return one.contains(address); });
}

bool KernelCode::is_code(std::uint64_t address) const {
  return contains(code_, address);
}

}  // namespace skid::audit
