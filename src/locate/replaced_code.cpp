#include "src/locate/replaced_code.h"

#include "src/locate/digest.h"
#include "src/locate/located_counts.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"
#include "src/symbols/file_location.h"
#include "src/symbols/mapped_file.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace skid::locate {

std::vector<std::string> remarks_on_replaced_code(const Digest& digest) {
  std::vector<std::string> remarks;
  const auto& replaced = digest.spaces.replaced_code();
  if (replaced.empty()) return remarks;
  std::map<symbols::FileIndex, std::uint64_t> samples;  // by the replaced file
  digest.located.for_each([&](const LocatedSamples& located) {
    if (!located.location) return;
    for (const auto& [memory, addresses, file] : replaced) {
      if (located.location->file != memory || !addresses.contains(located.location->offset)) {
        continue;
      }
      samples[file] += located.samples;  // offsets in memory without a file are addresses
      break;
    }
  });
  for (const auto& [file, count] : samples) {
    remarks.push_back(
        fmt::format("{}: {} in memory without a file, at addresses where its code was "
                    "mapped before: the program replaced it (a copy on huge pages) or unmapped it; "
                    "they are counted for its functions only where copied code is asked for",
                    digest.spaces.file(file).path,
                    count == 1 ? "1 sample is" : fmt::format("{} samples are", count)));
  }
  return remarks;
}

}  // namespace skid::locate
