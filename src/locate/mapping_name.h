// Names of mappings: what perf calls those that have no file of their own.
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
  std::string dso;         ///< "[kernel.kallsyms]"; of a module its path as recorded
  std::string reference;   ///< of the kernel itself: the symbol that its page offset is about
  bool is_kernel = false;  ///< the kernel itself, no module of it
};

/// "[kernel.kallsyms]_text" is the kernel and its reference symbol "_text"; everything else is a
/// module, "/lib/modules/6.1/kernel/fs/ext4/ext4.ko.xz" or "[ext4]".
KernelMappingName kernel_mapping_name(std::string_view path);

/// The kernel's name of the module in a file or in brackets: "snd_hda_intel" for
/// "/lib/modules/…/snd-hda-intel.ko.xz" and for "[snd_hda_intel]". Empty when it is no module's.
std::string module_name(std::string_view dso);

/// Whether perf's --dsos would match: by path or file name; a module of the kernel by its name,
/// too, with or without brackets, and the kernel as "[kernel]".
bool is_dso_named(std::string_view path, std::string_view name);

/// What perf calls the kernel or a module of it. A module's file is named as it was recorded only
/// where perf noted its build-id; else the module is named, "[ext4]".
std::string kernel_dso_name(const symbols::MappedFile& file);

/// The path of a process's mapping. For executable memory without a file it is the file in which
/// the process may have described its generated code: "/tmp/perf-123.map".
std::string user_mapping_name(const perfdata::MappingRecord& mapping);

/// Whether a name is that of a perf map: "/tmp/perf-123.map".
bool is_perf_map(std::string_view path);

/// Whether a name is no file to be opened: "[vdso]", "//anon", "/tmp/perf-123.map", a deleted file.
bool is_pseudo_file(std::string_view path);

}  // namespace skid::locate
