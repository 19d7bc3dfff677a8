// Names of mappings, among them those that perf gives to mappings without a file.
#pragma once

#include <string>
#include <string_view>

namespace skid::perfdata {
struct MappingRecord;
}  // namespace skid::perfdata

namespace skid::symbols {
struct MappedFile;
}  // namespace skid::symbols

namespace skid::locate {

inline constexpr std::string_view kKernelName = "[kernel.kallsyms]";
inline constexpr std::string_view kVdsoName = "[vdso]";

/// The parts of a name of a kernel mapping.
struct KernelMappingName {
  std::string dso;         ///< "[kernel.kallsyms]"; for a module its path as recorded
  std::string reference;   ///< kernel itself: the symbol whose address is the page offset
  bool is_kernel = false;  ///< the kernel itself, not a module
};

/// Takes the name of a kernel mapping apart. "[kernel.kallsyms]_text" is the kernel and its
/// reference symbol "_text"; everything else is a module,
/// "/lib/modules/6.1/kernel/fs/ext4/ext4.ko.xz" or "[ext4]".
KernelMappingName kernel_mapping_name(std::string_view path);

/// Returns the kernel's name of a module that is given by its file or in brackets: "snd_hda_intel"
/// for "/lib/modules/…/snd-hda-intel.ko.xz" and for "[snd_hda_intel]". Empty for other names.
std::string module_name(std::string_view dso);

/// Whether perf's --dsos would match the file at `path` by `name`: its path or file name; for a
/// module of the kernel also the module's name, with or without brackets; for the kernel also
/// "[kernel]".
bool is_dso_named(std::string_view path, std::string_view name);

/// Returns perf's name of the kernel or of a module. A module has the name of its file as it was
/// recorded only if perf noted its build-id; else its own name, "[ext4]".
std::string kernel_dso_name(const symbols::MappedFile& file);

/// Returns the path of a process's mapping. For executable memory without a file this is the file
/// in which the process may describe the code that it generates: "/tmp/perf-123.map".
std::string user_mapping_name(const perfdata::MappingRecord& mapping);

/// Whether a name is that of a perf map: "/tmp/perf-123.map".
bool is_perf_map(std::string_view path);

/// Returns the path of a mapped file before it was deleted or replaced, after which the kernel
/// appends " (deleted)" (d_path() in fs/d_path.c); other paths as they are.
std::string_view path_before_deletion(std::string_view path);

/// Whether a name is not that of a file to open: "[vdso]", "//anon", "/tmp/perf-123.map".
bool is_pseudo_file(std::string_view path);

}  // namespace skid::locate
