// Writes the recording that a placement (placement.h) describes, and its truth beside it.
// usage: place_samples PLACES.json RECORDING [-z] [--pipe]
#include "src/perfdata/recording_writer.h"
#include "src/support/file.h"
#include "src/support/file_descriptor.h"
#include "src/support/staged_file.h"
#include "tests/support/placement.h"

#include <exception>

int main(int argc, char** argv) {
  using namespace skid;
  if (argc < 3) return 64;
  try {
    const std::filesystem::path source = argv[1];
    const std::filesystem::path recording = argv[2];
    perfdata::WritingChoices choices;
    for (int i = 3; i < argc; ++i) {
      if (std::string_view(argv[i]) == "-z") choices.compression = 1;
      if (std::string_view(argv[i]) == "--pipe") choices.pipe = true;
    }
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 26;
    const auto placement =
        test::parse_placement(read_file(source, kMostBytes), source.parent_path());
    FileDescriptor file(::open(recording.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    const auto truth = test::write_placement(placement, std::move(file), recording, choices);
    write_file_atomically(recording.string() + ".truth.json",
                          test::placement_truth_json(placement, recording.string(), truth));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "place_samples: %s\n", error.what());
    return 1;
  }
  return 0;
}
