// Makes the long recordings for bench/speed.py from a short cpu-clock recording of
// tests/support/classic.c. See usage() for the kinds; bench/README.md describes their purposes.
#include "bench/perf_file.h"
#include "src/perfdata/format.h"
#include "src/support/error.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <zstd.h>

namespace skid::bench {
namespace {

using namespace skid::perfdata;

constexpr std::uint64_t kPlainSample = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
constexpr unsigned kCompressedFeature = 27;  // HEADER_COMPRESSED
constexpr std::size_t kHeader = 8;
constexpr std::size_t kMiscOffset = 4;
constexpr std::uint16_t kUserMode = 2;

std::string record_of(std::uint32_t type, std::uint16_t misc, std::string_view body) {
  std::string record;
  put(record, type);
  put(record, misc);
  put(record, static_cast<std::uint16_t>(kHeader + body.size()));
  record += body;
  return record;
}

/// The short recording: one event whose samples have the plain layout, 32 bytes each.
struct Template {
  PerfFile file;
  std::vector<std::string_view> samples;  ///< records, in file order
  std::uint64_t span = 0;                 ///< ns by which a repetition is later than the one before

  explicit Template(const std::filesystem::path& path) : file(read_perf_file(path)) {
    if (file.events.size() != 1 || file.events[0].sample_type() != kPlainSample) {
      throw Error("template: wanted one event with sample_type IP|TID|TIME");
    }
    for_each_record(file.records, [this](std::uint32_t type, std::string_view record) {
      if (type == PERF_RECORD_SAMPLE) samples.push_back(record);
    });
    if (samples.size() < 1000) throw Error("template: wanted a thousand samples or more");
    std::uint64_t first = time_of(samples.front());
    std::uint64_t last = first;
    for (const auto sample : samples) {
      first = std::min(first, time_of(sample));
      last = std::max(last, time_of(sample));
    }
    span = last - first + 1;
  }

  static constexpr std::size_t kIp = kHeader, kTime = kHeader + 16;
  static std::uint64_t time_of(std::string_view sample) {
    return number_at<std::uint64_t>(sample, kTime);
  }

