#include "src/locate/kernel_symbols.h"

#include "src/locate/mapping_name.h"
#include "src/locate/search_places.h"
#include "src/perfdata/features.h"
#include "src/perfdata/recording.h"
#include "src/support/address.h"
#include "src/support/byte_order.h"
#include "src/support/byte_reader.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/text.h"
#include "src/symbols/address_space.h"
#include "src/symbols/binary_places.h"
#include "src/symbols/file_location.h"
#include "src/symbols/location.h"
#include "src/symbols/mapped_file.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <system_error>

#include <fmt/format.h>
#include <sys/utsname.h>

namespace skid::locate {

namespace {

/// Returns the build-id of the running kernel; empty if it cannot be read.
std::string running_build_id(const std::filesystem::path& notes) {
  constexpr std::uint64_t kLargest = 65536;  // bytes; one kernel had 164
  try {
    return build_id_in_notes(read_file(notes, kLargest));
  } catch (const InputError&) {
    return {};  // the kernel does not show them
  }
}

}  // namespace

KernelFiles KernelFiles::of_this_machine() {
  KernelFiles files;
  files.cache = SearchPlaces::of_this_machine().by_build_id.build_id_cache;
  struct utsname name {};
  if (::uname(&name) == 0) files.os_release = name.release;
  return files;
}

RecordedKernel recorded_kernel(const perfdata::Recording& recording,
                               const symbols::AddressSpaces& spaces) {
  RecordedKernel kernel{{}, recording.features().os_release, spaces.kernel_reference()};
  for (symbols::FileIndex i = 0; i < spaces.file_count(); ++i) {
    if (spaces.file(i).path == kKernelName && !spaces.file(i).build_id.empty()) {
      kernel.build_id = spaces.file(i).build_id;
    }
  }
  return kernel;
}

std::string build_id_in_notes(std::string_view notes) {
  constexpr std::uint32_t kBuildId = 3;  // NT_GNU_BUILD_ID
  constexpr std::uint64_t kPadding = 4;  // names and contents end at multiples of it
  ByteReader reader(std::as_bytes(std::span(notes)), kHostOrder);
  while (reader.remaining() > 0) {
    const std::uint64_t name_size = reader.u32();
    const std::uint64_t content_size = reader.u32();
    const std::uint32_t type = reader.u32();
    const auto name = reader.text((name_size + kPadding - 1) / kPadding * kPadding);
    const auto content = reader.take((content_size + kPadding - 1) / kPadding * kPadding);
    if (reader.failed()) return {};
    if (type == kBuildId && name == "GNU") {
      return hexadecimal(content.first(static_cast<std::size_t>(content_size)));
    }
  }
  return {};
}

/// Returns the symbol table of the recorded kernel, or of the running one if it is the same; empty
/// if there is none.
std::filesystem::path KernelSymbols::believable_table() {
  const std::string running = running_build_id(files_.notes);
  if (kernel_->build_id.empty()) {
    if (kernel_->os_release.empty() || kernel_->os_release != files_.os_release) {
      remarks_.push_back(fmt::format(
          "{}: the recording holds no build-id of it and was made on release {}, not on the "
          "running {}; its symbols are not known",
          kKernelName, kernel_->os_release.empty() ? "(unknown)" : kernel_->os_release,
          files_.os_release));
      return {};
    }
    remarks_.push_back(fmt::format(
        "{}: the recording holds no build-id of it; the running kernel is taken, which is of the "
        "same release",
        kKernelName));
    return files_.kallsyms;
  }
  if (!files_.cache.empty()) {
    // The recorded id is hexadecimal digits, so it stays inside the cache.
    auto cached = files_.cache / kKernelName / kernel_->build_id / "kallsyms";
    std::error_code none;
    if (std::filesystem::is_regular_file(cached, none)) return cached;
  }
  if (running == kernel_->build_id) return files_.kallsyms;
  remarks_.push_back(fmt::format(
      "{}: the running kernel's build-id {} is not the recorded {}; its symbols are not known",
      kKernelName, running.empty() ? "(none)" : running, kernel_->build_id));
  return {};
}

/// Computes `shift_`, by which addresses differ because the kernel is loaded at a random one
/// (KASLR). False if it cannot be known.
bool KernelSymbols::find_shift() {
  if (!kernel_->reference) {
    remarks_.push_back(fmt::format(
        "{}: the recording does not contain where it was loaded; its symbols are used as they are "
        "now",
        kKernelName));
    return true;
  }
  const auto address = table_->address_of(kernel_->reference->symbol);
  if (!address) {
    remarks_.push_back(
        fmt::format("{}: its table has no symbol '{}', by which the recording gives where it was "
                    "loaded; its symbols are not known",
                    kKernelName, kernel_->reference->symbol));
    return false;
  }
  shift_ = *address - kernel_->reference->address;
  return true;
}

void KernelSymbols::open() {
  kernel_ = recorded_();
  const auto path = believable_table();
  if (path.empty()) return;
  try {
    table_ = symbols::Kallsyms::read(path);
  } catch (const InputError& error) {
    remarks_.emplace_back(error.what());
    return;
  }
  if (table_->hidden()) {
    remarks_.push_back(
        fmt::format("{}: shows no addresses; run as root or with kernel.kptr_restrict=0 to have "
                    "the kernel's symbols",
                    path.string()));
    table_.reset();
  } else if (!find_shift()) {
    table_.reset();
  }
}

/// Returns the name of the module `dso` if the module is still loaded where it was recorded, at
/// `begin`; else an empty name. Modules are loaded independently: one that was loaded again has
/// another address.
const std::string& KernelSymbols::believable_module(const std::string& dso, std::uint64_t begin) {
  const auto [answer, is_new] = modules_.try_emplace(dso);
  if (!is_new) return answer->second;
  const std::string module = module_name(dso);
  if (module.empty()) return answer->second;
  constexpr std::uint64_t kPage = 4096;  // modules begin at page boundaries, and so does their code
  const auto code = table_->code_of(module);
  if (code && begin <= code->begin && code->begin - begin < kPage) {
    answer->second = module;
  } else {
    remarks_.push_back(fmt::format(
        "{}: {}; kallsyms does not name its functions", dso,
        code ? "is not loaded where it was recorded" : "is not among the modules loaded now"));
  }
  return answer->second;
}

std::optional<symbols::Function> KernelSymbols::symbol_at(const symbols::MappedFile& file,
                                                          std::uint64_t address,
                                                          std::uint64_t offset) {
  if (file.symbol_size > 0) {
    const std::uint64_t begin = address - offset;
    return symbols::Function{file.path, {begin, begin + file.symbol_size}};
  }
  if (!kernel_) open();
  if (!table_) return std::nullopt;
  if (file.path != kKernelName) {
    const std::string& module = believable_module(file.path, address - offset);
    return module.empty() ? std::nullopt : table_->symbol_at(module, address);
  }
  auto found = table_->symbol_at({}, address + shift_);
  if (found) {
    found->range.begin -= shift_;
    found->range.end -= shift_;
  }
  return found;
}

}  // namespace skid::locate
