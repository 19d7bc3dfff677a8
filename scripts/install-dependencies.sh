#!/bin/sh
# Installs the missing Debian packages that skidscan needs.
# usage: install-dependencies.sh build|run|check|lab|package|develop
#   build    to build, and to draw figures
#   run      also perf, to record
#   check    also for the tests and the style checks
#   lab      also to build the emulator of the lab (docs/lab.md)
#   package  to build, and what cpack and the target portable need
#   develop  also for scripts/tidy.sh and bench/speed.py
set -eu

build_packages='cmake ninja-build clang g++ pkg-config libfmt-dev nlohmann-json3-dev
  libboost-dev libboost-iostreams-dev libboost-system-dev libboost-filesystem-dev
  libdw-dev libelf-dev liblzma-dev libzstd-dev zlib1g-dev libcapstone-dev libzydis-dev libtraceevent-dev
  libpfm4-dev libutf8proc-dev libiberty-dev libgnuplot-iostream-dev gnuplot-nox help2man'
run_packages="$build_packages linux-perf"
check_packages='libgtest-dev libgmock-dev git clang-format iwyu libclang-rt-14-dev python3
  python3-cram python3-jsonschema python3-selenium chromium chromium-driver binutils gcc-aarch64-linux-gnu
  qemu-user-static qemu-system-arm shellcheck dash busybox groff-base man-db zsh fish
  python3-pandas r-base-core'
lab_packages='meson libglib2.0-dev libpixman-1-dev libfdt-dev patch'
package_packages='gcc gcc-aarch64-linux-gnu dpkg-dev xz-utils libzycore-dev libbz2-dev'
develop_packages='clang-tidy zstd'

case "${1:-}" in
  build) packages=$build_packages ;;
  run) packages=$run_packages ;;
  check) packages="$run_packages $check_packages" ;;
  lab) packages="$run_packages $check_packages $lab_packages" ;;
  package) packages="$run_packages $package_packages" ;;
  develop) packages="$run_packages $check_packages $develop_packages" ;;
  *) echo "usage: $0 build|run|check|lab|package|develop" >&2; exit 64 ;;
esac

missing=
for package in $packages; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root=
elif command -v sudo >/dev/null; then
  as_root=sudo
else
  echo "$0: packages are missing; install them as root:$missing" >&2
  exit 1
fi
echo "installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq >&2
# shellcheck disable=SC2086 # one argument per package
$as_root apt-get install -y -qq --no-install-recommends $missing >&2
