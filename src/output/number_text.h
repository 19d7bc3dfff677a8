// Numbers and shares as texts and tables show them.
#pragma once

#include <cstdint>
#include <string>

namespace skid::output {

struct Page;

/// Formats a number for a table: whole ones without decimals, small ones with two significant
/// digits; "-" if it is not finite.
std::string number_text(double value);

/// Formats a share of counts: "12.5%"; "-" if `whole` is 0.
std::string percent_of(std::uint64_t part, std::uint64_t whole);

/// Formats an interval of a share: "99.92–100%".
std::string share_range(const Page& page, double low, double high);

}  // namespace skid::output
