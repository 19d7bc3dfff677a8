// What the tests of the runway share: directories to build in, and access to the code of targets.
#pragma once

#include "runway/specification.h"
#include "runway/target.h"
#include "runway/trigger.h"
#include "src/support/address.h"
#include "src/support/file.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/trigger_kinds.h"

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <elf.h>

namespace skid::runway {

using Directory = test::TemporaryDirectory;

#if defined(__aarch64__)
inline constexpr Arch kHost = Arch::aarch64;
#else
inline constexpr Arch kHost = Arch::x86_64;
#endif

inline Specification specification_of(TriggerKind trigger, Arch arch = kHost) {
  return default_specification(arch, trigger);
}

/// The compiler that targets for `arch` are built with here.
inline std::string compiler_of(Arch arch) {
  return arch == kHost ? "cc" : std::string(name_of(arch)) + "-linux-gnu-gcc";
}

#define SKIP_WITHOUT_COMPILER(arch) SKIP_WITHOUT(::skid::runway::compiler_of(arch))

inline std::string bytes_of(const std::filesystem::path& path) {
  return read_file(path, std::uint64_t{64} << 20);
}

/// The bytes of a target's file that are loaded at `range`.
inline std::string code_of(const Target& target, AddressRange range) {
  const std::string bytes = bytes_of(target.path);
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(bytes.data());
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(bytes.data() + header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i) {
    const Elf64_Phdr& segment = segments[i];
    if (segment.p_type == PT_LOAD && segment.p_vaddr <= range.begin &&
        range.end <= segment.p_vaddr + segment.p_filesz) {
      return bytes.substr(segment.p_offset + range.begin - segment.p_vaddr, range.size());
    }
  }
  throw std::runtime_error("no segment holds the range");
}

}  // namespace skid::runway
