#include "src/symbols/threads.h"

#include "src/symbols/disassembler.h"

#include <array>
#include <cstddef>

#include <libelf.h>

namespace skid::symbols {

void prepare_for_threads() {
  elf_version(EV_CURRENT);
  constexpr std::array<std::byte, 1> kNop{std::byte{0x90}};
  static_cast<void>(Disassembler(Arch::x86_64).decode(kNop, 0, 1));
  constexpr std::array<std::byte, 4> kNopA64{std::byte{0x1f}, std::byte{0x20}, std::byte{0x03},
                                             std::byte{0xd5}};
  static_cast<void>(Disassembler(Arch::aarch64).decode(kNopA64, 0, 1));
}

}  // namespace skid::symbols
