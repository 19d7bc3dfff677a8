// A target's note and build-id, read from its ELF file and compared with its segments.

#include "runway/note.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/trigger.h"
#include "src/instructions/instruction.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/symbols/elf_file.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <elf.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

namespace skid::runway {

namespace {

namespace fs = std::filesystem;

/// Longer than the notes of any executable; those of core files are longer and not looked at.
constexpr std::uint64_t kLongestNotes = std::uint64_t{1} << 20;

struct Note {
  std::string_view owner;
  std::uint64_t type = 0;
  std::string_view descriptor;
  std::uint64_t offset = 0;  ///< offset of the descriptor in the file
};

/// A file that may be a target, with its program headers.
class TargetFile {
 public:
  explicit TargetFile(const fs::path& path)
      : file_(symbols::ElfFile::open(path)), size_(size_of(file_.descriptor())) {
    const std::size_t declared = header().e_phnum == PN_XNUM ? 0 : header().e_phnum;
    if (segments().size() < declared) {
      throw refuse(header().e_phoff, fmt::format("{} program headers", declared),
                   "as many as the file holds");
    }
  }

  const GElf_Ehdr& header() const noexcept { return file_.header(); }
  const std::string& build_id() const noexcept { return file_.build_id(); }
  const std::vector<GElf_Phdr>& segments() const noexcept { return file_.program_headers(); }

  bool holds(const GElf_Phdr& segment) const noexcept {
    return segment.p_offset <= size_ && segment.p_filesz <= size_ - segment.p_offset;
  }

  /// All notes of all PT_NOTE segments.
  std::vector<Note> notes() const {
    std::vector<Note> notes;
    for (const GElf_Phdr& segment : segments()) {
      if (segment.p_type == PT_NOTE && segment.p_filesz <= kLongestNotes) {
        append_notes(segment, notes);
      }
    }
    return notes;
  }

  InputError refuse(std::optional<std::uint64_t> offset, std::string found, std::string expected,
                    std::string remedy = {}) const {
    return InputError(
        {file_.path().string(), offset, std::move(found), std::move(expected), std::move(remedy)});
  }

 private:
  void append_notes(const GElf_Phdr& segment, std::vector<Note>& notes) const {
    // Multiples of 4 also in segments of alignment 8, which lld makes of all notes of a file. Only
    // NT_GNU_PROPERTY_TYPE_0 is padded to 8, and its size is a multiple of 8 by itself.
    const Elf_Type type = ELF_T_NHDR;
    const auto outside = [&] {
      return refuse(segment.p_offset, fmt::format("notes of {} bytes", segment.p_filesz),
                    "as many as the file holds");
    };
    if (segment.p_filesz == 0) return;
    Elf_Data* const data = elf_getdata_rawchunk(
        file_.elf(), static_cast<std::int64_t>(segment.p_offset), segment.p_filesz, type);
    if (data == nullptr) throw outside();
    const std::string_view bytes(static_cast<const char*>(data->d_buf), data->d_size);
    std::size_t at = 0;
    while (at < bytes.size()) {
      GElf_Nhdr note;
      std::size_t name = 0;
      std::size_t descriptor = 0;
      const std::size_t next = gelf_getnote(data, at, &note, &name, &descriptor);
      if (next == 0) {
        throw refuse(segment.p_offset + at, "a note that is cut short",
                     fmt::format("one that ends by offset {:#x}", segment.p_offset + bytes.size()));
      }
      std::string_view owner = bytes.substr(name, note.n_namesz);
      if (owner.ends_with('\0')) owner.remove_suffix(1);
      notes.push_back({owner, note.n_type, bytes.substr(descriptor, note.n_descsz),
                       segment.p_offset + descriptor});
      at = next;
    }
  }

  symbols::ElfFile file_;
  std::uint64_t size_;
};

/// Compares the note with the file; a Layout that passes is safe to compute with.
class LayoutCheck {
 public:
  LayoutCheck(const TargetFile& file, const TargetDescription& description, std::uint64_t offset)
      : file_(file),
        specification_(description.specification),
        layout_(description.layout),
        offset_(offset) {}

  void operator()() const {
    check_machine();
    const Layout& layout = layout_;
    const std::vector<TriggerBlock> trigger_blocks = layout.trigger_blocks();
    std::vector<std::uint64_t> addresses{layout.loop.begin, layout.lead_in.begin};
    for (const TriggerBlock& block : trigger_blocks) {
      addresses.insert(addresses.end(),
                       {block.trigger.begin, block.runway.begin, block.runway.end});
    }
    addresses.push_back(layout.loop.end);
    require_ordered(addresses);
    require_size("lead-in", layout.lead_in, nop_bytes(specification_.lead_in_nops));
    for (std::size_t i = 0; i < trigger_blocks.size(); ++i) {
      require_size("runway", trigger_blocks[i].runway, nop_bytes(runway_nops(specification_, i)));
      check_trigger(trigger_blocks[i].trigger);
    }
    check_other_triggers(trigger_blocks);
    if (!lies_in(PF_X, layout.loop.begin, layout.loop.size(), /*in_file=*/true)) {
      throw refuse(fmt::format("a loop at {:#x} to {:#x}", layout.loop.begin, layout.loop.end),
                   "one inside an executable segment that the file holds");
    }
    if (!lies_in(PF_W, layout.datum, specification_.access_bytes, /*in_file=*/false)) {
      throw refuse(fmt::format("a datum at {:#x}", layout.datum),
                   "one inside a writable segment that the file holds");
    }
  }

