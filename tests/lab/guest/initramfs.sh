#!/bin/sh
# Makes the initramfs of the lab's guest.
# usage: initramfs.sh ARCH PACKAGES COMMANDS OUTPUT [FILE...]
#   ARCH      aarch64 or x86_64
#   PACKAGES  directory of packages.sh
#   COMMANDS  shell script that the guest runs; what it writes to /results comes back
#   FILE...   files and directories, which keep their paths, so that recordings refer to existing files;
#             programs with the loader and libraries that ldd lists
# perf, which may be of a newer or older release than they, has its own loader and libraries in /opt/perf.
set -eu
[ $# -ge 4 ] || { echo "usage: $0 ARCH PACKAGES COMMANDS OUTPUT [FILE...]" >&2; exit 64; }
arch=$1 packages=$2/guest/contents commands=$3 output=$4
shift 4
here=$(dirname "$(realpath "$0")")
case $arch in
  aarch64) drivers='virtio/virtio virtio/virtio_ring virtio/virtio_mmio block/virtio_blk perf/arm_spe_pmu' ;;
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
mkdir -p "$root/bin" "$root/usr/bin" "$root/$libraries" "$root/sbin" "$root/lib64" "$root/$kernel" "$root/opt/perf"
ln -s usr/lib "$root/lib"
cp "$packages/usr/bin/busybox" "$root/bin/"
cp "$packages/usr/bin/perf" "$root/opt/perf/"
find "$packages/$libraries" -maxdepth 1 ! -type d -name '*.so*' -exec cp -P {} "$root/opt/perf/" \;
loader=$(cd "$root/opt/perf" && echo ld-linux*.so.*)
cat >"$root/usr/bin/perf" <<LAUNCHER
#!/bin/sh
exec /opt/perf/$loader --inhibit-cache --library-path /opt/perf /opt/perf/perf "\$@"
LAUNCHER
chmod +x "$root/usr/bin/perf"
for driver in $drivers; do
  module=$modules/kernel/drivers/$driver.ko
  if [ -f "$module" ]; then
    cp "$module" "$root/$kernel/"
  elif [ -f "$module.xz" ]; then
    xz -dc "$module.xz" >"$root/$kernel/${driver##*/}.ko"
  elif grep -q "/${driver##*/}\.ko\$" "$modules/modules.builtin"; then
    continue
  else
    echo "$0: $modules has no module ${driver##*/}" >&2
    exit 1
  fi
  echo "${driver##*/}" >>"$root/modules"
done
cp "$here/init" "$root/init"
cp "$commands" "$root/commands"
chmod +x "$root/init"
for file; do
  mkdir -p "$root${file%/*}"
  cp -rL "$file" "$root${file%/*}/"
  [ -f "$file" ] || continue
  ldd "$file" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
    case $library in
      */ld-linux*) cp -L "$library" "$root$library" ;;
      *) cp -L "$library" "$root/$libraries/" ;;
    esac
  done
done
(cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) >"$output"
