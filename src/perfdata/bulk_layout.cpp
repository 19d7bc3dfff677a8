#include "src/perfdata/bulk_layout.h"

#include "src/perfdata/bytes.h"
#include "src/perfdata/record.h"
#include "src/perfdata/sample.h"
#include "src/support/byte_order.h"

#include <algorithm>
#include <bit>

#include <linux/perf_event.h>

namespace skid::perfdata {

void BulkLayout::use(const SampleDecoder& decoder) {
  constexpr auto kAbsent = SampleLayout::kAbsent;
  const auto& layouts = decoder.layouts();
  ids = &decoder.ids();
  id = decoder.id_offset();
  has_times = decoder.has_times();
  // Only new attributes are added: a recording may describe its events one after the other.
  for (std::size_t index = period.size(); index < layouts.size(); ++index) {
    const SampleLayout& layout = layouts[index];
    if (index == 0) {
      ip = layout.ip;
      tid = layout.tid;
      time = layout.time;
    }
    period.push_back(layout.period);
    record_size = std::max<std::size_t>(record_size, kRecordHeader + layout.size);
    // Events with ids have them at the start, so the layout is the same in every recording.
    if (layout.ip != ip || layout.tid != tid || layout.time != time) is_uniform_ = false;
  }
  possible = !layouts.empty() && is_uniform_ && ip != kAbsent && tid != kAbsent &&
             (time != kAbsent) == has_times && decoder.order() == ByteOrder::little &&
             std::endian::native == std::endian::little;
}

/// Most records have the same header as the one before, apart from misc. Headers are compared as
/// one word; the position of the next record is then known without a wait for its size.
std::size_t BulkLayout::samples_at_front(std::span<const std::byte> bytes,
                                         std::uint64_t* last_time) const noexcept {
  if (!possible) return 0;
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  std::uint64_t header = 0;  // that of the previous sample, without misc
  std::size_t stride = SIZE_MAX;
  for (;; at += stride) {
    const auto left = static_cast<std::size_t>(end - at);
    if (left >= stride && (HeaderWord::at(at).word & ~HeaderWord::kMisc) == header) continue;
    if (left < HeaderWord::kSize) break;
    const HeaderWord word = HeaderWord::at(at);
    if (word.type() != PERF_RECORD_SAMPLE || word.size() < record_size || word.size() > left) break;
    header = word.word & ~HeaderWord::kMisc;
    stride = word.size();
  }
  if (last_time != nullptr && has_times && at != bytes.data()) {
    *last_time = load<std::uint64_t>(at - stride + HeaderWord::kSize + time);
  }
  return static_cast<std::size_t>(at - bytes.data());
}

}  // namespace skid::perfdata
