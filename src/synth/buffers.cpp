// The path of records from the buffers of CPUs into the file.
//
// Each CPU has a buffer. perf record empties one after the other, again and again, and writes
// PERF_RECORD_FINISHED_ROUND after each round. The file is therefore ordered by time only within a
// CPU's part of a round. A reader relies on one rule: no round leaves a record in a buffer that is
// older than the newest one of the round before. So once round n is complete, all records up to the
// newest one of round n - 1 can be sorted and passed on.
//
// Time is divided into windows of `round_samples` entries, each on a random CPU. perf gets to each
// CPU once in a window, at a random time in its first half. With windows of 8 entries and two CPUs,
// the rounds of the entries are
//
//     entry    1  2  3  4  5  6  7  8 | 9 10 11 12 …
//     CPU 0    1     2     2  2       | 2     2        perf gets there after entries 1 and 12
//     CPU 1       1     2        2  2 |    3     3     perf gets there after entries 3 and 8
//
// and the file has 1, 2, FINISHED_ROUND, then 3 5 6 9 11, 4 7 8, FINISHED_ROUND (or CPU 1 first).
// Round 2 takes entry 11 and leaves 10, which is newer than all entries of round 1.
#include "src/synth/buffers.h"

#include "src/perfdata/attribute.h"
#include "src/perfdata/byte_writer.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording_writer.h"
#include "src/support/address.h"
#include "src/support/random.h"
#include "src/support/text.h"
#include "src/symbols/module.h"
#include "src/synth/code_places.h"
#include "src/synth/drawn_sample.h"
#include "src/synth/loop_path.h"
#include "src/synth/model.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <linux/perf_event.h>

namespace skid::synth {
namespace {

using perfdata::CpuMode;

constexpr std::int32_t kTargetPid = 1000, kOtherPid = 2000, kKernelPid = -1;
constexpr std::uint64_t kFirstTime = 1'000'000'000'000;  // ns
constexpr std::uint64_t kBetween = 10'000;               // ns from one sample to the next
/// The maximum number of loss records of an event: PERF_RECORD_LOST reports many samples at once.
constexpr std::uint64_t kMostLostRecords = 3;
constexpr std::size_t kLongestComm = 15;
/// PERF_MEM_NA of include/linux/perf_event.h: nothing is known of the access.
constexpr std::uint64_t kNoSource = 0x508'0021;

struct RecordEncoder {
  const std::vector<perfdata::Attribute>& attributes;
  TriggerData data;
  perfdata::RecordingWriter& writer;
  perfdata::ByteWriter body{};

  struct When {
    std::uint64_t time = 0;
    unsigned cpu = 0;
  };

  void sample(const Contents::Entry& entry, When when) {
    const DrawnSample& sample = entry.sample;
    const std::int32_t pid = sample.origin == Origin::other ? kOtherPid : kTargetPid;
    body.clear();
    body.u64(id(entry.attribute, when)).u64(sample.address).i32(pid).i32(pid).u64(when.time);
    const perfdata::Attribute& attribute = attributes[entry.attribute];
    const bool has_data = attribute.has(PERF_SAMPLE_ADDR);
    if (has_data) body.u64(sample.data);
    body.u32(when.cpu).u32(0);
    if (has_data) {
      const bool accesses =
          sample.data != 0 && data.source != 0 && attribute.type != PERF_TYPE_BREAKPOINT;
      body.u64(accesses ? data.latency : 0).u64(accesses ? data.source : kNoSource);
    }
    const auto mode = static_cast<std::uint16_t>(sample.mode);
    const auto exact = sample.exact ? PERF_RECORD_MISC_EXACT_IP : std::uint16_t{0};
    writer.write(PERF_RECORD_SAMPLE, static_cast<std::uint16_t>(mode | exact), body.bytes());
  }

  void lost(const Contents::Entry& entry, When when) {
    body.clear();
    if (entry.kind == Contents::Kind::lost) body.u64(id(entry.attribute, when));
    body.u64(entry.sample.address);
    finish(entry.kind == Contents::Kind::lost ? PERF_RECORD_LOST : PERF_RECORD_LOST_SAMPLES, 0,
           kTargetPid, entry.attribute, when);
  }

