#include "src/perfdata/counted_samples.h"

#include "src/perfdata/attribute.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/counter_values.h"
#include "src/perfdata/id_table.h"
#include "src/perfdata/recording.h"
#include "src/support/byte_reader.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include <linux/perf_event.h>

namespace skid::perfdata {

std::span<const Sample> CountedSamples::of(const Recording& recording, const Record& record,
                                           const Sample& sample) {
  samples_.assign(1, sample);
  const Attribute& attribute = recording.attributes()[sample.attribute];
  const bool has_values = attribute.has(PERF_SAMPLE_READ);
  if (!has_values || (attribute.read_format & PERF_FORMAT_ID) == 0) return samples_;
  const SampleDecoder& decoder = recording.decoder();
  const auto details = decoder.details(record, sample);
  if (!details) return samples_;
  samples_.clear();
  const std::int32_t thread = attribute.inherit ? sample.tid : 0;
  ByteReader reader(details->counters, decoder.order());
  read_counters(reader, attribute.read_format, [&](const CounterValue& counter) {
    const auto event = decoder.ids().find(counter.id);
    if (!event) return;
    // Threads are as many as a recording says.
    constexpr std::size_t kMost = 1U << 20U;
    const std::pair key(counter.id, thread);
    if (values_.size() >= kMost && !values_.contains(key)) return;
    std::uint64_t& last = values_[key];
    const std::uint64_t change = counter.value - last;
    last = counter.value;
    if (change == 0) return;
    Sample& counted = samples_.emplace_back(sample);
    counted.attribute = *event;
    counted.id = counter.id;
    counted.period = change;
  });
  return samples_;
}

}  // namespace skid::perfdata
