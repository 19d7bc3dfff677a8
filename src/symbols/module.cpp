#include "src/symbols/module.h"

#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/file_descriptor.h"
#include "src/symbols/binary_places.h"
#include "src/symbols/elf_file.h"
#include "src/symbols/elf_sections.h"
#include "src/symbols/kernel_module.h"
#include "src/symbols/line_table.h"
#include "src/symbols/location.h"
#include "src/symbols/mini_debug_info.h"
#include "src/symbols/symbol_table.h"

#include <algorithm>
#include <span>

#include <elf.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/auxv.h>
#include <sys/mman.h>

namespace skid::symbols {

namespace {

/// Maximum size of code that is read, because a function of a damaged symbol table can have any
/// size.
constexpr std::uint64_t kMostCodeBytes = std::uint64_t{64} << 20U;

/// Calls `visit(header)` for the sections with code.
template <typename Visit>
void for_each_code_section(const ElfFile& file, Visit visit) {
  constexpr GElf_Xword kCode = SHF_ALLOC | SHF_EXECINSTR;
  for (Elf_Scn* section = elf_nextscn(file.elf(), nullptr); section != nullptr;
       section = elf_nextscn(file.elf(), section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    if ((header.sh_flags & kCode) == kCode) visit(header);
  }
}

bool is_executable(const GElf_Phdr& segment) {
  return (segment.p_flags & PF_X) != 0;
}

bool has_code_in(const ElfFile& file) {
  bool has_code = true;
  for_each_code_section(file, [&](const GElf_Shdr& header) {
    if (header.sh_type == SHT_NOBITS) has_code = false;
  });
  return has_code;
}

/// Returns the size of the vdso's image in bytes. It ends with the page that contains the end of
/// its section headers.
std::size_t image_size(const Elf64_Ehdr& header) {
  constexpr std::size_t kPage = 4096;
  const std::size_t end = header.e_shoff + std::size_t{header.e_shentsize} * header.e_shnum;
  return (end + kPage - 1) / kPage * kPage;
}

}  // namespace

struct Module::Contents {
  Contents(ElfFile opened, BinaryPlaces where, NameStyle names)
      : kernel_module(load_kernel_module(opened)),
        file(kernel_module ? std::move(kernel_module->file) : std::move(opened)),
        places(std::move(where)),
        style(names),
        holds_code(has_code_in(file)) {}

  const ElfFile* debug_file() {
    if (!debug_sought) debug = find_debug_file(file, places);
    debug_sought = true;
    return debug ? &*debug : nullptr;
  }

  const SymbolTable& symbol_table() {
    if (!symbols) {
      const bool is_stripped = !SymbolTable::has_full_table(file);
      const ElfFile* apart = is_stripped ? debug_file() : nullptr;
      if (is_stripped && apart == nullptr) mini = mini_debug_info(file);
      symbols.emplace(file, apart, mini ? &*mini : nullptr, style);
    }
    return *symbols;
  }

  LineTable* line_table() {
    if (!lines_sought) {
      lines = LineTable::open(file);
      if (!lines && debug_file() != nullptr) lines = LineTable::open(*debug_file());
    }
    lines_sought = true;
    return lines ? &*lines : nullptr;
  }

