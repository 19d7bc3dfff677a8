#include "tests/support/capstone_decoder.h"

#include "src/instructions/instruction.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include <capstone/capstone.h>
#include <fmt/format.h>

namespace skid::test {

struct CapstoneDecoder::Handle {
  Handle() {
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &capstone) != CS_ERR_OK) {
      throw std::runtime_error("capstone cannot be opened");
    }
    cs_option(capstone, CS_OPT_DETAIL, CS_OPT_ON);
    instruction = cs_malloc(capstone);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    cs_free(instruction, 1);
    cs_close(&capstone);
  }

  csh capstone = 0;
  cs_insn* instruction = nullptr;
};

namespace {

instructions::Access access_of(const cs_x86_op& operand) {
  switch (operand.access) {
    case CS_AC_READ:
      return instructions::Access::read;
    case CS_AC_WRITE:
      return instructions::Access::write;
    case CS_AC_READ | CS_AC_WRITE:
      return instructions::Access::read_write;
    default:
      return instructions::Access::none;
  }
}

}  // namespace

CapstoneDecoder::CapstoneDecoder() : handle_(std::make_unique<Handle>()) {}
CapstoneDecoder::~CapstoneDecoder() = default;

std::string CapstoneDecoder::version() {
  int major = 0, minor = 0;
  cs_version(&major, &minor);
  return fmt::format("{}.{}", major, minor);
}

std::optional<CapstoneInstruction> CapstoneDecoder::decode(std::span<const std::byte> code,
                                                           std::uint64_t address) {
  const auto* next = reinterpret_cast<const std::uint8_t*>(code.data());
  std::size_t left = code.size();
  if (!cs_disasm_iter(handle_->capstone, &next, &left, &address, handle_->instruction)) {
    return std::nullopt;
  }
  CapstoneInstruction result;
  result.length = handle_->instruction->size;
  result.mnemonic = handle_->instruction->mnemonic;
  result.operands = handle_->instruction->op_str;
  const cs_x86& detail = handle_->instruction->detail->x86;
  for (const cs_x86_op& operand : std::span(detail.operands).first(detail.op_count)) {
    if (operand.type == X86_OP_MEM) result.memory.push_back(access_of(operand));
  }
  return result;
}

}  // namespace skid::test
