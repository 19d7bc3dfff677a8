#include "src/support/file_identity.h"

#include "src/support/file_descriptor.h"

#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>

namespace skid {

FileIdentity identity_of(const FileDescriptor& file) {
  struct stat status {};
  struct statfs system {};
  const bool is_known = ::fstat(file.get(), &status) == 0 && ::fstatfs(file.get(), &system) == 0;
  if (!is_known || system.f_type == OVERLAYFS_SUPER_MAGIC) return {};
  FileIdentity identity{.device = status.st_dev, .inode = status.st_ino, .generation = 0};
  if (system.f_type == BTRFS_SUPER_MAGIC) identity.device = 0;
  unsigned generation = 0;  // not all file systems have it
  if (::ioctl(file.get(), FS_IOC_GETVERSION, &generation) == 0) identity.generation = generation;
  return identity;
}

bool differ(const FileIdentity& a, const FileIdentity& b) {
  const auto both_differ = [](std::uint64_t one, std::uint64_t other) {
    return one != 0 && other != 0 && one != other;
  };
  if (a.inode == 0 || b.inode == 0) return false;
  return a.inode != b.inode || both_differ(a.device, b.device) ||
         both_differ(a.generation, b.generation);
}

}  // namespace skid
