// Forged recordings of SPE, read as perf reads them: every packet as 'perf script -D' prints it,
// and each record as the sample of the event "instructions" that 'perf script --itrace=i1i' makes.
#include "src/perfdata/sample.h"
#include "src/perfdata/spe_record.h"
#include "src/support/process.h"
#include "src/support/text.h"
#include "tests/support/facts.h"
#include "tests/support/recording_test.h"
#include "tests/support/spe_to_build.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace skid::perfdata {
namespace {

using test::SpePackets;
using test::SpeRecording;
using Lines = std::vector<std::string>;

/// Describes a packet as perf does; empty for padding, which perf prints several bytes at a time.
std::string words_of(const SpePacket& packet) {
  using Type = SpePacket::Type;
  SpeRecord record;
  record.add(packet);
  const std::uint64_t payload = packet.payload;
  constexpr std::uint64_t kLow = (1ULL << 56) - 1;
  switch (packet.type) {
    case Type::end:
      return "END";
    case Type::timestamp:
      return fmt::format("TS {}", payload);
    case Type::operation: {
      std::string words = operation_text(record);
      // Words of later versions of perf.
      for (const std::string word : {" MTE-TAG", " MEMCPY", " MEMSET"}) {
        if (words.ends_with(word)) words.resize(words.size() - word.size());
      }
      return words;
    }
    case Type::events: {
      std::string words = "EV";
      std::istringstream events(events_text(record));
      // perf does not name bits that it does not know.
      for (std::string one; std::getline(events, one, '|');) {
        if (!one.starts_with("bit")) words += ' ' + one;
      }
      return words;
    }
    case Type::data_source:
      return fmt::format("DATA-SOURCE {}", payload);
    case Type::context:
      return fmt::format("CONTEXT {:#x} el{}", payload, packet.index + 1);
    case Type::counter: {
      constexpr std::array<const char*, 3> kNames{"TOT", "ISSUE", "XLAT"};
      return fmt::format("LAT {} {}", payload, packet.index < 3 ? kNames.at(packet.index) : "");
    }
    case Type::address:
      if (packet.index < 2) {
        return fmt::format("{} {:#x} el{} ns={}", packet.index == 0 ? "PC" : "TGT", payload & kLow,
                           payload >> 61 & 3, payload >> 63);
      }
      if (packet.index == 2) return fmt::format("VA {:#x}", payload);
      return fmt::format("PA {:#x} ns={} ch={} pat={:x}", payload & kLow, payload >> 63,
                         payload >> 62 & 1, payload >> 56 & 0xf);
    default:
      return {};
  }
}

Lines words_of(const std::string& area) {
  Lines words;
  for (auto rest = std::as_bytes(std::span(area)); !rest.empty();) {
    const SpePacket packet = parse_spe_packet(rest, area.size() - rest.size());
    if (const auto text = words_of(packet); !text.empty()) words.push_back(text);
    rest = rest.subspan(packet.size);
  }
  return words;
}

/// The packets that perf prints: ".  00000030:  71 64 00 …   TS 100".
Lines words_of_perf(const std::filesystem::path& path) {
  Lines words;
  for (const std::string& line :
       test::lines_of(run_program({"perf", "script", "-D", "-i", path.string()}).out)) {
    constexpr std::size_t kWords = 13 + 3 * 16;
    const bool is_packet = line.starts_with(".  ") && line.size() > kWords && line[11] == ':' &&
                           line.compare(12, 2, "  ") == 0;
    if (!is_packet || line.compare(kWords, 1, " ") != 0) continue;
    const auto word = line.substr(kWords + 1);
    if (word != "PAD") words.push_back(word);
  }
  return words;
}

/// "7/8 0 100 7f001234 488100442 17 401000 0": the fields that both readers have.
Lines fields_of(Recording& recording, bool has_times) {
  Lines lines;
  Record record;
  while (recording.next(record)) {
    if (record.type != PERF_RECORD_SAMPLE) continue;
    const Sample sample = recording.decode(record).value();
    auto details = recording.decoder().details(record, sample).value();
    auto spe = parse_spe_record(details.raw).value();
    if (operation_text(spe).starts_with("SVE-OTHER")) {
      // perf 6.1 takes it for a load: ARM_SPE_OP_SVE_OTHER and ARM_SPE_OP_LD are the same bit.
      spe.operation = SpeOperation{SpeOperation::Class::load_store, 0};
      details.data_source =
          data_source_of(spe, hexadecimal_number(recording.features().cpuid).value());
    }
    lines.push_back(fmt::format("{}/{} {} {:x} {:x} {} {:x} {:x}", sample.pid, sample.tid,
                                has_times ? fmt::format("[{:03}] {}", sample.cpu, sample.time) : "",
                                sample.addr, details.data_source, details.weight, sample.ip,
                                details.physical_address));
  }
  std::ranges::sort(lines);
  return lines;
}

/// The same of perf's samples. `left_out`: those at address 0, which are of no whole record.
Lines fields_of_perf(const std::filesystem::path& path, bool has_times, std::size_t& left_out) {
  const std::string common = "pid,tid,ip,addr,weight,data_src,phys_addr";
  Lines lines;
  for (const std::string& line :
       test::lines_of(run_program({"perf", "script", "-i", path.string(), "--itrace=i1i", "--ns",
                                   "-F", common + (has_times ? ",cpu,time" : "")})
                          .out)) {
    std::istringstream words(line);
    std::string task, cpu, time, address, source, weight, physical, ip;
    words >> task;
    if (has_times) words >> cpu >> time;
    words >> address >> source;
    const auto rest = Lines(std::istream_iterator<std::string>(words), {});
    if (rest.size() < 3) continue;
    weight = rest[rest.size() - 3];
    ip = rest[rest.size() - 2];
    physical = rest.back();
    if (ip == "0") {
      ++left_out;
      continue;
    }
    if (has_times) {
      const auto dot = time.find('.');
      time = std::to_string(std::stoull(time.substr(0, dot)) * 1'000'000'000 +
                            std::stoull(time.substr(dot + 1, 9)));
    }
    lines.push_back(fmt::format("{} {} {} {} {} {} {}", task,
                                has_times ? cpu + " " + time : std::string(), address, source,
                                weight, ip, physical));
  }
  std::ranges::sort(lines);
  return lines;
}

/// Makes random records of all packets.
class RandomRecords {
 public:
  explicit RandomRecords(unsigned seed) : random_(seed) {}

