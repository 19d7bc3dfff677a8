#!/bin/sh
# The lab: skidscan and a PMU whose every sample can be computed. Boots Debian's arm64 kernel under qemu,
# whose emulated PMUv3 counts instructions one by one, records a kit and a group of events there, records
# the same kit's specification on the host, and checks both (docs/lab.md).
# usage: run.sh SKIDSCAN DIR     all output is in DIR
# exit status: 0 all checks passed, 1 a check failed, 77 skipped because a prerequisite is missing
set -eu
export LC_ALL=C

if [ $# -ne 2 ]; then
  echo "usage: $0 SKIDSCAN DIR" >&2
  exit 64
fi
skidscan=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
dir=$(realpath "$2")
start=$(date +%s)

step() { printf '== %s (after %ss)\n' "$1" "$(($(date +%s) - start))"; }
skip() {
  echo "skipped: $1"
  exit 77
}
fail() {
  echo "lab: $1" >&2
  exit 1
}
need() { # program, Debian package
  command -v "$1" >/dev/null || skip "$1 is missing; install it with 'apt install $2'"
}
need qemu-system-aarch64 qemu-system-arm
need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
need busybox busybox
need python3 python3
need perf linux-perf

step "the guest's packages"
# perf is linked to Perl and Python, but needs only their libraries here.
without=$(printf -- '--without %s ' initramfs-tools linux-base kmod debconf media-types \
  init-system-helpers binutils perl perl-base perl-modules-5.36 python3 libpython3.11-stdlib)
status=0
# shellcheck disable=SC2086 # one argument per word
"$here/../../scripts/fetch-debian-packages.sh" --arch arm64 --into "$dir/packages" $without \
  linux-image-cloud-arm64 linux-perf busybox-static || status=$?
[ "$status" -ne 69 ] || skip "the packages of the guest cannot be fetched"
[ "$status" -eq 0 ] || exit 1
packages=$dir/packages/root
kernel=$(echo "$packages"/boot/vmlinuz-*)
modules=$(echo "$packages"/usr/lib/modules/*)
if [ ! -f "$kernel" ] || [ ! -d "$modules" ]; then fail "not exactly one kernel in $packages"; fi

step 'kits'
rm -rf "$dir/kits" "$dir/results" "$dir/host.run" "$dir/initramfs"
mkdir -p "$dir/kits" "$dir/results"
# Longer than any skid, but short, because emulated instructions are slow.
runway='--nops 1200'
breakpoints="-e access -e execute -p p,pp $runway"
make_kit() { # name, options
  name=$1
  shift
  "$skidscan" kit --arch aarch64 "$@" -o "$dir/kits/$name.tar"
  mkdir "$dir/kits/$name"
  tar -xf "$dir/kits/$name.tar" -C "$dir/kits/$name"
}
# shellcheck disable=SC2086 # one argument per word
make_kit cycles -e cycles:u -c 10007 --iterations 30000 $runway
# shellcheck disable=SC2086
make_kit breakpoints $breakpoints

step 'initramfs'
root=$dir/initramfs
libraries=usr/lib/aarch64-linux-gnu
mkdir -p "$root/bin" "$root/usr/bin" "$root/$libraries" "$root$dir" "$root/sbin"
ln -s usr/lib "$root/lib"
cp "$packages/usr/bin/busybox" "$root/bin/"
cp "$packages/usr/bin/perf" "$root/usr/bin/"
cp -P "$packages"/usr/lib/ld-linux-aarch64.so.* "$root/usr/lib/"
find "$packages/$libraries" -maxdepth 1 ! -type d -name '*.so*' -exec cp -P {} "$root/$libraries/" \;
for module in virtio/virtio virtio/virtio_ring virtio/virtio_mmio block/virtio_blk; do
  mkdir -p "$root/usr/lib/modules/${modules##*/}"
  cp "$modules/kernel/drivers/$module.ko" "$root/usr/lib/modules/${modules##*/}/"
done
cp "$here/init" "$root/init"
chmod +x "$root/init"
# Under the same path as on the host, so that recordings refer to existing targets.
cp -r "$dir/kits" "$root$dir/"
sed "s|@KITS@|$dir/kits|" "$here/commands" >"$root/commands"
(cd "$root" && find . | busybox cpio -o -H newc >"$dir/initrd" 2>"$dir/cpio.log") ||
  fail "cannot make the initramfs: $(tail -n 1 "$dir/cpio.log")"

step 'guest'
# -icount shift=0: an instruction takes one cycle of 1 ns, and time advances with instructions only.
rm -f "$dir/disk" "$dir/console"
truncate -s 256M "$dir/disk"
timeout --foreground 900 qemu-system-aarch64 -M virt -cpu cortex-a57 -m 1024 -smp 1 -icount shift=0,sleep=off \
  -nodefaults -display none -monitor none -no-reboot -serial "file:$dir/console" \
  -kernel "$kernel" -initrd "$dir/initrd" -append 'console=ttyAMA0 panic=-1 quiet' \
  -drive "if=none,format=raw,file=$dir/disk,id=disk" -device virtio-blk-device,drive=disk || {
  status=$?
  tail -n 20 "$dir/console" >&2
  fail "qemu ended with status $status"
}
tar -xf "$dir/disk" -C "$dir/results" 2>/dev/null || {
  tail -n 20 "$dir/console" >&2
  fail "the guest wrote no results (console: $dir/console)"
}
rm -f "$dir/disk"
cat "$dir/results/commands.log"
[ "$(cat "$dir/results/status")" = 0 ] || fail "a command failed in the guest"

step 'the same breakpoints on the host'
# shellcheck disable=SC2086
"$skidscan" record -q $breakpoints -o "$dir/host.run"

step 'checks'
for format in text json; do
  "$skidscan" compare "$dir/results/breakpoints.run" "$dir/host.run" --format "$format" \
    >"$dir/compare.$format"
done
"$skidscan" compare "$dir/results/breakpoints.run" "$dir/host.run" --plot "$dir/compare.png" \
  >/dev/null
python3 "$here/checks.py" "$skidscan" "$dir"
step 'done'
