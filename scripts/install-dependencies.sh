#!/bin/sh
# Installs the Debian packages that skidscan is built from, as far as they are missing.
# usage: install-dependencies.sh run|check|develop
#   run      what building and running takes
#   check    that, and what the tests and the style checks take
#   develop  that, and what scripts/tidy.sh and bench/speed.py take
set -eu

run_packages='cmake ninja-build clang g++ pkg-config libfmt-dev nlohmann-json3-dev libcli11-dev
  libboost-dev libboost-iostreams-dev libboost-system-dev libboost-filesystem-dev
  libdw-dev libelf-dev libzstd-dev libcapstone-dev libzydis-dev libtraceevent-dev
  libarchive-dev libpfm4-dev libgnuplot-iostream-dev gnuplot-nox linux-perf'
check_packages='libgtest-dev libgmock-dev git clang-format libclang-rt-14-dev python3
  python3-jsonschema python3-selenium chromium chromium-driver binutils gcc-aarch64-linux-gnu
  qemu-user-static qemu-system-arm shellcheck dash busybox groff-base man-db zsh fish
  python3-pandas r-base-core'
develop_packages='clang-tidy zstd'

case "${1:-}" in
  run) packages=$run_packages ;;
  check) packages="$run_packages $check_packages" ;;
  develop) packages="$run_packages $check_packages $develop_packages" ;;
  *) echo "usage: $0 run|check|develop" >&2; exit 64 ;;
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
  echo "$0: these packages are missing and only root can install them:$missing" >&2
  exit 1
fi
echo "installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq >&2
# shellcheck disable=SC2086 # one argument a package
$as_root apt-get install -y -qq --no-install-recommends $missing >&2
