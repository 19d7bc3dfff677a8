#!/bin/sh
# Fetches the packages of the lab's guest (kernel, perf with its libraries, busybox; on x86-64 also the
# firmware of the emulated machine) into the user's cache and prints their directory.
# usage: packages.sh aarch64|x86_64 [SUITE]
#   SUITE  of Debian, whose kernel and perf are fetched; default: this machine's release
# exit status: 77 if they cannot be fetched
set -eu
suite=${2:-}
case ${1:-} in
  aarch64) arch=arm64 firmware='' ;;
  x86_64) arch=amd64 firmware='seabios qemu-system-data' ;;
  *) echo "usage: $0 aarch64|x86_64 [SUITE]" >&2; exit 64 ;;
esac
fetch=$(dirname "$(realpath "$0")")/../../../scripts/fetch-debian-packages.sh
dir=${XDG_CACHE_HOME:-$HOME/.cache}/skidscan/lab/packages-$1${suite:+-$suite}
mkdir -p "$dir"
# Another run may fetch them now.
exec 9>"$dir.lock"
flock 9
# perf is linked to Perl and Python, but needs only their libraries here.
without=$(printf -- '--without %s ' initramfs-tools linux-base kmod debconf media-types \
  init-system-helpers binutils perl perl-base perl-modules-5.36 python3 libpython3.11-stdlib)
status=0
# shellcheck disable=SC2086 # one argument per word
"$fetch" --arch "$arch" --into "$dir/guest" ${suite:+--suite "$suite"} $without "linux-image-cloud-$arch" linux-perf busybox-static ||
  status=$?
if [ "$status" = 0 ] && [ -n "$firmware" ]; then
  # shellcheck disable=SC2086
  "$fetch" --arch "$arch" --into "$dir/firmware" --only $firmware || status=$?
fi
case $status in
  0) echo "$dir" ;;
  69) echo "skipped: the packages of the guest${suite:+, of $suite,} cannot be fetched" >&2; exit 77 ;;
  *) exit "$status" ;;
esac