  /// Writes that the kernel throttles an event and, a timer tick later, unthrottles it.
  void throttle(const Contents::Entry& entry, When when) {
    for (const auto type : {PERF_RECORD_THROTTLE, PERF_RECORD_UNTHROTTLE}) {
      body.clear();
      body.u64(when.time).u64(id(entry.attribute, when)).u64(id(entry.attribute, when));
      finish(type, 0, kTargetPid, entry.attribute, when);
      ++when.time;
    }
  }

  void comm(std::int32_t pid, const std::string& name, bool is_exec, When when) {
    body.clear();
    body.i32(pid).i32(pid).text(name.substr(0, kLongestComm));
    const std::uint16_t misc = is_exec ? PERF_RECORD_MISC_COMM_EXEC : std::uint16_t{0};
    finish(PERF_RECORD_COMM, misc, pid, 0, when);
  }

  /// Writes PERF_RECORD_MMAP for the kernel's text, as perf does.
  void kernel_mapping(AddressRange range, When when) {
    body.clear();
    body.i32(kKernelPid).i32(0).u64(range.begin).u64(range.size()).u64(range.begin);
    body.text("[kernel.kallsyms]_text");
    finish(PERF_RECORD_MMAP, static_cast<std::uint16_t>(CpuMode::kernel), kKernelPid, 0, when);
  }

  /// Writes PERF_RECORD_MMAP2 with the build-id; without one, device and inode are 0.
  void mapping(std::int32_t pid, AddressRange range, std::uint64_t file_offset,
               const std::string& path, const std::string& build_id, When when) {
    constexpr std::uint32_t kReadExecute = 5, kPrivate = 2;  // PROT_READ | PROT_EXEC, MAP_PRIVATE
    constexpr std::size_t kBuildIdBytes = 20, kIdentityBytes = 24;
    body.clear();
    body.i32(pid).i32(pid).u64(range.begin).u64(range.size()).u64(file_offset);
    std::string identity;
    const std::string id_bytes = from_hexadecimal(build_id).substr(0, kBuildIdBytes);
    if (!id_bytes.empty()) identity = std::string{static_cast<char>(id_bytes.size()), 0, 0, 0};
    identity += id_bytes;
    identity.resize(kIdentityBytes, '\0');
    body.raw(identity).u32(kReadExecute).u32(kPrivate).text(path);
    std::uint16_t misc = static_cast<std::uint16_t>(CpuMode::user);
    if (!id_bytes.empty()) misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
    finish(PERF_RECORD_MMAP2, misc, pid, 0, when);
  }

  std::uint64_t id(std::uint16_t attribute, When when) const {
    return attributes[attribute].ids[when.cpu];
  }
  /// Appends struct sample_id to the body and writes the record.
  void finish(std::uint32_t type, std::uint16_t misc, std::int32_t pid, std::uint16_t attribute,
              When when) {
    body.i32(pid).i32(pid).u64(when.time).u32(when.cpu).u32(0).u64(id(attribute, when));
    writer.write(type, misc, body.bytes());
  }
};

/// Divides entries into rounds. Each round takes from each buffer the entries that came in before
/// perf got there.
class Rounds {
 public:
  struct Arrived {
    Contents::Entry entry;
    std::uint64_t time = 0;
  };
  using Round = std::vector<std::vector<Arrived>>;  // by CPU

  Rounds(const Buffers& buffers, Random& random)
      : buffers_(&buffers), random_(&random), taken_(buffers.cpus), left_(buffers.cpus) {
    next_window();
  }

  /// Puts the next entry by time into a buffer. Returns the round that is complete, if one is.
  std::optional<Round> add(const Contents::Entry& entry, std::uint64_t time) {
    std::optional<Round> complete;
    if (in_window_ == buffers_->round_samples) {
      complete = std::exchange(taken_, std::exchange(left_, Round(buffers_->cpus)));
      next_window();
    }
    const auto cpu = static_cast<std::size_t>(random_->below(buffers_->cpus));
    // A round takes the entries of a window from before perf gets to the CPU, and those of the
    // previous window from after.
    (in_window_ < reached_[cpu] ? taken_ : left_)[cpu].push_back({entry, time});
    ++in_window_;
    return complete;
  }

  /// Returns the entries left at the end: two rounds.
  std::array<Round, 2> finish() { return {std::move(taken_), std::move(left_)}; }

 private:
  void next_window() {
    in_window_ = 0;
    reached_.clear();
    for (unsigned cpu = 0; cpu < buffers_->cpus; ++cpu) {
      reached_.push_back(random_->below(buffers_->round_samples / 2 + 1));
    }
  }

