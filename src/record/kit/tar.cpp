// The ustar format (POSIX.1-2017, pax, "ustar Interchange Format"): for each file a header block
// with its numbers in octal, then its content up to a multiple of a block.

#include "src/record/kit/kit.h"
#include "src/support/error.h"

#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace skid::kit {

namespace {

using std::string_view_literals::operator""sv;

constexpr std::size_t kBlock = 512, kTarRecord = 20 * kBlock;
constexpr std::size_t kNameBytes = 100, kOwnerNames = 64, kChecksumAt = 148, kChecksumBytes = 8;
constexpr char kRegularFile = '0', kDirectory = '5';

void pad_to_multiple(std::string& bytes, std::size_t of) {
  bytes.resize((bytes.size() + of - 1) / of * of);
}

std::string header_of(std::string_view name, char type, unsigned mode, std::size_t size) {
  if (name.size() > kNameBytes) {
    throw Error(fmt::format("{}: {} bytes long; a tar has names of at most {} bytes", name,
                            name.size(), kNameBytes));
  }
  constexpr std::string_view kZero = "000000 \0"sv;  // user, group, numbers of a device
  std::string header(name);
  pad_to_multiple(header, kNameBytes);
  header += fmt::format("{:06o} \0{}{}{:011o} {:011o} "sv, mode, kZero, kZero, size, 0);
  header.append(kChecksumBytes, ' ');
  header += type;
  header.append(kNameBytes, '\0');  // the name of a link
  header += "ustar\00000"sv;
  header.append(kOwnerNames, '\0').append(kZero).append(kZero);
  pad_to_multiple(header, kBlock);
  const unsigned sum = std::accumulate(header.begin(), header.end(), 0U, [](unsigned all, char c) {
    return all + static_cast<unsigned char>(c);
  });
  return header.replace(kChecksumAt, kChecksumBytes, fmt::format("{:06o}\0 "sv, sum));
}

}  // namespace

std::string tar_of(const std::vector<File>& files, std::string_view top) {
  std::string tar = header_of(fmt::format("{}/", top), kDirectory, kExecutable, 0);
  for (const File& file : files) {
    tar += header_of(fmt::format("{}/{}", top, file.name), kRegularFile, mode_of(file),
                     file.content.size());
    tar += file.content;
    pad_to_multiple(tar, kBlock);
  }
  tar.append(2 * kBlock, '\0');
  pad_to_multiple(tar, kTarRecord);
  return tar;
}

}  // namespace skid::kit
