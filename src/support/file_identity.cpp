#include "src/support/file_identity.h"

#include "src/support/file_descriptor.h"

#include <array>

#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

namespace skid {

FileIdentity identity_of(const FileDescriptor& file) {
  struct stat status {};
  struct statfs system {};
  const bool is_known = ::fstat(file.get(), &status) == 0 && ::fstatfs(file.get(), &system) == 0;
  if (!is_known) return {};
  switch (system.f_type) {
    case OVERLAYFS_SUPER_MAGIC:
    case FUSE_SUPER_MAGIC:
    case MSDOS_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
      return {};
    default:
      break;
  }
  FileIdentity identity{.device = status.st_dev, .inode = status.st_ino, .generation = 0};
  if (system.f_type == BTRFS_SUPER_MAGIC) identity.device = 0;
  // Not all file systems have it. They write an int; the request is declared for a long.
  std::array<unsigned, sizeof(long) / sizeof(unsigned)> generation{};
  if (::ioctl(file.get(), FS_IOC_GETVERSION, generation.data()) == 0) {
    identity.generation = generation.front();
  }
  return identity;
}

bool differ(const FileIdentity& a, const FileIdentity& b) {
  const auto both_differ = [](std::uint64_t one, std::uint64_t other) {
    return one != 0 && other != 0 && one != other;
  };
  if (a.inode == 0 || b.inode == 0) return false;
  if (a.inode != b.inode || both_differ(a.generation, b.generation)) return true;
  // The kernel may number devices in another way when it starts again, and gives those without a
  // block device (major number 0) the next free number when they are mounted.
  const bool has_generation = a.generation != 0 && b.generation != 0;
  const bool is_numbered = major(a.device) != 0 && major(b.device) != 0;
  return !has_generation && is_numbered && a.device != b.device;
}

}  // namespace skid