  const Buffers* buffers_;
  Random* random_;
  std::uint64_t in_window_ = 0;
  /// The number of entries of this window that come before perf gets to a CPU, by CPU.
  std::vector<std::uint64_t> reached_;
  Round taken_, left_;
};

}  // namespace

void Contents::add(std::uint16_t attribute, std::vector<DrawnSample> samples,
                   const LevelModel& level) {
  for (const DrawnSample& sample : samples) {
    auto& list = sample.origin == Origin::before_exec ? before_exec_ : rest_;
    list.push_back({Kind::sample, attribute, sample});
  }
  add_lost(Kind::lost, attribute, level.lost);
  add_lost(Kind::lost_samples, attribute, level.lost_samples);
  for (std::uint64_t i = 0; i < level.throttled; ++i) rest_.push_back({Kind::throttle, attribute});
}

void Contents::add_lost(Kind kind, std::uint16_t attribute, std::uint64_t lost) {
  const std::uint64_t records = std::min(lost, kMostLostRecords);
  for (std::uint64_t i = 0; i < records; ++i) {
    const std::uint64_t here = lost / records + (i < lost % records ? 1 : 0);
    rest_.push_back({kind, attribute, {.address = here}});
  }
}

std::vector<Contents::Entry> Contents::in_order(Random& random) && {
  random.shuffle(before_exec_);
  random.shuffle(rest_);
  std::vector<Entry> all = std::move(before_exec_);
  all.push_back({.kind = Kind::exec});
  all.insert(all.end(), rest_.begin(), rest_.end());
  rest_.clear();
  return all;
}

void write_contents(Contents contents, const std::vector<perfdata::Attribute>& attributes,
                    const TargetMapping& target, const Buffers& buffers, Random& order,
                    Random& buffering, perfdata::RecordingWriter& writer) {
  // The kernel's name of memory that is not mapped from a file.
  static const std::string kAnonymous = "//anon";
  RecordEncoder encoder{attributes, target.data, writer};
  const RecordEncoder::When start{kFirstTime, 0};
  encoder.kernel_mapping(kCodeOfKernel, start);
  encoder.comm(kOtherPid, "other", false, start);
  encoder.mapping(kOtherPid, kCodeOfOther, 0, kAnonymous, {}, start);
  encoder.comm(kTargetPid, "perf-exec", false, start);
  if (contents.has_before_exec()) {
    encoder.mapping(kTargetPid, target.before_exec, 0, kAnonymous, {}, start);
  }

  const auto encode = [&](const Contents::Entry& entry, RecordEncoder::When when) {
    switch (entry.kind) {
      case Contents::Kind::sample:
        return encoder.sample(entry, when);
      case Contents::Kind::lost:
      case Contents::Kind::lost_samples:
        return encoder.lost(entry, when);
      case Contents::Kind::throttle:
        return encoder.throttle(entry, when);
      case Contents::Kind::exec:
        encoder.comm(kTargetPid, target.path.substr(target.path.rfind('/') + 1), true, when);
        return encoder.mapping(kTargetPid, target.code.range, target.code.file_offset, target.path,
                               target.build_id, when);
    }
  };
  std::vector<unsigned> cpus(buffers.cpus);
  std::iota(cpus.begin(), cpus.end(), 0U);
  const auto write_round = [&](const Rounds::Round& round) {
    buffering.shuffle(cpus);
    for (const unsigned cpu : cpus) {
      for (const auto& arrived : round[cpu]) encode(arrived.entry, {arrived.time, cpu});
    }
    if (buffers.finished_round) writer.write_stored(perfdata::PERF_RECORD_FINISHED_ROUND, {});
  };

  Rounds rounds(buffers, buffering);
  std::optional<std::pair<std::uint64_t, std::uint64_t>> sample_time;
  std::uint64_t time = kFirstTime;
  for (const Contents::Entry& entry : std::move(contents).in_order(order)) {
    time += kBetween;
    if (entry.kind == Contents::Kind::sample)
      sample_time = {sample_time ? sample_time->first : time, time};
    if (const auto complete = rounds.add(entry, time)) write_round(*complete);
  }
  for (const auto& round : rounds.finish()) write_round(round);
  writer.finish(sample_time);
}

}  // namespace skid::synth
