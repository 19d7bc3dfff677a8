// Reads everything in a recording, as the commands do.
#pragma once

#include "src/locate/digest.h"
#include "src/locate/place_counter.h"
#include "src/locate/replay.h"
#include "src/machine/diagnosis.h"
#include "src/perfdata/format.h"
#include "src/perfdata/ibs_record.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/spe_record.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include <fmt/format.h>

namespace skid::fuzz {

/// The sum of some bytes: reads each of them, so that a sanitizer detects those out of bounds.
inline std::uint64_t touch(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (const auto byte : bytes) sum += std::to_integer<std::uint64_t>(byte);
  return sum;
}

/// Every record and every sample with its details.
inline std::uint64_t read_records(perfdata::Recording& recording) {
  std::uint64_t sum = 0;
  perfdata::Record record;
  while (recording.next(record)) {
    sum += touch(record.body);
    if (record.type != PERF_RECORD_SAMPLE) continue;
    const auto& decoder = recording.decoder();
    const auto decoded = decoder.decode(record);
    if (decoded.problem != perfdata::SampleDecoder::Problem::none) continue;
    const auto details = decoder.details(record, decoded.sample);
    if (!details) continue;
    for (const auto bytes : {details->callchain, details->raw, details->branch_stack,
                             details->user_registers, details->interrupt_registers}) {
      sum += touch(bytes);
    }
    const auto operation = perfdata::parse_ibs_record(details->raw, decoder.order());
    if (operation) sum += operation->width;
    const auto tagged = perfdata::parse_spe_record(details->raw);
    if (tagged) sum += operation_text(*tagged).size() + events_text(*tagged).size();
  }
  for (const auto& fault : recording.faults()) sum += describe(fault).size();
  return sum;
}

/// The contents of a digest as text.
inline std::string read_digest(perfdata::Recording& recording,
                               const locate::DigestSetup& setup = {}) {
  const auto digest = locate::digest(recording, setup);
  std::map<std::string, std::uint64_t> places;
  digest.located.for_each([&](const locate::LocatedSamples& located) {
    std::string place =
        fmt::format("{:x} {} {}", located.ip, located.attribute, located.kind.bits());
    if (located.location) {
      place += fmt::format(" {}+{:x}", digest.spaces.file(located.location->file).path,
                           located.location->offset);
    }
    places[place] += located.samples;
  });
  std::string words;
  for (const auto& [place, samples] : places) words += fmt::format("{}: {}\n", place, samples);
  for (const auto& totals : digest.totals) {
    words += fmt::format("event: {} {}\n", totals.samples, totals.period_sum);
  }
  words += fmt::format("lost {} {}, throttled {}, unknown {}\n", digest.lost_records,
                       digest.lost_samples, digest.throttled, digest.unknown_ids);
  for (const auto& fault : recording.faults()) words += describe(fault) + '\n';
  return words;
}

}  // namespace skid::fuzz
