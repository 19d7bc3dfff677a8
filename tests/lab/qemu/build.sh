#!/bin/sh
# Builds qemu-system-x86_64 with an emulated PMU, from Debian's source of QEMU and the patches beside this
# script, into the user's cache, and prints its path. Nothing is installed. A later call prints it at once.
# usage: build.sh [--cached]
#   --cached  do not build
# exit status: 77 if it is not in the cache and cannot or shall not be built; a message states why
set -eu
export LC_ALL=C
case $#,${1:-} in
  0, | 1,--cached) ;;
  *) echo "usage: $0 [--cached]" >&2; exit 64 ;;
esac
skip() {
  echo "skipped: $1" >&2
  exit 77
}
here=$(dirname "$(realpath "$0")")
scripts=$(realpath "$here/../../../scripts")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/skidscan/lab
qemu=$cache/qemu-$(cat "$here"/*.patch "$here/build.sh" | sha256sum | cut -c 1-16)
if [ -x "$qemu" ]; then
  echo "$qemu"
  exit
fi
[ $# -eq 0 ] || skip "the emulator is not built yet; run $here/build.sh"
advice="run '$scripts/install-dependencies.sh lab'"
for tool in gcc ninja meson pkg-config python3 patch; do
  command -v "$tool" >/dev/null || skip "$tool is missing, which QEMU's build needs; $advice"
done
for library in glib-2.0 pixman-1; do
  pkg-config --exists "$library" || skip "the library $library is missing, which QEMU's build needs; $advice"
done
echo '#include <libfdt.h>' | gcc -E - >/dev/null 2>&1 ||
  skip "the library libfdt is missing, which QEMU's build needs; $advice"

mkdir -p "$cache"
# Another run may build it now.
exec 9>"$cache/build.lock"
flock 9
[ ! -x "$qemu" ] || { echo "$qemu"; exit; }
work=$cache/build
log=$cache/build.log
rm -rf "$work"
mkdir "$work"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
fail() {
  tail -n 5 "$log" >&2
  echo "$0: $1 failed (log: $log)" >&2
  exit 1
}
echo "building QEMU with a PMU in $work; this takes about five minutes, once" >&2
status=0
"$scripts/fetch-debian-packages.sh" --source --into "$work/source" qemu || status=$?
[ "$status" != 69 ] || skip "QEMU's source cannot be fetched"
[ "$status" = 0 ] || exit 1
source=$work/source/contents/qemu-7.2.0
[ -d "$source" ] || {
  echo "$0: the patches are for QEMU 7.2.0 of Debian 12; fetched: $(cat "$work/source/packages")" >&2
  exit 1
}
: >"$log"
for patch in "$here"/*.patch; do
  patch -d "$source" -p1 <"$patch" >>"$log" 2>&1 || fail "patch ${patch##*/}"
done
mkdir "$work/build"
cd "$work/build"
"$source/configure" --target-list=x86_64-softmmu --without-default-features --without-default-devices \
  --with-devices-x86_64=lab --enable-tcg --disable-docs --disable-tools --disable-guest-agent \
  --disable-werror --audio-drv-list= --disable-install-blobs >>"$log" 2>&1 || fail configure
nice ninja -j "$(nproc)" >>"$log" 2>&1 || fail ninja
strip -o "$qemu.new" qemu-system-x86_64
mv "$qemu.new" "$qemu"
echo "$qemu"
