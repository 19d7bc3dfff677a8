// Texts of numbers, for evidence, warnings, tables and figures alike.
#pragma once

#include <cstdint>
#include <string>

namespace skid::analysis {

struct Share;

/// Writes a share as "12.35%". It has two decimals, none for exactly 0 and 100, and more if two
/// would make the share look as if it were 0, 100% or the required 99.9%.
std::string percent(double share);

/// Writes "p 0.012", or "p < 1e-300" for what a double cannot represent, which is not 0.
std::string p_text(double p);

/// Writes an offset as "+1", "0", "-3"; the context gives the unit.
std::string signed_number(std::int64_t offset);

/// Writes "5000 of 5000 (100%, 95% interval 99.92% to 100%)".
std::string counts_and_interval(const Share& share);

/// Writes "1,234,567". `digits` may have any number of digits, with or without a sign.
std::string in_thousands(std::string digits);
std::string in_thousands(std::uint64_t number);

/// Writes why perf recorded a clock in place of events: "perf found no PMU that counts cycles".
/// `events`: their names, escaped.
std::string no_pmu_counts(const std::string& events);

/// What to do where no event of the core PMU of an Arm CPU is precise.
inline constexpr const char* kSampleWithSpe = "sample with SPE (arm_spe_0) where the CPU has it";

/// Writes a count with its noun: "1 sample", "2 samples".
std::string counted(std::uint64_t count, const std::string& singular);

}  // namespace skid::analysis
