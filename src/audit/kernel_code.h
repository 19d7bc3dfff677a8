// What the file of a kernel (vmlinux) of x86-64 or aarch64 states about its code: where the kernel
// patches it, and where system calls, exceptions and interrupts enter it.
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
  /// Reads the tables of patched code. `loaded`: the recorded address of a symbol. nullopt: the
  /// file has no symbols, or does not state in a known form what is patched, so that its code
  /// cannot be used.
  static std::optional<KernelCode> read(const symbols::Module& file,
                                        const symbols::KernelReference& loaded);

  /// Returns the link-time address of a recorded one.
  std::uint64_t link_address(std::uint64_t recorded) const { return recorded + shift_; }
  /// Whether the kernel may replace some bytes of `range` at boot or later: alternatives, paravirt
  /// calls, thunks of calls and returns, static keys, static calls and calls of ftrace. kprobes and
  /// live patches, which replace any code, are not in the file.
  bool is_patched(AddressRange range) const;
  /// Whether system calls, exceptions and interrupts, which occur at any instruction, may lead to
  /// an address.
  bool is_entry(std::uint64_t address) const;
  /// Whether the file has code at an address. Its code can be mapped elsewhere, too.
  bool is_code(std::uint64_t address) const;

 private:
  std::uint64_t shift_ = 0;            ///< link-time address minus recorded one, modulo 2^64
  std::vector<AddressRange> patched_;  ///< ascending, disjoint
  std::vector<AddressRange> entries_, code_;
};

}  // namespace skid::audit
