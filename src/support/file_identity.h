// What the kernel notes of a mapped file: device, inode and generation.
#pragma once

#include <compare>
#include <cstdint>

namespace skid {

class FileDescriptor;

/// The identity of a file within one machine, as in PERF_RECORD_MMAP2. 0: not known.
struct FileIdentity {
  std::uint64_t device = 0;      ///< of the superblock, as makedev(3) makes it
  std::uint64_t inode = 0;       ///< 0: the whole identity is not known
  std::uint64_t generation = 0;  ///< counts how often the inode's number was used again

  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

/// Returns the identity that the kernel would record for an open file; parts that stat(2) does not
/// give are 0. On btrfs that is the device, because each subvolume has a number of its own
/// (btrfs_getattr() in fs/btrfs/inode.c). On FUSE, VFAT and SMB it is everything: inodes may get
/// another number when they are read again. So it is on overlayfs: kernels whose
/// perf_event_mmap_event() does not call file_user_inode() record the inode of the layer that has
/// the file, and stat(2) may give that of another layer (ovl_getattr() in fs/overlayfs/inode.c).
FileIdentity identity_of(const FileDescriptor& file);

/// Whether two identities of one machine are of different files: a part differs that both have, and
/// that is the same after the next start of the machine.
bool differ(const FileIdentity& a, const FileIdentity& b);

}  // namespace skid
