#include "src/commands/distinct_recordings.h"

#include "analysis/event_identity.h"
#include "analysis/measurement.h"
#include "analysis/merge.h"
#include "analysis/part.h"
#include "src/machine/cpu_identity.h"
#include "src/measure/measure.h"
#include "src/support/error.h"
#include "src/support/hash.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace skid::commands {
namespace {

std::string machine_of(const machine::CpuIdentity& cpu, const std::string& kernel) {
  return fmt::format("{} {} {} {} {}", cpu.vendor, cpu.family.value_or(0), cpu.model.value_or(0),
                     cpu.stepping.value_or(0), kernel);
}

}  // namespace

void DistinctRecordings::add(const analysis::Measurement& measurement, std::size_t input) {
  const analysis::EventIdentity& event = measurement.event;
  const std::string what =
      fmt::format("{} {:x} {:x} {:x} {} {}, {}", event.type, event.config, event.config1,
                  event.config2, excluded_modes(event), measurement.precise.recorded,
                  machine_of(measurement.cpu, measurement.kernel));
  for (const analysis::Part& part : analysis::parts_of(measurement)) {
    if (part.samples > 0) add(part, measurement.synthetic, what, input);
  }
}

void DistinctRecordings::add(const measure::RecordingSummary& recording, std::size_t input) {
  add({recording.run, recording.file, 1, 0, recording.time}, recording.synthetic,
      machine_of(recording.cpu, recording.kernel), input);
}

void DistinctRecordings::add(const analysis::Part& part, bool synthetic, const std::string& what,
                             std::size_t input) {
  if (inputs_.size() < 2) return;
  std::vector<std::string> keys;
  if (part.time && !synthetic) {
    keys.push_back(
        fmt::format("{} to {}: {} {}", part.time->first, part.time->last, part.samples, what));
  } else if (part.file != "-") {
    std::error_code ignored;
    const auto path = std::filesystem::weakly_canonical(part.file, ignored).string();
    keys.push_back(fmt::format("{}: {} {}", path, part.samples, what));
    if (const auto contents = contents_of(path)) {
      keys.push_back(fmt::format("{:x}: {} {}", *contents, part.samples, what));
    }
  }
  for (const std::string& key : keys) {
    const auto [first, is_new] = seen_.emplace(key, input);
    if (is_new || first->second == input) continue;
    throw Error(
        "{} and {}: both contain the recording {}, whose samples would count twice; leave "
        "one out{}",
        inputs_[first->second], inputs_[input], part.file, remedy_);
  }
}

std::optional<std::uint64_t> DistinctRecordings::contents_of(const std::string& path) {
  const auto [known, is_new] = contents_.try_emplace(path);
  std::error_code ignored;
  if (!is_new || !std::filesystem::is_regular_file(path, ignored)) return known->second;
  std::ifstream file(path, std::ios::binary);
  std::uint64_t hash = 0;
  std::array<char, 1U << 16> bytes{};
  while (file.read(bytes.data(), bytes.size()) || file.gcount() > 0) {
    const auto size = static_cast<std::size_t>(file.gcount());
    for (std::size_t i = 0; i < size; i += sizeof hash) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, std::min(sizeof word, size - i));
      hash = hashed(word, hash);
    }
    hash = hashed(size, hash);
  }
  if (file.eof()) known->second = hash;
  return known->second;
}

}  // namespace skid::commands
