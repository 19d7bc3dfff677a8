// Writes the recording that a placement (placement.h) describes.
// usage: place_samples PLACES.json RECORDING [-z] [--pipe]
#include "src/perfdata/recording_writer.h"
#include "tests/support/placement.h"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <nlohmann/json.hpp>

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  try {
    const std::filesystem::path source = argv[1];
    skid::perfdata::WritingChoices choices;
    for (int i = 3; i < argc; ++i) {
      if (std::string_view(argv[i]) == "-z") choices.compression = 1;
      if (std::string_view(argv[i]) == "--pipe") choices.pipe = true;
    }
    std::ifstream file(source);
    skid::test::write_placement(nlohmann::json::parse(file), source.parent_path(), argv[2],
                                choices);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "place_samples: %s\n", error.what());
    return 1;
  }
  return 0;
}