  /// A number from 0 to `most`.
  template <typename Number = std::uint32_t>
  Number number(Number most) {
    return static_cast<Number>(random_() % (std::uint64_t{most} + 1));
  }
  std::uint8_t byte() { return number<std::uint8_t>(255); }
  bool is(unsigned percent) { return number(99U) < percent; }
  std::uint64_t address() {
    return is(30) ? 0xffff'8000'0000'0000 | random_() >> 24 : random_() >> 20;
  }

  /// `has_times`: without, a record can end without a timestamp.
  void add_record(std::optional<std::uint32_t> thread, bool has_times, std::uint64_t time,
                  SpePackets& packets) {
    const std::uint64_t pc = address() | 4;
    packets.pc(pc, pc >> 63 != 0 ? 1 + number(1U) : 0);
    if (is(20)) packets.padding(number(20U));
    const unsigned kind = number(3U);
    if (kind == 0) packets.other(byte());
    if (kind == 1) packets.load(byte());
    if (kind == 2) packets.branch(byte()).target(address(), number(2U));
    const unsigned bytes = 1U << number(3U);
    if (is(90))
      packets.events(random_() & (bytes == 8 ? UINT64_MAX : (1ULL << 8 * bytes) - 1), bytes);
    if (kind == 1 && is(90)) packets.data(random_());
    if (kind == 1 && is(30)) packets.physical(random_() >> 8);
    if (kind == 1 && is(60)) packets.source(is(80) ? number(15U) : number(255U), 1 + number(1U));
    for (std::uint8_t index = 0; index < 3; ++index) {
      if (is(80)) packets.latency(index, static_cast<std::uint16_t>(random_()));
    }
    if (is(10)) packets.raw("\x21\x98\x12\x34");
    if (thread) packets.context(*thread, is(50) ? 1 : 2);
    if (has_times || is(50)) {
      packets.timestamp(time);
    } else {
      packets.end();
    }
  }

