// A recording of a known program, through `audit` and `correct -o`: what is written is read again.
#include "src/audit/audit.h"
#include "src/correct/correct.h"
#include "src/support/error.h"
#include "tests/fuzz/sampled_program.h"

#include <cstdlib>
#include <memory>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace skid;
  static const auto catalogues = std::make_shared<measure::Catalogues>();
  static const fuzz::MemoryFile program = [] {
    const auto code = fuzz::StoringProgram().code;
    fuzz::MemoryFile file;
    const auto size = static_cast<std::uint16_t>(code.size());
    file.write(fuzz::elf_file(Arch::x86_64, code, {{0, size}, {82, 82}}));
    return file;
  }();
  static const std::filesystem::path output =
      "/dev/shm/skidscan-fuzz-" + std::to_string(::getpid()) + ".data";
  const fuzz::MemoryFile recording(data, size);
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
      return 0;
    }
    if (std::filesystem::file_size(output) < size) std::abort();
    try {  // what was corrected once is refused, and nothing else is wrong with it
      corrected.output.clear();
      correct::correct(measure::Source{.file = output}, corrected);
      std::abort();
    } catch (const InputError&) {
    }
    const auto after = audit::audit(measure::Source{.file = output}, audited);
    if (after.events.size() != before.events.size()) std::abort();
    for (std::size_t i = 0; i < after.events.size(); ++i) {
      if (after.events[i].samples != before.events[i].samples) std::abort();
    }
    std::filesystem::remove(output);
  } catch (const Error&) {  // an expected refusal
  }
  return 0;
}
