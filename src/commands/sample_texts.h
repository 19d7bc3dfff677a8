// Texts of what follows the fixed fields of a sample, as perf script prints them.
#pragma once

#include "src/support/address.h"
#include "src/support/byte_order.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace skid::commands {

/// Returns what a perf_mem_data_src means, as `perf script -F data_src` prints it after the number
/// (tools/perf/util/mem-events.c, Linux 6.12 to 7.3), but without its limit of 100 characters:
/// "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A".
std::string data_source_text(std::uint64_t data_source);

/// Returns branch records as `perf script -F brstack` prints them (print_bstack_flags() in
/// tools/perf/builtin-script.c, Linux 7.2), the newest first, separated by spaces:
/// "0x30/0x10/M/X/-/7/CALL/SPEC_CORRECT_PATH".
std::string branches_text(std::span<const std::byte> stack, ByteOrder order);

/// Returns "AX:0x1 BX:0x2". `values`: those of the bits that are set in `mask`
/// (sample_regs_intr, sample_regs_user). `arch`: of the recorded kernel; nullopt: another one.
std::string registers_text(std::span<const std::byte> values, std::uint64_t mask,
                           std::optional<Arch> arch, ByteOrder order);

}  // namespace skid::commands
