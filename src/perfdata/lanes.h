// The samples of a file counted by two threads, as if by one.
#pragma once

#include "src/perfdata/bulk_counter.h"
#include "src/perfdata/bulk_layout.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample_counts.h"
#include "src/perfdata/sample_scanner.h"
#include "src/perfdata/time_slices.h"
#include "src/support/cores.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

namespace skid::perfdata {

/// When and how a file is counted by two threads.
struct LaneSetup {
  /// Bytes of a file that are worth the start of a second thread.
  std::uint64_t worth = std::uint64_t{2} << 20;
  /// Bytes that a lane reads at a time: small enough for the cache of a core, large enough that
  /// turns are seldom.
  std::size_t chunk = std::size_t{512} << 10;
  /// The second lane's counts are given to the first's when they have so many rows, about 11 MiB:
  /// places that both have seen cost twice until then.
  std::size_t most_rows = std::size_t{1} << 18;
  /// Where the second thread's core is from; null: there is one wherever a machine has several.
  Cores* cores = nullptr;
};

/// Reads the rest of a recording's file. Each lane is a thread that reads every other chunk of the
/// file into its own memory, waits for its turn, walks over the records of its chunk, passes the
/// turn on, and then counts the samples that it skipped. Both threads thus copy and count at the
/// same time, in their own caches, while record boundaries are never guessed and records other than
/// plain samples are processed in the order of the file.
class Lanes {
 public:
  /// Processes a record that was not counted in bulk; samples may be counted by `counter`. Called
  /// by one thread at a time, in the order of the recording.
  using Take = std::function<void(const Record&, BulkCounter& counter)>;

  /// All arguments must outlive the lanes. `take` updates `layout`, which `counter` uses too, when
  /// the attributes of the recording change; no thread is counting then.
  Lanes(Recording& recording, const BulkLayout& layout, SliceNumbers& slices, BulkCounter& counter,
        Take take, const LaneSetup& setup = {});
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  Lanes(Lanes&&) = delete;
  Lanes& operator=(Lanes&&) = delete;
  ~Lanes() = default;

  /// Reads to the end of the file, or to damage that ends reading. All counts are in `counter`
  /// then. Throws what `take` throws.
  void run();

 private:
  struct Lane {
    BulkCounter* counter = nullptr;
    std::unique_ptr<std::byte[]> memory;
    std::uint64_t begin = 0, end = 0;  ///< of the chunk in the file
    ByteStream::Chunk chunk;
    std::vector<SampleRun> runs;  ///< passed, but not counted yet
    std::uint64_t turn = 0;
    bool has_turn = false;
    /// Whether the thread is counting; set only by itself, and while it has the turn.
    std::atomic<bool> is_counting = false;
    std::exception_ptr failure;
  };

  void run_lane(Lane& lane) noexcept;
  void read_chunk(Lane& lane) const;
  void wait_for_turn(Lane& lane);
  void pass_turn(Lane& lane);
  /// The parts of a turn.
  void take_records(Lane& lane);
  void claim_chunk(Lane& lane);
  void make_room(Lane& lane);
  static void count(Lane& lane);
  /// Waits until no sample is passed but not counted.
  void settle(Lane& lane);

  Recording& recording_;
  SampleScanner scanner_;
  Take take_;
  LaneSetup setup_;

  Recording::RecordRange range_;
  std::uint64_t claimed_ = 0;  ///< file offset after the last chunk that a lane claimed
  bool is_done_ = false;       ///< of those who have the turn
  std::atomic<std::uint64_t> turn_ = 0;
  SampleCounts other_counts_;
  BulkCounter other_counter_;
  std::array<Lane, 2> lanes_;
  std::size_t lanes_used_ = 1;
};

}  // namespace skid::perfdata
