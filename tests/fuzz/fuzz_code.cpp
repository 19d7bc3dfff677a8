// Code that was sampled, with any symbols: through `audit`, `correct` and `annotate`. The input:
// flags, the command and the number of symbols in a byte, their begins and sizes in 16 bits each,
// the code.
#include "src/audit/audit.h"
#include "src/correct/correct.h"
#include "src/correct/correction.h"
#include "src/listing/reader.h"
#include "src/locate/module_store.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/measure.h"
#include "src/support/address.h"
#include "tests/fuzz/sampled_program.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

namespace {

using namespace skid;

constexpr std::size_t kSamples = 8;  // of an event, about
constexpr std::size_t kMostSymbols = 16;

template <typename Counts>
std::uint64_t sum_of(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void audit_it(const measure::Source& source, const measure::ReadingChoices& reading,
              std::uint8_t flags) {
  audit::Choices choices;
  static_cast<measure::ReadingChoices&>(choices) = reading;
  choices.all = (flags & 2) != 0;
  if ((flags & 4) != 0) choices.delay = flags >> 4U;
  for (const auto& event : audit::audit(source, choices).events) {
    fuzz::require(event.judged + sum_of(event.not_judged) == event.samples);
  }
}

void correct_it(const measure::Source& source, const measure::ReadingChoices& reading,
                std::uint8_t flags) {
  correct::Choices choices;
  static_cast<measure::ReadingChoices&>(choices) = reading;
  choices.by = static_cast<correct::By>((flags >> 4U) % 3);
  for (const auto& event : correct::correct(source, choices).events) {
    if (!is_corrected(event.skid.verdict)) continue;
    std::uint64_t recorded = 0, corrected = 0;
    for (const auto& place : event.places) {
      fuzz::require(place.low <= place.corrected && place.corrected <= place.high);
      recorded += place.recorded;
      corrected += place.corrected;
    }
    fuzz::require(recorded == event.samples && corrected == event.samples);
  }
}

void annotate_it(const measure::Source& source, const measure::ReadingChoices& reading) {
  locate::ModuleStore modules(reading.places);
  listing::Reader reader({reading, "f0"}, modules);
  reader.add(source);
  reader.finish();
}

}  // namespace

void skid::fuzz::use(std::span<const std::uint8_t> input) {
  if (input.size() < 2) return;
  const std::uint8_t flags = input[0];
  std::span<const std::uint8_t> rest = input.subspan(2);
  std::vector<FunctionSymbol> symbols;
  while (symbols.size() < input[1] % kMostSymbols && rest.size() >= 4) {
    const auto number = [&](std::size_t at) {
      return static_cast<std::uint16_t>(rest[at] | rest[at + 1] << 8U);
    };
    symbols.push_back({number(0), number(2)});
    rest = rest.subspan(4);
  }
  const Arch arch = (flags & 1) != 0 ? Arch::aarch64 : Arch::x86_64;
  const test::MemoryFile program(elf_file(arch, rest, symbols));
  std::vector<std::size_t> offsets;
  for (std::size_t at = 0; at < rest.size();
       at += std::max<std::size_t>(1, rest.size() / kSamples)) {
    offsets.push_back(at);
  }
  const test::MemoryFile recording(recording_of(arch, rest.size(), offsets, rest));
  static const auto catalogues = std::make_shared<measure::Catalogues>();
  measure::ReadingChoices reading;
  reading.catalogues = catalogues;
  reading.places.candidates = {program.path()};
  const measure::Source source{.file = recording.path()};
  // One command at a time: more executions.
  const auto command = input[1] / kMostSymbols % 4;
  if (command == 0) correct_it(source, reading, flags);
  if (command == 1) annotate_it(source, reading);
  if (command >= 2) audit_it(source, reading, flags);
}
