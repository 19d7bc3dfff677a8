#include "src/perfdata/bulk_layout.h"

#include <algorithm>
#include <bit>

namespace skid::perfdata {

void BulkLayout::use(const SampleDecoder& decoder) {
  constexpr auto kAbsent = SampleLayout::kAbsent;
  const auto& layouts = decoder.layouts();
  ids = &decoder.ids();
  id = decoder.id_offset();
  has_times = decoder.has_times();
  // Only new ones: a recording may describe its events one after the other.
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

}  // namespace skid::perfdata
