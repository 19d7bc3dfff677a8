// The second pass of a digest: it counts the samples that the first one did not count.
#pragma once

#include "src/locate/pieces.h"

#include <cstdint>
#include <functional>

namespace skid::locate {

class PlaceCounter;
struct SampleReading;

/// Counts the samples before the position `end`, in the order of the recording, by one thread.
void count_in_order(SampleReading& reading, std::uint64_t end, PlaceCounter& counter);

/// Counts the samples of `pieces` by two threads, each of which takes one piece after the other.
/// `new_counter`: makes the counter of the second thread.
void count_pieces(SampleReading& reading, const Pieces& pieces,
                  const std::function<PlaceCounter()>& new_counter, PlaceCounter& counter);

}  // namespace skid::locate
