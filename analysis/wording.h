// Numbers as words, the same in evidence, warnings, tables and figures.
#pragma once

#include <cstdint>
#include <string>

namespace skid::analysis {

struct Share;

/// "12.35%". Two decimals, none for exactly 0 and 100, and more where two would make the share look
/// as if it were 0, 100% or the promised 99.9%.
std::string percent(double share);

/// "p 0.012", "p < 1e-300": what is less than a double holds is not 0.
std::string p_text(double p);

/// "+1", "0", "-3": an offset; the context gives the unit.
std::string signed_number(std::int64_t offset);

/// "5000 of 5000 (100%, 95% interval 99.92% to 100%)"
std::string counts_and_interval(const Share& share);

/// "1,234,567". `digits`: any number of them, with or without a sign.
std::string in_thousands(std::string digits);
std::string in_thousands(std::uint64_t number);

/// "1 sample", "2 samples"
std::string counted(std::uint64_t count, const std::string& singular);

}  // namespace skid::analysis
