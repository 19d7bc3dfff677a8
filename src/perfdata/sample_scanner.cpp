#include "src/perfdata/sample_scanner.h"

#include "src/perfdata/header_word.h"

namespace skid::perfdata {

std::size_t SampleScanner::scan(std::span<const std::byte> bytes, std::uint64_t position,
                                std::vector<SampleRun>& runs) {
  if (!layout_.possible) return 0;
  const std::byte* const begin = bytes.data();
  const std::byte* const end = begin + bytes.size();
  const std::byte* at = begin;
  std::uint64_t header = ~std::uint64_t{0};  // of the sample before, without misc; no record's yet
  std::size_t stride = HeaderWord::kSize;
  for (bool at_others = false; !at_others;) {
    const std::byte* const run = at;
    // Many small slices in the beginning, where programs map most of what they map.
    const std::uint64_t most = slices_.room();
    std::uint64_t samples = 0;
    while (samples < most) {
      if (static_cast<std::size_t>(end - at) < stride) {
        at_others = true;
        break;
      }
      const HeaderWord word = HeaderWord::at(at);
      if ((word.word & ~HeaderWord::kMisc) != header) {
        if (word.type() != PERF_RECORD_SAMPLE || word.size() < layout_.record_size ||
            word.size() > static_cast<std::size_t>(end - at)) {
          at_others = true;
          break;
        }
        header = word.word & ~HeaderWord::kMisc;
        stride = word.size();
      }
      at += stride;
      ++samples;
    }
    if (samples == 0) break;
    runs.push_back(
        {{run, at}, position + static_cast<std::uint64_t>(run - begin), slices_.current()});
    slices_.add(samples);
  }
  return static_cast<std::size_t>(at - begin);
}

}  // namespace skid::perfdata
