#include "src/commands/sample_texts.h"

#include "src/perfdata/branch_entry.h"
#include "src/support/byte_reader.h"

#include <array>
#include <bit>
#include <string_view>

#include <fmt/format.h>

namespace skid::commands {
namespace {

/// Returns what get_branch_type() in tools/perf/util/branch.c does.
std::string_view type_text(const perfdata::BranchEntry& entry) {
  constexpr std::array<std::string_view, 15> kTypes{
      "",       "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",  "SYSCALL",
      "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX"};
  constexpr std::array<std::string_view, 8> kMoreTypes{
      "FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5"};
  constexpr unsigned kExtended = 15;  // PERF_BR_EXTEND_ABI
  if (entry.type != kExtended) return kTypes.at(entry.type);
  return entry.new_type < kMoreTypes.size() ? kMoreTypes.at(entry.new_type) : std::string_view();
}

std::string_view outcome_text(const perfdata::BranchEntry& entry) {
  if (entry.predicted) return entry.not_taken ? "PN" : "P";
  if (entry.not_taken) return "MN";
  return entry.mispredicted ? "M" : "-";
}

/// Returns the name of a bit of sample_regs_intr as perf has it (perf_reg_name() in
/// tools/perf/util/perf-regs-arch); for other architectures its number.
std::string register_name(unsigned bit, std::optional<Arch> arch) {
  constexpr std::array kX86{"AX", "BX",    "CX",  "DX",  "SI",  "DI",  "BP",  "SP",
                            "IP", "FLAGS", "CS",  "SS",  "DS",  "ES",  "FS",  "GS",
                            "R8", "R9",    "R10", "R11", "R12", "R13", "R14", "R15"};
  constexpr unsigned kXmm = 32, kNumbered = 30;
  constexpr std::array kArm{"lr", "sp", "pc"};
  if (arch == Arch::x86_64 && bit < kX86.size()) return kX86.at(bit);
  if (arch == Arch::x86_64 && bit >= kXmm) return fmt::format("XMM{}", (bit - kXmm) / 2);
  if (arch == Arch::aarch64 && bit < kNumbered) return fmt::format("x{}", bit);
  if (arch == Arch::aarch64 && bit < kNumbered + kArm.size()) return kArm.at(bit - kNumbered);
  return fmt::format("{}", bit);
}

}  // namespace

std::string branches_text(std::span<const std::byte> stack, ByteOrder order) {
  constexpr std::array<std::string_view, 4> kSpeculation{
      "-", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH", "SPEC_CORRECT_PATH"};
  std::string text;
  for (std::size_t i = 0; i < stack.size() / perfdata::kBranchEntry; ++i) {
    const auto entry = perfdata::branch_entry(stack, i, order);
    text += fmt::format("{}{:#x}/{:#x}/{}/{}/{}/{}/{}/{}", i == 0 ? "" : " ", entry.from, entry.to,
                        outcome_text(entry), entry.in_transaction ? 'X' : '-',
                        entry.aborted ? 'A' : '-', entry.cycles, type_text(entry),
                        kSpeculation.at(entry.speculation));
  }
  return text;
}

std::string registers_text(std::span<const std::byte> values, std::uint64_t mask,
                           std::optional<Arch> arch, ByteOrder order) {
  std::string text;
  ByteReader reader(values, order);
  for (; mask != 0 && reader.remaining() > 0; mask &= mask - 1) {
    if (!text.empty()) text += ' ';
    const auto bit = static_cast<unsigned>(std::countr_zero(mask));
    text += fmt::format("{}:{:#x}", register_name(bit, arch), reader.u64());
  }
  return text;
}

}  // namespace skid::commands
