// Third-party recordings, which are not part of this project.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace skid::test {

/// Their directory: SKIDSCAN_RECORDINGS of the environment, or next to the checkout.
inline std::filesystem::path recordings_directory() {
  const char* named = std::getenv("SKIDSCAN_RECORDINGS");
  return named != nullptr ? std::filesystem::path(named)
                          : std::filesystem::path(SKIDSCAN_TEST_DATA) / "../../shared/recordings";
}

/// Why they cannot be read here; empty if they can.
inline std::string why_no_recordings() {
  if (std::filesystem::exists(recordings_directory() / "EXPECTED.tsv")) return {};
  return "no recordings in " + recordings_directory().string() +
         " (name their directory in SKIDSCAN_RECORDINGS)";
}

}  // namespace skid::test
