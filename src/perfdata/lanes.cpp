#include "src/perfdata/lanes.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <unistd.h>

namespace skid::perfdata {
namespace {

/// A turn is shorter than the wake-up of a sleeping thread. On a busy machine the first yield takes
/// longer than this, and there is only one.
constexpr std::chrono::microseconds kLooking{100};

}  // namespace

Lanes::Lanes(Recording& recording, const BulkLayout& layout, SliceNumbers& slices,
             BulkCounter& counter, Take take, const LaneSetup& setup)
    : recording_(recording),
      scanner_(layout, slices),
      take_(std::move(take)),
      setup_(setup),
      other_counter_(layout, other_counts_) {
  for (Lane& lane : lanes_) {
    lane.counter = &other_counter_;
    lane.memory =
        std::make_unique_for_overwrite<std::byte[]>(ByteStream::kLargestFill + setup.chunk);
  }
  lanes_.front().counter = &counter;
}

void Lanes::run() {
  range_ = recording_.record_range().value();
  claimed_ = range_.begin;
  recording_.begin_feeding();
  Lane& here = lanes_.front();
  Lane& there = lanes_.back();
  claim_chunk(here);
  std::thread thread;
  const auto core = setup_.cores != nullptr ? setup_.cores->try_take() : std::nullopt;
  if (core || (setup_.cores == nullptr && Cores::usable() > 1)) {
    there.turn = 1;
    claim_chunk(there);
    lanes_used_ = 2;
    try {
      thread = std::thread([this, &there] { run_lane(there); });
    } catch (const std::system_error&) {  // no more threads: it goes without
      claimed_ = there.begin;
      lanes_used_ = 1;
    }
  }
  run_lane(here);
  if (thread.joinable()) thread.join();
  recording_.end_feeding();
  for (const Lane& lane : lanes_) {
    if (lane.failure) std::rethrow_exception(lane.failure);
  }
  here.counter->merge(other_counter_);
}

void Lanes::run_lane(Lane& lane) noexcept {
  try {
    for (;;) {
      read_chunk(lane);
      wait_for_turn(lane);
      if (!is_done_) {
        make_room(lane);
        take_records(lane);
        claim_chunk(lane);
      }
      const bool is_done = is_done_;
      lane.is_counting.store(true, std::memory_order_relaxed);
      pass_turn(lane);
      count(lane);
      lane.is_counting.store(false, std::memory_order_release);
      lane.is_counting.notify_all();
      if (is_done) return;
    }
  } catch (...) {
    lane.failure = std::current_exception();
    lane.is_counting.store(false, std::memory_order_release);
    lane.is_counting.notify_all();
    if (!lane.has_turn) wait_for_turn(lane);
    is_done_ = true;
    pass_turn(lane);
  }
}

void Lanes::read_chunk(Lane& lane) const {
  ByteStream::Chunk chunk;
  chunk.bytes = lane.memory.get() + ByteStream::kLargestFill;
  chunk.offset = lane.begin;
  const auto wanted = static_cast<std::size_t>(lane.end - lane.begin);
  while (chunk.size < wanted) {
    const ssize_t got = ::pread(range_.file, chunk.bytes + chunk.size, wanted - chunk.size,
                                static_cast<off_t>(lane.begin + chunk.size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) chunk.error = errno;
    if (got <= 0) break;
    chunk.size += static_cast<std::size_t>(got);
  }
  chunk.is_last = chunk.size < wanted || lane.end == range_.end;
  lane.chunk = chunk;
}

void Lanes::wait_for_turn(Lane& lane) {
  std::uint64_t turn = turn_.load(std::memory_order_acquire);
  const auto until = std::chrono::steady_clock::now() + kLooking;
  while (turn != lane.turn && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
    turn = turn_.load(std::memory_order_acquire);
  }
  while (turn != lane.turn) {
    turn_.wait(turn, std::memory_order_acquire);
    turn = turn_.load(std::memory_order_acquire);
  }
  lane.has_turn = true;
}

void Lanes::pass_turn(Lane& lane) {
  lane.has_turn = false;
  lane.turn += lanes_used_;
  turn_.fetch_add(1, std::memory_order_release);
  turn_.notify_all();
}

void Lanes::take_records(Lane& lane) {
  // A chunk that was passed over by now is of no use, and no harm if it could not be read.
  if (lane.end <= recording_.wanted_offset() && lane.end < range_.end) return;
  recording_.feed(lane.chunk);
  Record record;
  for (;;) {
    recording_.consume(scanner_.scan(recording_.buffered(), recording_.position(), lane.runs));
    if (recording_.is_decompressing()) count(lane);  // before the recording reuses the memory
    if (recording_.may_change_attributes()) settle(lane);
    if (!recording_.next(record)) {
      is_done_ = !recording_.starved();
      break;
    }
    // A counter goes through slices in their order.
    if (record.type == PERF_RECORD_SAMPLE) count(lane);
    take_(record, *lane.counter);
  }
  if (!is_done_) recording_.keep_rest();
}

void Lanes::claim_chunk(Lane& lane) {
  lane.begin = std::min(std::max(claimed_, recording_.wanted_offset()), range_.end);
  lane.end = lane.begin + std::min<std::uint64_t>(setup_.chunk, range_.end - lane.begin);
  claimed_ = lane.end;
}

void Lanes::make_room(Lane& lane) {
  if (lane.counter == lanes_.front().counter || other_counts_.rows() < setup_.most_rows) return;
  settle(lane);
  lanes_.front().counter->merge(other_counter_);
}

void Lanes::count(Lane& lane) {
  for (const SampleRun& run : lane.runs) lane.counter->count(run);
  lane.runs.clear();
}

void Lanes::settle(Lane& lane) {
  count(lane);
  for (Lane& other : lanes_) {
    if (&other != &lane) other.is_counting.wait(true, std::memory_order_acquire);
  }
}

}  // namespace skid::perfdata
