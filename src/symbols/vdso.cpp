#include "src/symbols/vdso.h"

#include "src/support/error.h"
#include "src/support/file.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/mman.h>

namespace skid::symbols {
namespace {

/// Bytes of the image: it ends with its section headers, and those end the last of its pages used.
std::size_t image_size(const Elf64_Ehdr& header) {
  constexpr std::size_t kPage = 4096;
  const std::size_t end = header.e_shoff + std::size_t{header.e_shentsize} * header.e_shnum;
  return (end + kPage - 1) / kPage * kPage;
}

}  // namespace

std::optional<Module> running_vdso() {
  static_assert(sizeof(void*) == sizeof(std::uint64_t), "the vdso is assumed to be ELF64");
  const auto address = ::getauxval(AT_SYSINFO_EHDR);  // 0: there is none
  if (address == 0) return std::nullopt;
  // The kernel promises an ELF header at this address, which getauxval(3) gives as a number.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(address);

  // libelf reads files: the image becomes one that lives in memory.
  const FileDescriptor file(::memfd_create("vdso", MFD_CLOEXEC));
  try {
    write_all(file, {reinterpret_cast<const char*>(header), image_size(*header)}, "vdso");
    return Module::open(fmt::format("/proc/self/fd/{}", file.get()));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace skid::symbols
