#!/bin/sh
# Makes the initramfs of the lab's guest.
# usage: initramfs.sh ARCH PACKAGES COMMANDS OUTPUT [FILE...]
#   ARCH      aarch64 or x86_64
#   PACKAGES  directory of packages.sh
#   COMMANDS  shell script that the guest runs; what it writes to /results comes back
#   FILE...   files and directories, which keep their paths, so that recordings refer to existing files;
#             programs with the libraries that ldd lists
set -eu
[ $# -ge 4 ] || { echo "usage: $0 ARCH PACKAGES COMMANDS OUTPUT [FILE...]" >&2; exit 64; }
arch=$1 packages=$2/guest/contents commands=$3 output=$4
shift 4
here=$(dirname "$(realpath "$0")")
case $arch in
  aarch64) drivers='virtio/virtio virtio/virtio_ring virtio/virtio_mmio block/virtio_blk' ;;
  *)
    drivers='virtio/virtio virtio/virtio_ring virtio/virtio_pci_legacy_dev virtio/virtio_pci_modern_dev
      virtio/virtio_pci block/virtio_blk ../arch/x86/kernel/cpuid'
    ;;
esac
modules=$(echo "$packages"/usr/lib/modules/*)
[ -d "$modules" ] || { echo "$0: not exactly one kernel in $packages" >&2; exit 1; }

root=$(mktemp -d)
chmod 755 "$root"
trap 'rm -rf "$root"' EXIT
libraries=usr/lib/$arch-linux-gnu
kernel=usr/lib/modules/${modules##*/}
mkdir -p "$root/bin" "$root/usr/bin" "$root/$libraries" "$root/sbin" "$root/lib64" "$root/$kernel"
ln -s usr/lib "$root/lib"
cp "$packages/usr/bin/busybox" "$root/bin/"
cp "$packages/usr/bin/perf" "$root/usr/bin/"
for loader in usr/lib/ld-linux-aarch64.so.1 lib64/ld-linux-x86-64.so.2; do
  if [ -e "$packages/$loader" ] || [ -L "$packages/$loader" ]; then cp -P "$packages/$loader" "$root/$loader"; fi
done
find "$packages/$libraries" -maxdepth 1 ! -type d -name '*.so*' -exec cp -P {} "$root/$libraries/" \;
for driver in $drivers; do
  cp "$modules/kernel/drivers/$driver.ko" "$root/$kernel/"
  echo "${driver##*/}"
done >"$root/modules"
cp "$here/init" "$root/init"
cp "$commands" "$root/commands"
chmod +x "$root/init"
for file; do
  mkdir -p "$root${file%/*}"
  cp -rL "$file" "$root${file%/*}/"
  [ -f "$file" ] || continue
  # Newer libraries than the guest's are compatible with perf.
  ldd "$file" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
    cp --remove-destination -L "$library" "$root/$libraries/"
  done
done
(cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) >"$output"
