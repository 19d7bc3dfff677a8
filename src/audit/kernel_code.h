// What the file of a kernel (vmlinux) of x86-64 or aarch64, or of one of its modules, states about
// its code: where the kernel patches it, and where system calls, exceptions and
// interrupts enter it.
#pragma once

#include "src/support/address.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace skid::symbols {
class Module;
struct KernelReference;
}  // namespace skid::symbols

namespace skid::audit {

class KernelCode {
 public:
  /// Reads the tables of patched code of a kernel. `loaded`: the recorded address of a symbol.
  /// nullopt: the file has no symbols, or does not state in a known form what is patched, so that
  /// its code cannot be used.
  static std::optional<KernelCode> read(const symbols::Module& file,
                                        const symbols::KernelReference& loaded);
  /// The same of a module of the kernel (Module::is_kernel_module). It has no entries.
  static std::optional<KernelCode> read_module(const symbols::Module& file);

  /// Returns the link-time address of a recorded one; of a module that of an offset in its mapping.
  std::uint64_t link_address(std::uint64_t recorded) const { return recorded + shift_; }
  /// Whether the kernel may replace some bytes of `range` at boot or later: alternatives, paravirt
  /// calls, thunks of calls and returns, static keys, static calls and calls of ftrace. kprobes and
  /// live patches, which replace any code, are not in the file.
  bool is_patched(AddressRange range) const;
  /// Whether the kernel set a field in `range` to an address that is not in the file when it loaded
  /// the module: of an instruction whose length and, but for ADRP, kind are those in the file.
  bool is_unresolved(AddressRange range) const;
  /// Whether system calls, exceptions and interrupts, which occur at any instruction, may lead to
  /// an address.
  bool is_entry(std::uint64_t address) const;
  /// Whether the file has code at an address. Its code can be mapped elsewhere, too.
  bool is_code(std::uint64_t address) const;

 private:
  /// Adds what the tables of `file` state, whose code is `code_`. False if one is of no known form.
  bool read_tables(const symbols::Module& file);

  std::uint64_t shift_ = 0;  ///< link-time address minus recorded one, modulo 2^64
  std::vector<AddressRange> patched_, unresolved_;  ///< ascending, disjoint
  std::vector<AddressRange> entries_, code_;
};

}  // namespace skid::audit
