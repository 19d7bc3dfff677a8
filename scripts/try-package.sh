#!/bin/sh
# Tests the portable archive and the Debian package in a minimal Debian 12, which has no compiler. A user
# extracts the archive, records the default set and reports it, without gnuplot and with it. Then installs
# the package, records the default set, draws it, checks that the figure has all precise levels, and removes
# it. Prints the time of each step. Needs root, debootstrap and a Debian mirror (the one that apt uses on
# this machine).
# usage: try-package.sh [PACKAGE.deb ARCHIVE.tar.xz]     (builds them by default; 77: skipped)
set -eu

skip() { echo "skipped: $*"; exit 77; }
now() { date +%s; }
step() { printf '%5ss  %s\n' "$(($(now) - begun))" "$1"; begun=$(now); }

# In a separate mount namespace, so that no mount remains, however the script ends.
if [ "${1:-}" != --inside ]; then
  [ "$(id -u)" -eq 0 ] || skip 'root is needed for debootstrap and chroot'
  command -v debootstrap >/dev/null || skip 'debootstrap is missing'
  work=$(mktemp -d)
  trap 'rm -rf --one-file-system "$work"' EXIT
  trap 'exit 130' INT TERM HUP
  status=0
  unshare --mount --propagation private "$0" --inside "$work" "$@" || status=$?
  exit "$status"
fi

work=$2
package=${3:-} archive=${4:-}
begun=$(now)
if [ -n "$package" ]; then
  package=$(realpath "$package")
  archive=$(realpath "$archive")
fi
cd "$(dirname "$0")/.."

if [ -z "$package" ]; then
  cmake -S . -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O2 -DNDEBUG' -DSKIDSCAN_TESTS=OFF >/dev/null
  cmake --build "$work/build" >/dev/null
  (cd "$work/build" && cpack >/dev/null)
  package=$(find "$work/build" -maxdepth 1 -name '*.deb')
  step "build $(basename "$package"), $(wc -c <"$package") bytes"
  cmake --build "$work/build" --target portable >/dev/null
  archive=$(find "$work/build" -maxdepth 1 -name '*.tar.xz')
  step "build $(basename "$archive"), $(wc -c <"$archive") bytes"
fi
if command -v lintian >/dev/null; then
  lintian --fail-on error "$package"
  step 'lintian'
fi

# shellcheck disable=SC2016 # apt's field names
mirror=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Identifier: Packages' |
  awk '$1 == "bookworm" && $2 == "main" { print $3; exit }')
[ -n "$mirror" ] || skip 'apt has no mirror of Debian 12 (bookworm, main)'
root=$work/debian
debootstrap --variant=minbase bookworm "$root" "$mirror" >"$work/log" 2>&1 || {
  tail -n 3 "$work/log"
  skip "debootstrap failed with $mirror"
}
step 'debootstrap'

mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
install -D -m 644 "$package" "$root/tmp/skidscan.deb"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
  DEBIAN_FRONTEND=noninteractive http_proxy="${http_proxy:-}" "$@"; }
inside apt-get update -qq
inside apt-get install -y -qq --no-install-recommends linux-perf xz-utils >/dev/null 2>&1
step 'apt-get install linux-perf xz-utils'

# In a directory with spaces.
inside useradd -m user
home="/home/user/a directory"
install -D -m 644 "$archive" "$root/tmp/skidscan.tar.xz"
user() { inside setpriv --reuid user --regid user --clear-groups env HOME=/home/user sh -c "$1"; }
user "mkdir '$home'; cd '$home' && tar -xf /tmp/skidscan.tar.xz"
user "cd '$home' && skidscan/bin/skidscan doctor >doctor.txt" || [ $? -eq 3 ] ||
  skip "nothing can be sampled here: $(sed -n 1p "$root$home/doctor.txt")"
user "cd '$home' && skidscan/bin/skidscan record -q && skidscan/bin/skidscan report >report.txt"
step 'extract the archive; skidscan record; skidscan report'
! user "cd '$home' && skidscan/bin/skidscan report --plot out.svg" >/dev/null 2>"$work/message" ||
  { echo "$0: a figure without gnuplot"; exit 1; }
grep -q 'gnuplot' "$work/message" || { cat "$work/message"; exit 1; }
inside apt-get install -y -qq --no-install-recommends gnuplot-nox >/dev/null 2>&1
user "cd '$home' && skidscan/bin/skidscan report --plot out.svg >/dev/null"
[ -s "$root$home/out.svg" ] || { echo "$0: out.svg is empty"; exit 1; }
step 'the figure, with gnuplot'

# Like a user, with the recommended packages.
inside sh -c 'apt-get install -y -qq /tmp/skidscan.deb >/tmp/log 2>&1' || {
  tail -n 5 "$root/tmp/log"
  exit 1
}
step "apt-get install, $(grep -c '^Setting up' "$root/tmp/log") packages"

inside sh -c 'mkdir /tmp/try && cd /tmp/try && skidscan doctor >doctor.txt' || [ $? -eq 3 ] ||
  skip "nothing can be sampled here: $(sed -n 1p "$root/tmp/try/doctor.txt")"
inside sh -c 'cd /tmp/try && skidscan record -q'
step 'skidscan record'
inside sh -c "cd /tmp/try && skidscan report --plot out.svg --html out.html >report.txt"
step 'skidscan report --plot --html'

for file in out.svg out.html; do
  [ -s "$root/tmp/try/$file" ] || { echo "$0: $file is empty"; exit 1; }
  for level in none p pp ppp; do
    grep -q -E ">[[:space:]]*${level}[[:space:]:<]" "$root/tmp/try/$file" || {
      echo "$0: $file does not show the level $level"
      exit 1
    }
  done
done
inside sh -c 'cd /tmp/try && skidscan synth --like pebs-sound -o sound.data >/dev/null 2>&1 &&
  skidscan report sound.data >/dev/null && skidscan report --example | grep -q EMULATED && ls /usr/share/skidscan/models /usr/share/doc/skidscan >/dev/null'
# The files of the package, without directories; after its removal none may exist.
# shellcheck disable=SC2016 # expanded inside
inside sh -c 'dpkg -L skidscan | while IFS= read -r path; do
  [ -d "$path" ] || printf "%s\n" "$path"
done >/tmp/files'
files=$(wc -l <"$root/tmp/files")
[ "$files" -gt 30 ] || { echo "$0: the package has $files files"; exit 1; }
inside apt-get purge -y -qq skidscan >/dev/null
# shellcheck disable=SC2016
inside sh -c 'while IFS= read -r path; do [ ! -e "$path" ] || echo "$path"; done </tmp/files' \
  >"$work/left"
[ ! -s "$work/left" ] || { echo "$0: left after the removal:"; cat "$work/left"; exit 1; }
step "figures have all four levels; of $files files none is left after the removal"
