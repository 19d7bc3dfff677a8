// Samples that the first pass counts already, by the mappings known when it began to. The counts
// are right if no mapping, fork, exec or event comes until the end of the recording; otherwise they
// are thrown away.
#pragma once

#include "src/locate/place_counter.h"
#include "src/locate/sample_reading.h"
#include "src/perfdata/bulk_layout.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/symbols/address_space.h"

#include <cstdint>
#include <optional>

namespace skid::locate {

class EarlyCounts {
 public:
  /// Begins to count, by copies of the mappings and attributes known now.
  void begin(const SampleReading& reading, const symbols::AddressSpaces& spaces) {
    spaces_ = spaces;
    spaces_->seal();
    mappings_ = spaces.bytes();
    first_.emplace(reading, *spaces_);
  }
  /// Whether begin() was called, and neither a mapping, fork or exec nor an event has come since.
  /// `spaces`: the mappings known now.
  bool are_right(const symbols::AddressSpaces& spaces) const { return mappings_ == spaces.bytes(); }
  /// Notes that an event has come.
  void give_up() { mappings_ = kNever; }

  /// Returns the counter of the first thread.
  PlaceCounter& counter() { return first_->counter; }
  /// Returns a counter for the second half of the file; null if begin() was not called.
  PlaceCounter* begin_half(const SampleReading& reading) {
    return first_ ? &half_.emplace(reading, *spaces_).counter : nullptr;
  }
  /// Notes that the second half began where it was guessed.
  void take_half() { is_half_taken_ = true; }

  /// Adds all counts to those of `counter`.
  void merge_into(PlaceCounter& counter) {
    counter.merge(first_->counter);
    if (half_ && is_half_taken_) counter.merge(half_->counter);
  }

 private:
  struct Counter {
    Counter(const SampleReading& reading, const symbols::AddressSpaces& spaces)
        : decoder(reading.recording.decoder()),
          counter(layout, decoder, spaces, reading.keeps_addresses()) {
      layout.use(decoder);
    }
    perfdata::SampleDecoder decoder;
    perfdata::BulkLayout layout;
    PlaceCounter counter;
  };

  static constexpr std::uint64_t kNever = UINT64_MAX;

  std::optional<symbols::AddressSpaces> spaces_;
  std::optional<Counter> first_, half_;
  bool is_half_taken_ = false;
  std::uint64_t mappings_ = kNever;  ///< AddressSpaces::bytes in begin()
};

}  // namespace skid::locate
