#include "src/symbols/debug_file.h"

#include "src/support/error.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <boost/crc.hpp>
#include <elfutils/libdwelf.h>

namespace skid::symbols {

namespace {

namespace fs = std::filesystem;

/// Opens a file that need not be there nor be ELF.
std::optional<ElfFile> open_if_elf(const fs::path& path) {
  try {
    return ElfFile::open(path);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// The CRC-32 of a whole file, as in .gnu_debuglink.
std::uint32_t checksum(const FileDescriptor& file) {
  boost::crc_32_type crc;
  std::array<std::byte, 65536> block;
  std::uint64_t offset = 0;
  while (const std::size_t size = read_at(file, block, offset)) {
    crc.process_bytes(block.data(), size);
    offset += size;
  }
  return crc.checksum();
}

bool for_same_machine(const ElfFile& a, const ElfFile& b) {
  return a.header().e_machine == b.header().e_machine &&
         a.header().e_ident[EI_CLASS] == b.header().e_ident[EI_CLASS] &&
         a.header().e_ident[EI_DATA] == b.header().e_ident[EI_DATA];
}

bool belongs_to(const ElfFile& file, const ElfFile& debug, std::uint32_t expected_checksum) {
  if (!for_same_machine(file, debug)) return false;
  if (!file.build_id().empty() && !debug.build_id().empty()) {
    return file.build_id() == debug.build_id();
  }
  return checksum(debug.descriptor()) == expected_checksum;
}

std::vector<fs::path> places_of(const fs::path& file, const std::string& link_name,
                                const BinaryPlaces& places) {
  std::error_code failure;
  const fs::path directory = fs::canonical(file, failure).parent_path();
  if (failure) return {};
  std::vector<fs::path> found = {directory / link_name, directory / ".debug" / link_name};
  for (const fs::path& debug_directory : places.debug_directories) {
    found.push_back(debug_directory / directory.relative_path() / link_name);
  }
  found.push_back(kDebugDirectory / directory.relative_path() / link_name);
  return found;
}

}  // namespace

std::optional<ElfFile> find_debug_file(const ElfFile& file, const BinaryPlaces& places) {
  for (const fs::path& place : debug_files_of(places, file.build_id())) {
    auto debug = open_if_elf(place);
    if (debug && for_same_machine(file, *debug) && debug->build_id() == file.build_id()) {
      return debug;
    }
  }
  GElf_Word expected_checksum = 0;
  const char* link = dwelf_elf_gnu_debuglink(file.elf(), &expected_checksum);
  if (link == nullptr) return std::nullopt;
  const std::string name = link;
  // Only a name is allowed: a file from elsewhere must not choose what else is opened.
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) {
    return std::nullopt;
  }
  for (const fs::path& place : places_of(file.path(), name, places)) {
    auto debug = open_if_elf(place);
    if (debug && belongs_to(file, *debug, expected_checksum)) return debug;
  }
  return std::nullopt;
}

std::optional<ElfFile> find_shared_debug_file(const ElfFile& file, const char* name,
                                              const std::string& build_id) {
  std::vector<fs::path> places = debug_files_of({}, build_id);

  if (places.empty()) return std::nullopt;  // no build-id
  std::error_code failure;
  const fs::path directory = fs::canonical(file.path(), failure).parent_path();
  const fs::path named = fs::weakly_canonical(directory / name, failure);
  if (!failure && named.string().starts_with(std::string(kDebugDirectory) + '/')) {
    places.push_back(named);
  }
  for (const fs::path& place : places) {
    auto shared = open_if_elf(place);
    if (shared && shared->build_id() == build_id) return shared;
  }
  return std::nullopt;
}

}  // namespace skid::symbols