 private:
  std::mt19937_64 random_;
};

class SpeAgainstPerf : public test::RecordingTest,
                       public ::testing::WithParamInterface<unsigned> {};

TEST_P(SpeAgainstPerf, EachPacketAndEachFieldAreEqual) {
  SKIP_WITHOUT("perf");
  const unsigned seed = GetParam();
  RandomRecords random(seed);
  constexpr std::array<const char*, 4> kCpus{"0x413fd0c1", "0x411fd490", "0x411fd401",
                                             "0x481fd010"};
  const bool has_times = seed % 4 != 3, has_contexts = seed % 2 == 0;
  SpeRecording built({.big_endian = seed % 10 == 6,
                      .has_times = has_times,
                      .cpuid = kCpus.at(random.number(3U)),
                      .shift = 10,
                      .multiplier = 40960,
                      .zero = 5'000'000});
  built.comm(7, 7, 0).fork(7, 8, 0).comm(9, 9, 0);
  Lines words;
  const unsigned buffers = 1 + random.number(3U);
  std::uint64_t counter = 1'000'000;
  for (unsigned buffer = 0; buffer < buffers; ++buffer) {
    SpePackets packets;
    const unsigned cpu = has_times ? random.number(2U) : 0;
    for (std::uint64_t record = random.number(40U); record > 0; --record) {
      counter += 2 + random.number(1000U);
      if (has_times && !has_contexts && random.is(10)) {
        const std::int32_t tid = 7 + static_cast<std::int32_t>(random.number(2U));
        // Times of the kernel are between those of records.
        built.switch_in(tid == 8 ? 7 : tid, tid, 5'000'000 + (counter - 1) * 40, cpu);
      }
      random.add_record(has_contexts && has_times
                            ? std::optional<std::uint32_t>(7 + random.number(2U))
                            : std::nullopt,
                        has_times, counter, packets);
    }
    std::string area = packets.bytes();
    area.resize((area.size() + 7) / 8 * 8, '\0');
    const Lines more = words_of(area);
    words.insert(words.end(), more.begin(), more.end());
    built.trace(packets, cpu, has_times ? -1 : 7 + static_cast<std::int32_t>(buffer % 2));
  }
  auto recording = open(built.finished());
  const test::TemporaryDirectory directory;
  built.finished().write(directory / "perf.data");
  std::size_t left_out = 0;
  EXPECT_EQ(fields_of(recording, has_times),
            fields_of_perf(directory / "perf.data", has_times, left_out));
  // Without times, perf makes a sample of each buffer before it decodes the first record.
  EXPECT_EQ(left_out, has_times ? 0 : std::min(buffers, 2U));
  EXPECT_TRUE(recording.faults().empty());
  const Lines printed = words_of_perf(directory / "perf.data");
  if (words == printed) return;
  const auto [ours, theirs] = std::ranges::mismatch(words, printed);
  ADD_FAILURE() << words.size() << ", " << printed.size() << ": "
                << (ours != words.end() ? *ours : "end") << ", "
                << (theirs != printed.end() ? *theirs : "end");
}

INSTANTIATE_TEST_SUITE_P(Forged, SpeAgainstPerf, ::testing::Range(0U, 40U));

}  // namespace
}  // namespace skid::perfdata
