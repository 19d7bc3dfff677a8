#include "src/perfdata/format.h"

#include "src/support/text.h"

#include <fmt/format.h>

namespace skid::perfdata {

std::string_view name_of_event_type(std::uint32_t type) {
  return word_at(type, "hardware software tracepoint hw_cache raw breakpoint");
}

std::vector<std::string> names_of_sample_type(std::uint64_t sample_type) {
  constexpr std::string_view kNames =
      "IP TID TIME ADDR READ CALLCHAIN ID CPU PERIOD STREAM_ID RAW BRANCH_STACK REGS_USER "
      "STACK_USER WEIGHT DATA_SRC IDENTIFIER TRANSACTION REGS_INTR PHYS_ADDR AUX CGROUP "
      "DATA_PAGE_SIZE CODE_PAGE_SIZE WEIGHT_STRUCT";
  std::vector<std::string> names;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((sample_type >> bit & 1u) == 0) continue;
    const auto name = word_at(bit, kNames);
    names.push_back(name.empty() ? fmt::format("bit {}", bit) : std::string(name));
  }
  return names;
}

}  // namespace skid::perfdata
