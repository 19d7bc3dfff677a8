#include "src/locate/second_pass.h"

#include "src/locate/digest.h"
#include "src/locate/place_counter.h"
#include "src/locate/sample_reading.h"
#include "src/perfdata/bulk_layout.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/stored_records.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <linux/perf_event.h>

namespace skid::locate {

void count_in_order(SampleReading& reading, std::uint64_t end, PlaceCounter& counter) {
  auto& recording = reading.recording;
  recording.rewind();
  reading.layout = {};
  reading.follow_attributes();
  perfdata::Record record;
  while (recording.position() < end) {
    auto buffered = recording.buffered();
    buffered = buffered.first(std::min(buffered.size(), end - recording.position()));
    const std::size_t samples = reading.layout.samples_at_front(buffered);
    counter.count(buffered.first(samples), recording.position());
    recording.consume(samples);
    if (recording.position() >= end || !recording.next(record)) break;
    if (reading.lacks_attributes()) reading.follow_attributes();
    if (record.type == PERF_RECORD_SAMPLE) counter.count(record);
  }
}

void count_pieces(SampleReading& reading, const Pieces& pieces,
                  const std::function<PlaceCounter()>& new_counter, PlaceCounter& counter) {
  auto& recording = reading.recording;
  std::uint64_t largest = 0, all = 0;
  for (const auto& piece : pieces) {
    largest = std::max(largest, piece.size());
    all += piece.size();
  }
  std::atomic<std::size_t> next = 0;
  using Changed = std::vector<std::pair<std::size_t, std::uint64_t>>;  // piece, bytes counted
  const auto work = [&](PlaceCounter& of_thread) {
    Changed changed;
    const auto memory = std::make_unique_for_overwrite<std::byte[]>(largest);
    for (std::size_t number; (number = next++) < pieces.size();) {
      const auto& piece = pieces[number];
      const std::span read(memory.get(), recording.read(piece, memory.get()));
      const std::size_t counted = of_thread.count(read, piece.position);
      if (counted < piece.size()) changed.emplace_back(number, counted);
    }
    return changed;
  };
  std::optional<PlaceCounter> other;
  std::future<Changed> others;
  if (all >= reading.setup.worth && reading.has_core()) {
    other.emplace(new_counter());
    try {
      others = std::async(std::launch::async, [&] { return work(*other); });
    } catch (const std::system_error&) {  // no thread available: continue with one
    }
  }
  Changed changed = work(counter);
  if (others.valid()) {
    const Changed more = others.get();
    changed.insert(changed.end(), more.begin(), more.end());
    counter.merge(*other);
  }
  std::ranges::sort(changed);
  for (const auto& [number, counted] : changed) {
    recording.add_changed(pieces[number], pieces[number].begin + counted);
  }
}

}  // namespace skid::locate
