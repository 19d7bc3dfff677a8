// Clauses that follow the number of samples, branch records or blocks that were judged wrong.
#pragma once

#include <cstdint>
#include <string_view>

namespace skid::output {

/// A clause in both of its forms.
struct Clause {
  std::string_view of_several;  ///< "are impossible"
  std::string_view of_one;      ///< "is impossible"

  std::string_view after(std::uint64_t count) const { return count == 1 ? of_one : of_several; }
};

inline constexpr Clause kImpossible{"are impossible", "is impossible"};
/// Those of samples that are contradicted in EventAudit::data_address.
inline constexpr Clause kContradictedAddresses{
    "are not at the instruction that accessed their data address",
    "is not at the instruction that accessed its data address"};
/// At level 1, which requests the next instruction.
inline constexpr Clause kContradictedNextAddresses{
    "are not at the instruction after the one that accessed their data address",
    "is not at the instruction after the one that accessed its data address"};

}  // namespace skid::output
