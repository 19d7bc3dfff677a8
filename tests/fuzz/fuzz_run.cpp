// The tar file of a run, whose headers get the right sums, and its description.
#include "src/run/packed_run.h"
#include "src/run/run.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <span>
#include <string>

#include <fmt/format.h>

namespace skid::fuzz {
namespace {

std::string with_sums(std::string tar) {
  constexpr std::size_t kBlock = 512, kSum = 148, kDigits = 6, kEnd = 8, kMagic = 257;
  for (std::size_t at = 0; at + kBlock <= tar.size(); at += kBlock) {
    if (tar.compare(at + kMagic, 5, "ustar") != 0) continue;
    const auto header = std::next(tar.begin(), static_cast<std::ptrdiff_t>(at));
    std::fill_n(header + kSum, kEnd, ' ');
    const auto sum = std::accumulate(header, header + kBlock, 0U, [](unsigned total, char byte) {
      return total + static_cast<unsigned char>(byte);
    });
    std::ranges::copy(fmt::format("{:0{}o}", sum, kDigits), header + kSum);
  }
  return tar;
}

}  // namespace

void use(std::span<const std::uint8_t> input) {
  namespace fs = std::filesystem;
  const test::MemoryFile file(with_sums(std::string(text_of(input))));
  if (!run::is_packed_run(file.path())) return;
  const run::UnpackedRun unpacked(file.path());
  for (const auto& entry : fs::directory_iterator(unpacked.path())) {
    require(fs::is_regular_file(entry.symlink_status()));
    require(entry.file_size() <= input.size());
  }
  const run::Run run = run::read_run(unpacked.path());
  const std::string description = run::description_of(run);
  run::write_run(run, unpacked.path());
  require(run::description_of(run::read_run(unpacked.path())) == description);
}

}  // namespace skid::fuzz