  std::optional<KernelModule> kernel_module;  ///< its file is `file`
  ElfFile file;
  BinaryPlaces places;
  NameStyle style;
  bool holds_code;
  bool debug_sought = false;
  std::optional<ElfFile> debug;
  std::optional<ElfFile> mini;         ///< MiniDebugInfo
  std::optional<SymbolTable> symbols;  ///< its names point into `file`, `debug` or `mini`
  bool lines_sought = false;
  std::optional<LineTable> lines;
};

void Module::Free::operator()(Contents* contents) const noexcept {
  const std::unique_ptr<Contents> freed(contents);
}

Module Module::open(const std::filesystem::path& path, BinaryPlaces places, NameStyle style) {
  auto contents = std::make_unique<Contents>(ElfFile::open(path), std::move(places), style);
  return Module(std::unique_ptr<Contents, Free>(contents.release()));
}

bool Module::has_code() const {
  return contents_->holds_code;
}

const std::string& Module::build_id() const {
  return contents_->file.build_id();
}

std::optional<Arch> Module::arch() const {
  const GElf_Half machine = contents_->file.header().e_machine;
  if (machine == EM_X86_64) return Arch::x86_64;
  return machine == EM_AARCH64 ? std::optional(Arch::aarch64) : std::nullopt;
}

FileIdentity Module::identity() const {
  return identity_of(contents_->file.descriptor());
}

bool Module::is_mapped_as(AddressRange offsets, bool is_whole) const {
  const auto& segments = contents_->file.segments();
  const auto fits_pages_of = [&](std::uint64_t page) {
    const auto down = [page](std::uint64_t bytes) { return bytes / page * page; };
    const auto up = [&](std::uint64_t bytes) { return down(bytes + page - 1); };
    bool begins = false, ends = false;
    for (const GElf_Phdr& segment : segments) {
      if (!is_executable(segment)) continue;
      const std::uint64_t begin = down(segment.p_offset);
      const std::uint64_t end = up(segment.p_offset + segment.p_filesz);
      begins |=
          offsets.begin == begin || (!is_whole && begin < offsets.begin && offsets.begin < end);
      ends |= offsets.end == end || (!is_whole && begin < offsets.end && offsets.end < end);
    }
    const GElf_Phdr &first = segments.front(), &last = segments.back();
    const std::uint64_t in_memory = up(last.p_vaddr + last.p_memsz) - down(first.p_vaddr);
    const bool is_all =
        offsets.begin == down(first.p_offset) &&
        (offsets.size() == in_memory || offsets.end == up(last.p_offset + last.p_filesz));
    return (begins && ends) || is_all;
  };
  if (segments.empty()) return false;
  if (arch() == Arch::x86_64) return fits_pages_of(4096);
  return fits_pages_of(4096) || fits_pages_of(16384) || fits_pages_of(65536);
}

bool Module::is_kernel_module() const {
  return contents_->kernel_module.has_value();
}

const std::vector<AddressRange>& Module::unresolved_fields() const {
  static const std::vector<AddressRange> none;
  return contents_->kernel_module ? contents_->kernel_module->unresolved : none;
}

std::optional<std::uint64_t> Module::address_at(std::uint64_t file_offset) const {
  if (contents_->kernel_module) {
    const bool is_in = file_offset < contents_->kernel_module->code_end;
    return is_in ? std::optional(file_offset) : std::nullopt;
  }
  std::optional<std::uint64_t> address;
  for (const GElf_Phdr& segment : contents_->file.segments()) {
    if (file_offset < segment.p_offset) continue;
    const std::uint64_t in_segment = file_offset - segment.p_offset;
    if (in_segment >= segment.p_filesz) continue;
    if (!address || is_executable(segment)) address = segment.p_vaddr + in_segment;
    if (is_executable(segment)) break;
  }
  return address;
}

std::vector<AddressRange> Module::loaded_ranges(bool writable_too) const {
  std::vector<AddressRange> ranges;
  for (const GElf_Phdr& segment : contents_->file.segments()) {
    const std::uint64_t end = segment.p_vaddr + segment.p_memsz;
    if ((segment.p_flags & PF_W) != 0 && !writable_too) continue;
    if (end > segment.p_vaddr) ranges.push_back({segment.p_vaddr, end});
  }
  return ranges;
}

std::optional<Module::ExecutableMapping> Module::executable_mapping_at(
    std::uint64_t address) const {
  constexpr std::uint64_t kPage = 4096;
  for (const GElf_Phdr& segment : contents_->file.segments()) {
    if (!is_executable(segment) || address < segment.p_vaddr ||
        address - segment.p_vaddr >= segment.p_filesz) {
      continue;
    }
    const std::uint64_t in_page = segment.p_vaddr % kPage;
    const std::uint64_t pages = (in_page + segment.p_filesz + kPage - 1) / kPage;
    const std::uint64_t begin = segment.p_vaddr - in_page;
    return ExecutableMapping{{begin, begin + pages * kPage}, segment.p_offset / kPage * kPage};
  }
  return std::nullopt;
}

std::optional<Function> Module::function_at(std::uint64_t address) const {
  return contents_->symbol_table().function_at(address);
}

std::optional<AddressRange> Module::function_range_at(std::uint64_t address) const {
  return contents_->symbol_table().function_range_at(address);
}

std::vector<Function> Module::functions_named(std::string_view name) const {
  return contents_->symbol_table().functions_named(name);
}

std::vector<std::uint64_t> Module::function_starts() const {
  return contents_->symbol_table().function_starts();
}

std::vector<std::uint64_t> Module::symbol_values() const {
  return contents_->symbol_table().symbol_values();
}

std::optional<AddressRange> Module::section(std::string_view name) const {
  const auto found = section_named(contents_->file, name);
  if (!found) return std::nullopt;
  return AddressRange::of_size(found->header.sh_addr, found->header.sh_size);
}

std::optional<std::uint64_t> Module::value_of(std::string_view name) const {
  return contents_->symbol_table().value_of(name);
}

std::optional<SourceLine> Module::line_at(std::uint64_t address) const {
  LineTable* lines = contents_->line_table();
  if (lines == nullptr) return std::nullopt;
  return lines->line_at(address);
}

std::vector<std::string> Module::inlined_at(std::uint64_t address) const {
  LineTable* lines = contents_->line_table();
  return lines == nullptr ? std::vector<std::string>() : lines->inlined_at(address);
}

bool Module::has_partial_lines() const {
  return contents_->lines && contents_->lines->is_partial();
}

std::vector<AddressRange> Module::executable_ranges() const {
  std::vector<AddressRange> ranges;
  const auto add = [&](std::uint64_t address, std::uint64_t size) {
    const std::uint64_t end = address + size;
    if (end > address)
      ranges.push_back({address, end});  // neither empty nor beyond the last address
  };
  for_each_code_section(contents_->file,
                        [&](const GElf_Shdr& header) { add(header.sh_addr, header.sh_size); });
  if (ranges.empty()) {
    for (const GElf_Phdr& segment : contents_->file.segments()) {
      if (is_executable(segment)) add(segment.p_vaddr, segment.p_filesz);
    }
  }
  std::ranges::sort(ranges, {}, &AddressRange::begin);
  return ranges;
}

std::vector<std::byte> Module::code(AddressRange range) const {
  std::vector<std::byte> bytes;
  if (!has_code()) return bytes;
  for (;;) {
    const std::uint64_t address = range.begin + bytes.size();
    if (address >= range.end || bytes.size() >= kMostCodeBytes) return bytes;
    const auto& segments = contents_->file.segments();
    const auto holder = std::ranges::find_if(segments, [&](const GElf_Phdr& s) {
      return s.p_vaddr <= address && address - s.p_vaddr < s.p_filesz;
    });
    if (holder == segments.end()) return bytes;
    const std::uint64_t in_segment = address - holder->p_vaddr;
    constexpr std::uint64_t kBlock = 65536;  // so that memory grows only with bytes that exist
    const std::uint64_t size = std::min({range.end - address, holder->p_filesz - in_segment,
                                         kMostCodeBytes - bytes.size(), kBlock});
    const std::size_t before = bytes.size();
    bytes.resize(before + static_cast<std::size_t>(size));
    const std::size_t got = read_at(contents_->file.descriptor(), std::span(bytes).subspan(before),
                                    holder->p_offset + in_segment);
    bytes.resize(before + got);
    if (got < size) return bytes;
  }
}

std::optional<Module> running_vdso() {
  static_assert(sizeof(void*) == sizeof(std::uint64_t), "the vdso is assumed to be ELF64");
  const auto address = ::getauxval(AT_SYSINFO_EHDR);  // 0: there is none
  if (address == 0) return std::nullopt;
  // The kernel places an ELF header at this address, which getauxval(3) returns as a number.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(address);

  // libelf reads files, so the image is copied to a file in memory.
  const FileDescriptor file(::memfd_create("vdso", MFD_CLOEXEC));
  try {
    write_all(file, {reinterpret_cast<const char*>(header), image_size(*header)}, "vdso");
    return Module::open(fmt::format("/proc/self/fd/{}", file.get()));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace skid::symbols
