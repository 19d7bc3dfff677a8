#!/bin/sh
# Builds QEMU with an emulated PMU, or for aarch64 with SPE, from Debian's source of QEMU and the patches beside
# this script, into the user's cache, and prints its path. Nothing is installed. A later call prints it at once.
# usage: build.sh [x86_64|aarch64] [--cached]
#   --cached  do not build
# exit status: 77 if it is not in the cache and cannot or shall not be built; a message states why
set -eu
export LC_ALL=C
target=x86_64 cached=no
for word; do
  case $word in
    x86_64 | aarch64) target=$word ;;
    --cached) cached=yes ;;
    *) echo "usage: $0 [x86_64|aarch64] [--cached]" >&2; exit 64 ;;
  esac
done
skip() {
  echo "skipped: $1" >&2
  exit 77
}
here=$(dirname "$(realpath "$0")")
scripts=$(realpath "$here/../../../scripts")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/skidscan/lab
set -- "$here"/[123]-*.patch
[ "$target" = x86_64 ] || set -- "$here"/*.patch
qemu=$cache/qemu-$target-$(cat "$@" "$here/build.sh" | sha256sum | cut -c 1-16)
if [ -x "$qemu" ]; then
  echo "$qemu"
  exit
fi
[ "$cached" = no ] || skip "the emulator is not built yet; run $here/build.sh $target"
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
echo "building QEMU for $target in $work; this takes about five minutes, once" >&2
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
for patch; do
  patch -d "$source" -p1 <"$patch" >>"$log" 2>&1 || fail "patch ${patch##*/}"
done
mkdir "$work/build"
cd "$work/build"
"$source/configure" --target-list="$target-softmmu" --without-default-features --without-default-devices \
  --with-devices-"$target"=lab --enable-tcg --disable-docs --disable-tools --disable-guest-agent \
  --disable-werror --audio-drv-list= --disable-install-blobs >>"$log" 2>&1 || fail configure
nice ninja -j "$(nproc)" >>"$log" 2>&1 || fail ninja
strip -o "$qemu.new" "qemu-system-$target"
mv "$qemu.new" "$qemu"
echo "$qemu"
