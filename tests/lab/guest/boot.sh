#!/bin/sh
# Boots the lab's guest and extracts what it wrote to its disk.
# usage: boot.sh ARCH PACKAGES INITRD DIR QEMU [OPTION...]
#   ARCH, PACKAGES  as for initramfs.sh
#   DIR             receives results/ and console; an existing results/ is replaced
#   QEMU            the emulator, followed by its options, such as -cpu MODEL
# environment: APPEND, for the kernel's command line; LIMIT, seconds until the guest is ended (900)
set -eu
[ $# -ge 5 ] || { echo "usage: $0 ARCH PACKAGES INITRD DIR QEMU [OPTION...]" >&2; exit 64; }
arch=$1 packages=$2 initrd=$3 dir=$4 qemu=$5
shift 5
fail() {
  [ ! -s "$dir/console" ] || tail -n 20 "$dir/console" >&2
  echo "lab: $1" >&2
  exit 1
}
# Newer packages have no /boot.
kernel=$(find "$packages/guest/contents/boot" "$packages/guest/contents/usr/lib/modules" \
  -name 'vmlinuz*' 2>/dev/null || true)
[ -f "$kernel" ] || fail "not exactly one kernel in $packages"
case $arch in
  aarch64)
    console=ttyAMA0 bus=device
    # An instruction takes one cycle of 1 ns, and time advances with instructions only.
    set -- -M virt -icount shift=0,sleep=off "$@"
    ;;
  *)
    console=ttyS0 bus=pci firmware=$packages/firmware/contents/usr/share
    set -- -M pc -L "$firmware/seabios" -L "$firmware/qemu" -accel tcg,thread=single "$@"
    ;;
esac
rm -rf "$dir/results" "$dir/disk" "$dir/console"
mkdir -p "$dir/results"
truncate -s 512M "$dir/disk"
status=0
timeout --foreground "${LIMIT:-900}" "$qemu" -m 1024 -nodefaults -display none -monitor none -no-reboot \
  -serial "file:$dir/console" -kernel "$kernel" -initrd "$initrd" \
  -append "console=$console panic=-1 quiet ${APPEND:-}" \
  -drive "if=none,format=raw,file=$dir/disk,id=disk" -device "virtio-blk-$bus,drive=disk" "$@" || status=$?
[ "$status" = 0 ] || fail "qemu ended with status $status"
tar -xf "$dir/disk" -C "$dir/results" 2>/dev/null || true
[ -s "$dir/results/status" ] || fail "the guest wrote no results (console: $dir/console)"
rm -f "$dir/disk"