  /// Feature sections, without those whose bit is in `dropped`.
  FeatureSections features_without(std::initializer_list<unsigned> dropped) const {
    FeatureSections kept;
    for (const auto& section : file.features) {
      if (std::find(dropped.begin(), dropped.end(), section.first) == dropped.end()) {
        kept.push_back(section);
      }
    }
    return kept;
  }
};

/// Writes the template's records, its samples passed through `remake(sample, shift)` and repeated
/// until there are `wanted`. Times go on increasing; the ends of processes come last.
template <typename Remake>
void repeat(const Template& source, std::uint64_t wanted, PerfFileWriter& out, Remake remake) {
  std::vector<std::string> ends;
  std::uint64_t written = 0;
  for_each_record(source.file.records, [&](std::uint32_t type, std::string_view record) {
    if (type == PERF_RECORD_EXIT) {
      ends.emplace_back(record);
    } else if (type != PERF_RECORD_SAMPLE) {
      out.append(record);
    } else if (written < wanted) {
      out.append(remake(record, 0));
      ++written;
    }
  });
  std::uint64_t shift = 0;
  while (written < wanted) {
    shift += source.span;
    for (std::size_t i = 0; i < source.samples.size() && written < wanted; ++i, ++written) {
      out.append(remake(source.samples[i], shift));
    }
    // As perf does now and then, so that readers that sort by time need not hold everything.
    out.append(record_of(PERF_RECORD_FINISHED_ROUND, 0, {}));
  }
  for (std::string& end : ends) {
    constexpr std::size_t kTaskTime = kHeader + 16;
    const std::size_t trailer_time = end.size() - sizeof(std::uint64_t);
    for (const std::size_t offset : {kTaskTime, trailer_time}) {
      set_number(end, offset, number_at<std::uint64_t>(end, offset) + shift);
    }
    out.append(end);
  }
}

void make_uniform(const Template& source, std::uint64_t samples, const char* path) {
  PerfFileWriter out(path, source.file.events, source.features_without({HEADER_SAMPLE_TIME}));
  std::string copy;
  repeat(source, samples, out, [&copy](std::string_view sample, std::uint64_t shift) {
    copy = sample;
    set_number(copy, Template::kTime, Template::time_of(sample) + shift);
    return std::string_view(copy);
  });
  out.finish();
}

/// Samples with a list after the plain fields: 0 to `most` entries of `words` u64 each.
void make_with_lists(const Template& source, std::uint64_t samples, const char* path,
                     std::uint64_t bit, unsigned most, unsigned words) {
  auto events = source.file.events;
  events[0].set_sample_type(kPlainSample | bit);
  if (bit == PERF_SAMPLE_BRANCH_STACK) {
    constexpr std::uint64_t kUserBranches = 1U << 0U | 1U << 3U;  // USER | ANY
    events[0].set_branch_sample_type(kUserBranches);
  }
  // HEADER_EVENT_DESC repeats the attribute that was just changed.
  PerfFileWriter out(path, events,
                     source.features_without({HEADER_EVENT_DESC, HEADER_SAMPLE_TIME}));
  std::mt19937_64 random(1);
  std::string copy;
  repeat(source, samples, out, [&](std::string_view sample, std::uint64_t shift) {
    const auto entries = static_cast<std::uint64_t>(random() % (most + 1));
    copy = sample;
    set_number(copy, Template::kTime, Template::time_of(sample) + shift);
    put(copy, entries);
    const auto ip = number_at<std::uint64_t>(sample, Template::kIp);
    for (std::uint64_t i = 0; i < entries * words; ++i) put(copy, ip + i);
    set_number(copy, 6, static_cast<std::uint16_t>(copy.size()));
    return std::string_view(copy);
  });
  out.finish();
}

/// The executable mapping of `path` in the template, and the sampled offsets in it, ascending.
struct MappedProgram {
  std::string record;  ///< PERF_RECORD_MMAP2
  std::vector<std::uint64_t> offsets;
};

MappedProgram find_program_in(const Template& source, std::string_view path) {
  constexpr std::size_t kAddress = kHeader + 8, kLength = kHeader + 16, kPath = kHeader + 64;
  MappedProgram program;
  for_each_record(source.file.records, [&](std::uint32_t type, std::string_view record) {
    if (type != PERF_RECORD_MMAP2 || record.size() <= kPath + path.size()) return;
    if (record.substr(kPath, path.size()) == path && record[kPath + path.size()] == '\0') {
      program.record = record;
    }
  });
  if (program.record.empty()) throw Error(fmt::format("template: {} is not mapped in it", path));
  const auto begin = number_at<std::uint64_t>(program.record, kAddress);
  const auto length = number_at<std::uint64_t>(program.record, kLength);
  std::set<std::uint64_t> offsets;
  for (const auto sample : source.samples) {
    const auto ip = number_at<std::uint64_t>(sample, Template::kIp);
    if (ip >= begin && ip - begin < length) offsets.insert(ip - begin);
  }
  program.offsets.assign(offsets.begin(), offsets.end());
  return program;
}

/// 8 events distinguished by PERF_SAMPLE_IDENTIFIER, 500 processes of one program at different
/// addresses, 200 instructions sampled in each, in random order.
void make_many(const Template& source, std::string_view program_path, std::uint64_t samples,
               const char* path) {
  constexpr std::size_t kEvents = 8, kProcesses = 500, kPlaces = 200;
  constexpr std::int32_t kFirstPid = 10'000;
  constexpr std::uint64_t kFirstAddress = 0x5555'0000'0000, kStride = 0x1234'5000;
  constexpr std::uint64_t kFirstId = 100, kStart = 1'000'000'000, kBetween = 500;  // ns
  const MappedProgram program = find_program_in(source, program_path);
  if (program.offsets.size() < kPlaces)
    throw Error("template: expected at least 200 sampled instructions");

  std::vector<Event> events;
  for (std::size_t i = 0; i < kEvents; ++i) {
    Event event = source.file.events[0];
    event.set_sample_type(kPlainSample | PERF_SAMPLE_IDENTIFIER);
    set_number<std::uint32_t>(event.attribute, 0, PERF_TYPE_RAW);
    set_number<std::uint64_t>(event.attribute, 8, 0xc0 + i);
    event.ids = {kFirstId + i};
    events.push_back(std::move(event));
  }
  PerfFileWriter out(path, events,
                     source.features_without({HEADER_EVENT_DESC, HEADER_SAMPLE_TIME}));

  const auto base_of = [](std::size_t process) { return kFirstAddress + process * kStride; };
  for (std::size_t process = 0; process < kProcesses; ++process) {
    const auto pid = kFirstPid + static_cast<std::int32_t>(process);
    std::string trailer;  // struct sample_id: pid, tid, time, identifier
    put(trailer, pid);
    put(trailer, pid);
    put<std::uint64_t>(trailer, kStart);
    put<std::uint64_t>(trailer, kFirstId);
    std::string comm;
    put(comm, pid);
    put(comm, pid);
    comm += std::string("classic\0", 8);
    out.append(record_of(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, comm + trailer));

    constexpr std::size_t kOldTrailer = 16;  // pid, tid, time
    std::string mapping = program.record.substr(kHeader);
    mapping.resize(mapping.size() - kOldTrailer);
    set_number(mapping, 0, pid);
    set_number(mapping, 4, pid);
    set_number(mapping, 8, base_of(process));
    const auto misc = number_at<std::uint16_t>(program.record, kMiscOffset);
    out.append(record_of(PERF_RECORD_MMAP2, misc, mapping + trailer));
  }

  std::mt19937_64 random(1);
  std::string sample = record_of(PERF_RECORD_SAMPLE, kUserMode, std::string(32, '\0'));
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t choice = random() % (kEvents * kProcesses * kPlaces);
    const std::size_t event = choice % kEvents;
    const std::size_t process = choice / kEvents % kProcesses;
    const std::size_t place = choice / kEvents / kProcesses * program.offsets.size() / kPlaces;
    const auto pid = kFirstPid + static_cast<std::int32_t>(process);
    set_number(sample, kHeader, kFirstId + event);
    set_number(sample, kHeader + 8, base_of(process) + program.offsets[place]);
    set_number(sample, kHeader + 16, pid);
    set_number(sample, kHeader + 20, pid);
    set_number(sample, kHeader + 24, kStart + 1 + i * kBetween);
    out.append(sample);
  }
  out.finish();
}

/// A recording of all processes, over and over: each copy begins where the one before
/// ends, and has process numbers of its own, so that forks, execs and mappings grow with samples.
void make_system(const char* from, std::uint64_t samples, const char* path) {
  constexpr std::int32_t kPids = 1 << 22;  // PID_MAX_LIMIT of Linux
  PerfFile file = read_perf_file(from);
  constexpr std::uint64_t kType = kPlainSample | PERF_SAMPLE_ID | PERF_SAMPLE_CPU;
  for (const Event& event : file.events) {  // the second only has the mappings of all processes
    if (event.sample_type() != kType) {
      throw Error("template: wanted events with sample_type IP|TID|TIME|ID|CPU");
    }
  }
  const auto time_at = [](std::uint32_t type, std::string_view record) {
    constexpr std::size_t kFromEnd = 24;  // time, id, CPU
    return type == PERF_RECORD_SAMPLE ? Template::kTime : record.size() - kFromEnd;
  };
  std::uint64_t first = UINT64_MAX, last = 0;
  for_each_record(file.records, [&](std::uint32_t type, std::string_view record) {
    if (type != PERF_RECORD_SAMPLE) return;
    first = std::min(first, Template::time_of(record));
    last = std::max(last, Template::time_of(record));
  });
  if (last == 0) throw Error("template: wanted samples");

  std::erase_if(file.features,
                [](const auto& section) { return section.first == HEADER_SAMPLE_TIME; });
  PerfFileWriter out(path, file.events, file.features);
  std::uint64_t written = 0;
  std::string copy;
  for (std::int32_t number = 0; written < samples; ++number) {
    const auto shift_pid = [&](std::size_t at) {
      const auto pid = number_at<std::int32_t>(copy, at);
      if (pid > 0) set_number(copy, at, pid + number * kPids);  // neither the kernel nor the idle
    };
    for_each_record(file.records, [&](std::uint32_t type, std::string_view record) {
      if (type >= PERF_RECORD_HEADER_ATTR) {  // without a trailer
        if (type == PERF_RECORD_FINISHED_ROUND) out.append(record);
        return;
      }
      const bool is_sample = type == PERF_RECORD_SAMPLE;
      if (is_sample && written == samples) return;
      if (is_sample) ++written;
      copy = record;
      const std::size_t time = time_at(type, record);
      const std::uint64_t shift = static_cast<std::uint64_t>(number) * (last - first + 1);
      set_number(copy, time, number_at<std::uint64_t>(copy, time) + shift);
      shift_pid(time - 8);
      shift_pid(time - 4);
      const bool is_task = type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT;
      if (is_task || type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2 ||
          type == PERF_RECORD_COMM) {
        const std::size_t numbers = is_task ? 4 : 2;
        for (std::size_t i = 0; i < numbers; ++i) shift_pid(kHeader + 4 * i);
      }
      out.append(copy);
    });
  }
  out.finish();
}

/// The records of another recording as perf record -z writes them: one zstd stream, flushed at the
/// end of each piece that was taken from the kernel's buffer, cut into records. The stream alone
/// goes to `stream_path`.
void make_compressed(const char* from, const char* path, const char* stream_path) {
  constexpr std::uint32_t kVersion = 1, kZstd = 1, kLevel = 1, kBufferBytes = 528'384;
  constexpr std::size_t kPiece = kBufferBytes / 4;
  constexpr std::size_t kMostPayload = 65'528 - kHeader;
  PerfFile file = read_perf_file(from);
  std::string compression;
  for (const auto value : {kVersion, kZstd, kLevel, std::uint32_t{5}, kBufferBytes}) {
    put(compression, value);
  }
  const auto next = std::find_if(file.features.begin(), file.features.end(),
                                 [](const auto& f) { return f.first > kCompressedFeature; });
  file.features.emplace(next, kCompressedFeature, compression);

  PerfFileWriter out(path, file.events, file.features);
  std::ofstream stream(stream_path, std::ios::binary);
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  std::string payload(kMostPayload, '\0');
  std::string_view left = file.records;
  while (!left.empty()) {
    const auto piece = left.substr(0, kPiece);
    left.remove_prefix(piece.size());
    ZSTD_inBuffer input{piece.data(), piece.size(), 0};
    std::size_t unflushed = 1;
    while (unflushed > 0) {
      ZSTD_outBuffer output{payload.data(), payload.size(), 0};
      unflushed = ZSTD_compressStream2(context.get(), &output, &input, ZSTD_e_flush);
      if (ZSTD_isError(unflushed) != 0) throw Error(ZSTD_getErrorName(unflushed));
      const std::string_view compressed(payload.data(), output.pos);
      if (compressed.empty()) continue;
      out.append(record_of(PERF_RECORD_COMPRESSED, 0, compressed));
      stream << compressed;
    }
  }
  out.finish();
  // perf never ends the frame; zstd -dc expects its end.
  ZSTD_inBuffer nothing{nullptr, 0, 0};
  ZSTD_outBuffer output{payload.data(), payload.size(), 0};
  ZSTD_compressStream2(context.get(), &output, &nothing, ZSTD_e_end);
  stream.write(payload.data(), static_cast<std::streamsize>(output.pos));
  stream.close();
  if (!stream) throw Error(fmt::format("{}: cannot be written", stream_path));
}

int usage() {
  std::fputs(
      "usage: make_recordings uniform TEMPLATE SAMPLES OUT\n"
      "       make_recordings many TEMPLATE SAMPLES OUT PROGRAM   (PROGRAM: as mapped in "
      "TEMPLATE)\n"
      "       make_recordings system SYSTEM-WIDE-TEMPLATE SAMPLES OUT\n"
      "       make_recordings mixed|branches TEMPLATE SAMPLES OUT\n"
      "       make_recordings zstd RECORDING OUT STREAM\n",
      stderr);
  return 64;
}

int run(const std::vector<const char*>& arguments) {
  if (arguments.size() < 4) return usage();
  const std::string_view kind = arguments[0];
  if (kind == "zstd") {
    make_compressed(arguments[1], arguments[2], arguments[3]);
    return 0;
  }
  std::uint64_t samples = 0;
  const std::string_view count = arguments[2];
  if (std::from_chars(count.data(), count.data() + count.size(), samples).ec != std::errc{}) {
    return usage();
  }
  const char* const out = arguments[3];
  if (kind == "system") {
    make_system(arguments[1], samples, out);
    return 0;
  }
  const Template source(arguments[1]);
  if (kind == "uniform") {
    make_uniform(source, samples, out);
  } else if (kind == "mixed") {
    make_with_lists(source, samples, out, PERF_SAMPLE_CALLCHAIN, 64, 1);
  } else if (kind == "branches") {
    make_with_lists(source, samples, out, PERF_SAMPLE_BRANCH_STACK, 32, 3);
  } else if (kind == "many" && arguments.size() == 5) {
    make_many(source, arguments[4], samples, out);
  } else {
    return usage();
  }
  return 0;
}

}  // namespace
}  // namespace skid::bench

int main(int argc, char** argv) {
  try {
    return skid::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_recordings: %s\n", error.what());
    return 1;
  }
}
