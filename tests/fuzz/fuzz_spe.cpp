// The AUX data of an SPE event: packets, records, and the samples that are made of them. The first
// byte decides how it was recorded.
#include "src/perfdata/spe_record.h"
#include "tests/fuzz/read_recording.h"
#include "tests/fuzz/target.h"
#include "tests/support/spe_to_build.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace skid::fuzz {
namespace {

/// Each packet ends within the data, and all of them together are the data.
void check_packets(std::span<const std::byte> area) {
  std::uint64_t offset = 0;
  while (!area.empty()) {
    const auto packet = perfdata::parse_spe_packet(area, offset);
    require(packet.size > 0 && packet.size <= area.size());
    area = area.subspan(packet.size);
    offset += packet.size;
  }
}

}  // namespace

void use(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  const unsigned how = input[0];
  const auto area = text_of(input.subspan(1));
  check_packets(std::as_bytes(std::span(area)));
  test::SpeRecording built({.big_endian = (how & 1) != 0,
                            .has_times = (how & 2) == 0,
                            .cpuid = (how & 4) != 0 ? "0x413fd0c1" : "",
                            .version = (how & 8) != 0 ? 2 : 1});
  built.comm(7, 7, 1).fork(7, 8, 2).map(7, 0x400000, 0x10000, "/bin/x", 3);
  if ((how & 2) == 0) built.switch_in(7, 8, 10, 0);
  const std::string_view first = area.substr(0, area.size() / 2);
  built.trace(test::SpePackets().raw(first), 0, (how & 2) != 0 ? 7 : -1);
  built.trace(test::SpePackets().raw(area.substr(first.size())), 0, (how & 2) != 0 ? 7 : -1);
  const test::MemoryFile file(built.finished().bytes());
  auto recording = perfdata::Recording::open(file.path());
  perfdata::Record record;
  std::uint64_t samples = 0;
  while (recording.next(record)) {
    if (!recording.is_in_trace()) continue;
    ++samples;
    const auto sample = recording.decode(record);
    require(sample.has_value());
    const auto details = recording.decoder().details(record, *sample);
    require(details.has_value());
    const auto spe = perfdata::parse_spe_record(details->raw);
    require(spe && spe->pc == sample->ip);
    require(spe->data_address.value_or(0) == sample->addr);
    require_no_control_characters(operation_text(*spe) + events_text(*spe));
  }
  require(recording.hardware_trace().spe.records == samples);
  auto again = perfdata::Recording::open(file.path());
  read_digest(again);
}

}  // namespace skid::fuzz
