// A small program as an ELF file, and recordings with samples in it.
#pragma once

#include "src/perfdata/bytes.h"
#include "src/support/address.h"
#include "tests/support/ibs_to_build.h"
#include "tests/support/recorded_program.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

namespace skid::fuzz {

using perfdata::ByteOrder;
using perfdata::ByteWriter;

/// A function symbol: offset and size in the code, in bytes.
struct FunctionSymbol {
  std::uint16_t begin = 0, size = 0;
};

/// Where the code is linked to and mapped, and where it is in the file.
inline constexpr std::uint64_t kLinkedTo = 0x400000, kCodeOffset = 0x1000;
inline constexpr std::uint64_t kCode = kLinkedTo + kCodeOffset;
/// What the breakpoint of the recordings watches.
inline constexpr std::uint64_t kWatched = 0x404040;
inline constexpr std::string_view kBuildId = "0123456789abcdef0123";

/// An ELF file with `code` as its .text, the functions f0, f1, … and kBuildId.
inline std::string elf_file(Arch arch, std::span<const std::uint8_t> code,
                            const std::vector<FunctionSymbol>& functions) {
  const auto bytes_of = [](const auto& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  std::string file(kCodeOffset, '\0');
  file.append(reinterpret_cast<const char*>(code.data()), code.size());
  std::string names(1, '\0'), symbols = bytes_of(Elf64_Sym{});
  for (std::size_t i = 0; i < functions.size(); ++i) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(names.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_value = kCode + functions[i].begin;
    symbol.st_size = functions[i].size;
    symbols += bytes_of(symbol);
    names += 'f' + std::to_string(i) + '\0';
  }
  const Elf64_Nhdr note_header{4, static_cast<Elf64_Word>(kBuildId.size()), NT_GNU_BUILD_ID};
  const std::string note = bytes_of(note_header) + std::string("GNU\0", 4) + std::string(kBuildId);
  const std::string section_names("\0.text\0.symtab\0.strtab\0.shstrtab\0.note", 39);

  Elf64_Ehdr header{.e_type = ET_EXEC, .e_version = EV_CURRENT};
  std::copy_n(ELFMAG, SELFMAG, header.e_ident);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_machine = arch == Arch::x86_64 ? EM_X86_64 : EM_AARCH64;
  header.e_ehsize = header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 6;
  header.e_shstrndx = 4;

  std::string sections = bytes_of(Elf64_Shdr{});
  const auto append = [&](Elf64_Word name, Elf64_Word type, const std::string& content) {
    Elf64_Shdr section{};
    section.sh_name = name;
    section.sh_type = type;
    section.sh_offset = file.size();
    section.sh_size = content.size();
    section.sh_addralign = 1;
    if (type == SHT_SYMTAB) {
      section.sh_link = 3;
      section.sh_info = 1;
      section.sh_entsize = sizeof(Elf64_Sym);
    }
    file += content;
    sections += bytes_of(section);
  };
  const Elf64_Shdr text{.sh_name = 1,
                        .sh_type = SHT_PROGBITS,
                        .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                        .sh_addr = kCode,
                        .sh_offset = kCodeOffset,
                        .sh_size = code.size(),
                        .sh_addralign = 1};
  sections += bytes_of(text);
  append(7, SHT_SYMTAB, symbols);
  append(15, SHT_STRTAB, names);
  append(23, SHT_STRTAB, section_names);
  file.resize((file.size() + 3) & ~std::size_t{3});
  append(33, SHT_NOTE, note);
  Elf64_Phdr load{};
  load.p_type = PT_LOAD;
  load.p_flags = PF_R | PF_X;
  load.p_vaddr = load.p_paddr = kLinkedTo;
  load.p_filesz = load.p_memsz = kCodeOffset + code.size();
  load.p_align = 0x1000;
  header.e_shoff = file.size();
  file += sections;
  const std::string start = bytes_of(header) + bytes_of(load);
  std::copy(start.begin(), start.end(), file.begin());
  return file;
}

/// Stores to what recordings watch, with a branch back now and then.
struct StoringProgram {
  std::vector<std::uint8_t> code;
  std::vector<std::size_t> after_stores;  ///< offsets

  StoringProgram() {
    constexpr std::array<std::uint8_t, 8> kStore{0x48, 0x89, 0x04, 0x25, 0x40, 0x40, 0x40, 0x00};
    constexpr std::array<std::uint8_t, 2> kBranch{0x75, 0xf6};  // to the store before
    for (int i = 0; i < 16; ++i) {
      code.insert(code.end(), kStore.begin(), kStore.end());
      after_stores.push_back(code.size());
      if (i % 8 == 7) code.insert(code.end(), kBranch.begin(), kBranch.end());
    }
    code.push_back(0xc3);
  }
};

/// The bytes of a recording with a sample at each offset in `size` bytes of code, of each of four
/// events: loads at level 2 with branch records, loads at level 1 with registers and deferred call
/// chains, a breakpoint on writes, and IBS.
/// `branches`: bytes that choose sources and targets, and what IBS recorded.
inline std::string recording_of(Arch arch, std::size_t size,
                                const std::vector<std::size_t>& offsets,
                                std::span<const std::uint8_t> branches) {
  constexpr std::uint64_t kContextUser = static_cast<std::uint64_t>(-512);
  constexpr std::uint64_t kUserDeferred = static_cast<std::uint64_t>(-640);
  constexpr std::uint64_t kFields =
      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  const test::EventToBuild load{.type = PERF_TYPE_RAW,
                                .config = 0x81d0,
                                .period = 1009,
                                .sample_type = kFields,
                                .precise_ip = 1,
                                .ids = {101}};
  test::EventToBuild with_branches = load;
  with_branches.sample_type |= PERF_SAMPLE_BRANCH_STACK;
  with_branches.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
  with_branches.precise_ip = 2;
  with_branches.ids = {100};
  test::EventToBuild with_chain = load;
  with_chain.sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER;
  with_chain.sample_regs_user = 0x101;  // AX, IP
  const test::EventToBuild write{.type = PERF_TYPE_BREAKPOINT,
                                 .config = 0,
                                 .config1 = kWatched,
                                 .config2 = 8,
                                 .breakpoint_type = 2,  // writes
                                 .period = 1009,
                                 .sample_type = kFields,
                                 .ids = {102}};
  constexpr std::uint32_t kIbsOp = 11;
  const test::EventToBuild ibs{.type = kIbsOp,
                               .config = 0,
                               .sample_type = kFields | PERF_SAMPLE_RAW,
                               .precise_ip = 2,
                               .ids = {103}};
  test::RecordingBuilder builder;
  const bool is_x86 = arch == Arch::x86_64;
  builder.feature(perfdata::HEADER_VERSION, builder.writer().counted_text("6.1.0").bytes());
  test::name_machine(is_x86 ? "x86_64" : "aarch64",
                     is_x86 ? "GenuineIntel,6,94,3" : "0x00000000410fd0c0", builder);
  builder.feature(perfdata::HEADER_PMU_MAPPINGS,
                  builder.writer().u32(1).u32(kIbsOp).counted_text("ibs_op").bytes());
  auto mapping = builder.writer();
  mapping.i32(1).i32(1).u64(kLinkedTo).u64((kCodeOffset + size + 0xfff) & ~std::size_t{0xfff});
  mapping.u64(0).u8(20).u8(0).u16(0).raw(kBuildId);
  mapping.u32(5).u32(2).text("/program").i32(1).i32(1).u64(1).u64(100);
  builder.record(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID,
                 mapping.bytes());
  std::uint64_t time = 2;
  for (const test::EventToBuild& event : {with_branches, with_chain, write, ibs}) {
    builder.event(event);
    const bool is_exact = event.precise_ip == 2;
    for (const std::size_t at : offsets) {
      const auto chosen = [&](std::size_t number) {
        const std::size_t byte = branches.empty() ? 0 : (at * 8 + number) % branches.size();
        return kCode + (branches.empty() ? 0 : branches[byte]) * size / 256;
      };
      test::SampleToBuild sample{.ip = kCode + at, .id = event.ids.front(), .time = time++};
      if (!is_exact) sample.misc = PERF_RECORD_MISC_USER;
      if (event.type == kIbsOp) {
        const test::IbsToBuild operation{.rip = sample.ip,
                                         .data = chosen(0) << 34,
                                         .data3 = chosen(1) * 0x9e3779b97f4a7c15,
                                         .target = chosen(2)};
        sample.raw = operation.bytes();
      }
      for (std::size_t i = 0; i < 8; i += 2) sample.branches.push_back({chosen(i), chosen(i + 1)});
      sample.registers = {chosen(0), sample.ip};
      sample.chain = {kUserDeferred, sample.time};
      test::add_sample(sample, event, builder);
      if ((event.sample_type & PERF_SAMPLE_CALLCHAIN) == 0) continue;
      auto deferred = builder.writer();
      deferred.u64(sample.time).u64(3).u64(kContextUser).u64(sample.ip).u64(chosen(0));
      deferred.i32(1).i32(1).u64(time++).u64(sample.id);
      builder.record(perfdata::PERF_RECORD_CALLCHAIN_DEFERRED, PERF_RECORD_MISC_USER,
                     deferred.bytes());
    }
  }
  return builder.bytes();
}

}  // namespace skid::fuzz