 private:
  void check_machine() const {
    const GElf_Ehdr& header = file_.header();
    const auto machine = specification_.arch == Arch::x86_64 ? EM_X86_64 : EM_AARCH64;
    if (header.e_type != ET_EXEC || header.e_machine != machine ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
      throw refuse(
          fmt::format("ELF type {} for machine {}", header.e_type, header.e_machine),
          fmt::format("a 64-bit little-endian executable for {}", name_of(specification_.arch)));
    }
  }

  void require_ordered(const std::vector<std::uint64_t>& addresses) const {
    const auto disorder = std::ranges::is_sorted_until(addresses);
    if (disorder == addresses.end()) return;
    throw refuse(fmt::format("{:#x} after {:#x}", *disorder, *std::prev(disorder)),
                 "loop, lead-in, triggers, runways and their ends in ascending order");
  }

  std::uint64_t nop_bytes(std::uint64_t nops) const { return nops * specification_.nop_bytes; }

  void require_size(std::string_view what, const AddressRange& range, std::uint64_t bytes) const {
    if (range.size() == bytes) return;
    throw refuse(fmt::format("a {} of {} bytes", what, range.size()), fmt::format("{}", bytes));
  }

  void check_trigger(const AddressRange& trigger) const {
    const std::uint64_t size = trigger.size();
    const bool one = specification_.arch == Arch::aarch64
                         ? size == 4
                         : size >= 1 && size <= instructions::kLongestInstruction;
    if (!one) throw refuse(fmt::format("a trigger of {} bytes", size), "one instruction");
  }

  void check_other_triggers(const std::vector<TriggerBlock>& trigger_blocks) const {
    const auto disjoint = [](const AddressRange& other, std::uint64_t begin, std::uint64_t end) {
      return other.end <= begin || end <= other.begin;
    };
    for (const AddressRange& other : layout_.other_triggers) {
      const bool inside = other.begin < other.end && layout_.loop.begin <= other.begin &&
                          other.end <= layout_.loop.end;
      const bool apart = disjoint(other, layout_.lead_in.begin, layout_.lead_in.end) &&
                         std::ranges::all_of(trigger_blocks, [&](const TriggerBlock& block) {
                           return disjoint(other, block.trigger.begin, block.runway.end);
                         });
      if (!inside || !apart) {
        throw refuse(fmt::format("another trigger at {:#x} to {:#x}", other.begin, other.end),
                     "one inside the loop and outside lead-in, triggers and runways");
      }
    }
  }

  /// Whether `size` bytes at `address` are in one loaded segment with that permission.
  bool lies_in(GElf_Word permission, std::uint64_t address, std::uint64_t size,
               bool in_file) const {
    return std::ranges::any_of(file_.segments(), [&](const GElf_Phdr& segment) {
      const std::uint64_t bytes = in_file ? segment.p_filesz : segment.p_memsz;
      return segment.p_type == PT_LOAD && (segment.p_flags & permission) != 0 &&
             file_.holds(segment) && address >= segment.p_vaddr &&
             address - segment.p_vaddr <= bytes && size <= bytes - (address - segment.p_vaddr);
    });
  }

  InputError refuse(const std::string& found, std::string expected) const {
    return file_.refuse(offset_, "a skidscan note with " + found, std::move(expected),
                        "build the target again");
  }

  const TargetFile& file_;
  const Specification& specification_;
  const Layout& layout_;
  std::uint64_t offset_;
};

}  // namespace

std::optional<Target> read_target(const fs::path& path) {
  const TargetFile file(path);
  const std::vector<Note> notes = file.notes();
  const auto note = std::ranges::find_if(
      notes, [](const Note& one) { return one.owner == kNoteOwner && one.type == kNoteType; });
  if (note == notes.end()) return std::nullopt;

  Target target;
  target.path = path;
  target.description = parse_note(note->descriptor, path, note->offset);
  LayoutCheck(file, target.description, note->offset)();
  target.build_id = file.build_id();
  if (target.build_id.empty()) {
    throw file.refuse({}, "a target without build-id", "one with it", "build the target again");
  }
  return target;
}

Target require_target(const fs::path& path) {
  std::optional<Target> target = read_target(path);
  if (target) return *std::move(target);
  throw InputError({.file = path.string(),
                    .found = "an ELF file without a skidscan note",
                    .expected = "a target that skidscan built",
                    .remedy = "build one with skidscan target"});
}

}  // namespace skid::runway
