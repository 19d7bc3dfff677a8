#include "src/symbols/binary_places.h"

#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/text.h"
#include "src/symbols/elf_file.h"
#include "src/symbols/symbol_table.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

#include <boost/crc.hpp>
#include <elf.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>

namespace skid {
class FileDescriptor;
}  // namespace skid

namespace skid::symbols {
namespace {

namespace fs = std::filesystem;

/// Whether a text may be a build-id. Recorded ids are untrusted: only hexadecimal digits may become
/// part of a path.
bool is_build_id(std::string_view text) {
  return text.size() > 2 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Returns ".build-id/xx/rest".
fs::path link_of(const std::string& build_id) {
  return fs::path(".build-id") / build_id.substr(0, 2) / build_id.substr(2);
}

std::vector<fs::path> debug_directories_of(const BinaryPlaces& places) {
  std::vector<fs::path> directories = places.debug_directories;
  if (!contains(directories, kDebugDirectory)) {
    directories.emplace_back(kDebugDirectory);
  }
  return directories;
}

/// Opens a file; nullopt if it does not exist or is not ELF.
std::optional<ElfFile> open_if_elf(const fs::path& path) {
  try {
    return ElfFile::open(path);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// Returns the CRC-32 of a whole file, as in .gnu_debuglink.
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

/// Whether `debug` is the debug file of `file`. `expected_checksum`: that in .gnu_debuglink.
bool belongs_to(const ElfFile& file, const ElfFile& debug, std::uint32_t expected_checksum) {
  if (!for_same_machine(file, debug)) return false;
  if (!file.build_id().empty() && !debug.build_id().empty()) {
    return file.build_id() == debug.build_id();
  }
  return checksum(debug.descriptor()) == expected_checksum;
}

/// Returns the files that .gnu_debuglink may mean.
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

std::vector<fs::path> executables_of(const BinaryPlaces& places, const std::string& build_id) {
  std::vector<fs::path> files;
  if (!is_build_id(build_id)) return files;
  if (!places.build_id_cache.empty()) {
    const fs::path link = places.build_id_cache / link_of(build_id);
    files.insert(files.end(), {link / "elf", link / "vdso", link});
  }
  if (!places.debuginfod_cache.empty()) {
    files.push_back(places.debuginfod_cache / build_id / "executable");
  }
  for (const fs::path& directory : debug_directories_of(places)) {
    files.push_back(directory / link_of(build_id));
  }
  return files;
}

std::vector<fs::path> debug_files_of(const BinaryPlaces& places, const std::string& build_id) {
  std::vector<fs::path> files;
  if (!is_build_id(build_id)) return files;
  for (const fs::path& directory : debug_directories_of(places)) {
    fs::path file = directory / link_of(build_id);
    file += ".debug";
    files.push_back(std::move(file));
  }
  if (!places.build_id_cache.empty()) {
    files.push_back(places.build_id_cache / link_of(build_id) / "debug");
  }
  if (!places.debuginfod_cache.empty()) {
    files.push_back(places.debuginfod_cache / build_id / "debuginfo");
  }
  return files;
}

std::vector<fs::path> directories_of(const BinaryPlaces& places) {
  std::vector<fs::path> directories;
  if (!places.build_id_cache.empty()) directories.push_back(places.build_id_cache);
  if (!places.debuginfod_cache.empty()) directories.push_back(places.debuginfod_cache);
  for (fs::path& directory : debug_directories_of(places)) {
    directories.push_back(std::move(directory));
  }
  return directories;
}

namespace {

/// Opens a file with the build-id of `file`; nullopt: it is none.
std::optional<ElfFile> open_same(const fs::path& path, const ElfFile& file) {
  auto same = open_if_elf(path);
  const bool is_same = same && for_same_machine(file, *same) && same->build_id() == file.build_id();
  return is_same ? std::move(same) : std::nullopt;
}

/// Finds the debug file that .gnu_debuglink names.
std::optional<ElfFile> find_linked(const ElfFile& file, const BinaryPlaces& places) {
  GElf_Word expected_checksum = 0;
  const char* link = dwelf_elf_gnu_debuglink(file.elf(), &expected_checksum);
  if (link == nullptr) return std::nullopt;
  const std::string name = link;
  // Only a plain name is allowed: an untrusted file must not choose which files are opened.
  if (name.empty() || name == "." || name == ".." || contains(name, '/')) {
    return std::nullopt;
  }
  for (const fs::path& place : places_of(file.path(), name, places)) {
    auto debug = open_if_elf(place);
    if (debug && belongs_to(file, *debug, expected_checksum)) return debug;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ElfFile> find_debug_file(const ElfFile& file, const BinaryPlaces& places) {
  for (const fs::path& place : debug_files_of(places, file.build_id())) {
    if (auto debug = open_same(place, file)) return debug;
  }
  if (auto debug = find_linked(file, places)) return debug;
  for (const fs::path& place : executables_of(places, file.build_id())) {
    auto whole = open_same(place, file);
    if (whole && SymbolTable::has_full_table(*whole)) return whole;
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
