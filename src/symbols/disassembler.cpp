#include "src/symbols/disassembler.h"

#include "src/support/error.h"

#include <algorithm>
#include <array>
#include <utility>

#include <capstone/capstone.h>
#include <elf.h>
#include <fmt/format.h>
#include <libelf.h>

namespace skid::symbols {

struct Disassembler::Handle {
  explicit Handle(Arch instruction_set) : arch(instruction_set) {
    const cs_err status = arch == Arch::x86_64
                              ? cs_open(CS_ARCH_X86, CS_MODE_64, &capstone)
                              : cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &capstone);
    if (status != CS_ERR_OK) {
      throw Error("capstone: cannot decode {}: {}", arch == Arch::x86_64 ? "x86-64" : "aarch64",
                  cs_strerror(status));
    }
  }

  /// Returns the smallest distance between two instructions in bytes.
  std::size_t unit() const noexcept { return arch == Arch::x86_64 ? 1 : 4; }

  Arch arch;
  csh capstone = 0;
};

namespace {

struct InstructionDeleter {
  void operator()(cs_insn* instruction) const noexcept { cs_free(instruction, 1); }
};

/// Returns bytes as text: ".byte 0x06, 0x07".
std::string as_data(std::span<const std::byte> bytes) {
  std::string text = ".byte ";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text += fmt::format("{}{:#04x}", i == 0 ? "" : ", ", std::to_integer<unsigned>(bytes[i]));
  }
  return text;
}

}  // namespace

Disassembler::Disassembler(Arch arch) : handle_(std::make_unique<Handle>(arch).release()) {}

void Disassembler::Close::operator()(Handle* handle) const noexcept {
  const std::unique_ptr<Handle> freed(handle);
  cs_close(&freed->capstone);
}

std::vector<Instruction> Disassembler::decode(std::span<const std::byte> code,
                                              std::uint64_t address, std::size_t limit) const {
  const std::unique_ptr<cs_insn, InstructionDeleter> instruction(cs_malloc(handle_->capstone));
  if (!instruction) throw Error("capstone: out of memory");
  std::vector<Instruction> result;
  while (!code.empty() && result.size() < limit) {
    const auto* next = reinterpret_cast<const std::uint8_t*>(code.data());
    constexpr std::size_t kLongest = 16;  // bytes; Capstone reads all prefixes that it is given
    const std::size_t given = std::min(kLongest, code.size());
    std::size_t left = given;
    std::uint64_t next_address = address;
    const bool decoded =
        cs_disasm_iter(handle_->capstone, &next, &left, &next_address, instruction.get());
    const std::size_t size = decoded ? given - left : std::min(handle_->unit(), code.size());
    std::string text = decoded ? instruction->mnemonic : as_data(code.first(size));
    if (decoded && instruction->op_str[0] != '\0') text += fmt::format(" {}", instruction->op_str);
    result.push_back({address, static_cast<unsigned>(size), std::move(text)});
    code = code.subspan(size);
    address += size;
  }
  return result;
}

std::string Disassembler::text(std::span<const std::byte> code, std::uint64_t address) const {
  std::vector<Instruction> decoded = decode(code, address, 1);
  const bool is_known = !decoded.empty() && decoded.front().size == code.size();
  return is_known ? std::move(decoded.front().text) : as_data(code);
}

void prepare_for_threads() {
  elf_version(EV_CURRENT);
  constexpr std::array<std::byte, 1> kNop{std::byte{0x90}};
  static_cast<void>(Disassembler(Arch::x86_64).decode(kNop, 0, 1));
  constexpr std::array<std::byte, 4> kNopA64{std::byte{0x1f}, std::byte{0x20}, std::byte{0x03},
                                             std::byte{0xd5}};
  static_cast<void>(Disassembler(Arch::aarch64).decode(kNopA64, 0, 1));
}

}  // namespace skid::symbols
