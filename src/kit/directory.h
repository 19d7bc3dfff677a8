// A kit as a directory.
#pragma once

#include "src/kit/kit.h"

#include <filesystem>
#include <vector>

namespace skid::kit {

/// Whether `path` is a directory with a kit in it that has recorded nothing there.
bool is_kit(const std::filesystem::path& path);

/// Makes the directory with the files in it, whole or not at all. What has the name is refused;
/// with `force` a kit or an empty directory is replaced. Throws Error.
void write_directory(const std::vector<File>& files, const std::filesystem::path& path, bool force);

}  // namespace skid::kit
