// A recording of a known program, through `audit` and `correct -o`: what is written is read again.
#include "src/audit/audit.h"
#include "src/correct/correct.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/measure.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "tests/fuzz/sampled_program.h"
#include "tests/fuzz/target.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include <unistd.h>

void skid::fuzz::use(std::span<const std::uint8_t> input) {
  static const auto catalogues = std::make_shared<measure::Catalogues>();
  static const auto code = StoringProgram().code;
  static const test::MemoryFile program(
      elf_file(Arch::x86_64, code, {{0, static_cast<std::uint16_t>(code.size())}, {82, 82}}));
  static const std::filesystem::path output =
      "/dev/shm/skidscan-fuzz-" + std::to_string(::getpid()) + ".data";
  const test::MemoryFile recording(text_of(input));
  const measure::Source source{.file = recording.path()};
  measure::ReadingChoices reading;
  reading.catalogues = catalogues;
  reading.places.candidates = {program.path()};
  audit::Choices audited;
  correct::Choices corrected;
  static_cast<measure::ReadingChoices&>(audited) = reading;
  static_cast<measure::ReadingChoices&>(corrected) = reading;
  corrected.output = output;
  try {
    const auto before = correct::correct(source, corrected);
    if (!before.is_written) {
      audit::audit(source, audited);
      return;
    }
    require(std::filesystem::file_size(output) >= input.size());
    try {  // what was corrected once is refused, and nothing else is wrong with it
      corrected.output.clear();
      correct::correct(measure::Source{.file = output}, corrected);
      std::abort();
    } catch (const InputError&) {
    }
    const auto after = audit::audit(measure::Source{.file = output}, audited);
    require(after.events.size() == before.events.size());
    for (std::size_t i = 0; i < after.events.size(); ++i) {
      require(after.events[i].samples == before.events[i].samples);
    }
    std::filesystem::remove(output);
  } catch (const Error&) {  // an expected refusal
  }
}
