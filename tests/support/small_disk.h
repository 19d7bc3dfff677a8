// A file system of a given size, to fill up, or where no program is executed.
#pragma once

#include <filesystem>
#include <string>

#include <sys/mount.h>

namespace skid::test {

class SmallDisk {
 public:
  /// `mounted()` is false without the permission.
  SmallDisk(const std::filesystem::path& where, const std::string& size) : where_(where) {
    std::filesystem::create_directory(where_);
    mounted_ = ::mount("tmpfs", where_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  SmallDisk(SmallDisk&&) = delete;
  SmallDisk& operator=(SmallDisk&&) = delete;
  ~SmallDisk() {
    if (mounted_) ::umount2(where_.c_str(), MNT_DETACH);
  }
  bool mounted() const noexcept { return mounted_; }
  /// From now on no file is executed, not even by root.
  bool make_noexec() const {
    return ::mount(nullptr, where_.c_str(), nullptr, MS_REMOUNT | MS_NOEXEC, nullptr) == 0;
  }

 private:
  std::filesystem::path where_;
  bool mounted_ = false;
};

}  // namespace skid::test
