// A kit as a tar or as a directory.
#pragma once

#include "src/kit/kit.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace skid::kit {

/// The files in one directory `top`, as a tar (ustar of POSIX.1-1988, which every tar reads). The
/// same files give the same bytes: owner 0, modification time 0. Throws Error.
std::string tar_of(const std::vector<File>& files, std::string_view top);

/// Whether `path` is a directory with a kit that has recorded nothing there.
bool is_kit(const std::filesystem::path& path);

/// Creates the directory with the files in it. An existing one is an error; with `force` a kit that
/// has recorded nothing or an empty directory is replaced. Throws Error.
void write_directory(const std::vector<File>& files, const std::filesystem::path& path, bool force);

}  // namespace skid::kit
