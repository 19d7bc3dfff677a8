#include "src/commands/sample_texts.h"

#include "src/perfdata/branch_entry.h"
#include "src/support/byte_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <linux/perf_event.h>

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

/// A field of perf_mem_data_src: its lowest bit, and how many bits it has.
struct MemoryField {
  unsigned shift, bits;

  std::uint64_t of(std::uint64_t data_source) const {
    return data_source >> shift & ((std::uint64_t{1} << bits) - 1);
  }
};
constexpr MemoryField kOperation{PERF_MEM_OP_SHIFT, 5}, kLevel{PERF_MEM_LVL_SHIFT, 14},
    kSnoop{PERF_MEM_SNOOP_SHIFT, 5}, kLock{PERF_MEM_LOCK_SHIFT, 2}, kTlb{PERF_MEM_TLB_SHIFT, 7},
    kLevelNumber{PERF_MEM_LVLNUM_SHIFT, 4}, kRemote{PERF_MEM_REMOTE_SHIFT, 1},
    kMoreSnoop{PERF_MEM_SNOOPX_SHIFT, 2}, kBlocked{PERF_MEM_BLK_SHIFT, 3}, kHops{43, 3};

/// Returns the names of the bits that are set, the lowest first, joined by "or".
std::string names_of_bits(std::uint64_t bits, std::span<const std::string_view> names) {
  std::vector<std::string_view> set;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if ((bits >> i & 1) != 0) set.push_back(names[i]);
  }
  return fmt::format("{}", fmt::join(set, " or "));
}

std::string level_text(std::uint64_t data_source) {
  constexpr std::array<std::string_view, 16> kNumbered{
      "",     "L1",       "L2",  "L3",  "L4",        "L2 MHB",  "Memory-side Cache",
      "",     "Uncached", "CXL", "I/O", "Any cache", "LFB/MAB", "RAM",
      "PMEM", ""};
  constexpr std::array<std::string_view, 11> kLevels{"L1",
                                                     "LFB/MAB",
                                                     "L2",
                                                     "L3",
                                                     "Local RAM",
                                                     "Remote RAM (1 hop)",
                                                     "Remote RAM (2 hops)",
                                                     "Remote Cache (1 hop)",
                                                     "Remote Cache (2 hops)",
                                                     "I/O",
                                                     "Uncached"};
  constexpr std::array<std::string_view, 8> kHopNames{
      "", "core, same node ", "node, same socket ", "socket, same board ", "board ", "", "", ""};
  constexpr unsigned kFirstLevel = 3;  // of the bits; not available, hit and miss precede it
  const std::uint64_t level = kLevel.of(data_source), number = kLevelNumber.of(data_source);
  const char* outcome = (level & PERF_MEM_LVL_HIT) != 0    ? " hit"
                        : (level & PERF_MEM_LVL_MISS) != 0 ? " miss"
                                                           : " ";
  if (number != 0 && number != PERF_MEM_LVLNUM_NA) {
    const std::string_view name = kNumbered.at(number);
    return fmt::format("{}{}{}{}", kRemote.of(data_source) != 0 ? "Remote " : "",
                       kHopNames.at(kHops.of(data_source)),
                       name.empty() ? fmt::format("Unknown level {}", number) : std::string(name),
                       outcome);
  }
  const std::string names = names_of_bits(level >> kFirstLevel, kLevels);
  return names.empty() ? "N/A" : names + outcome;
}

std::string snoop_text(std::uint64_t data_source) {
  constexpr std::array<std::string_view, 7> kNames{"N/A",  "None", "Hit", "Miss",
                                                   "HitM", "Fwd",  "Peer"};
  const std::string names =
      names_of_bits(kSnoop.of(data_source) | kMoreSnoop.of(data_source) << kSnoop.bits, kNames);
  return names.empty() ? "N/A" : names;
}

std::string tlb_text(std::uint64_t data_source) {
  constexpr std::array<std::string_view, 7> kNames{"N/A", "", "", "L1", "L2", "Walker", "Fault"};
  const std::uint64_t bits = kTlb.of(data_source);
  constexpr std::uint64_t kOutcomes = PERF_MEM_TLB_HIT | PERF_MEM_TLB_MISS;
  const std::string names = names_of_bits(bits & ~kOutcomes, kNames);
  return fmt::format("{}{}{}", names.empty() ? "N/A" : names,
                     (bits & PERF_MEM_TLB_HIT) != 0 ? " hit" : "",
                     (bits & PERF_MEM_TLB_MISS) != 0 ? " miss" : "");
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

std::string data_source_text(std::uint64_t data_source) {
  constexpr std::array<std::string_view, 5> kOperations{"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};
  const std::uint64_t operation = kOperation.of(data_source), lock = kLock.of(data_source),
                      blocked = kBlocked.of(data_source);
  const bool is_blocked = blocked != 0 && (blocked & PERF_MEM_BLK_NA) == 0;
  return fmt::format(
      "|OP {}|LVL {}|SNP {}|TLB {}|LCK {}|BLK {}{}{}",
      operation == 0 ? "No" : kOperations.at(static_cast<std::size_t>(std::countr_zero(operation))),
      level_text(data_source), snoop_text(data_source), tlb_text(data_source),
      (lock & PERF_MEM_LOCK_NA) != 0 ? "N/A"
      : lock != 0                    ? "Yes"
                                     : "No",
      is_blocked ? "" : " N/A", is_blocked && (blocked & PERF_MEM_BLK_DATA) != 0 ? " Data" : "",
      is_blocked && (blocked & PERF_MEM_BLK_ADDR) != 0 ? " Addr" : "");
}

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
