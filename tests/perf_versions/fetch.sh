#!/bin/sh
# Fetches the perf of several Debian releases into the user's cache, without installing it, and writes for each
# a launcher DIR/perf-MAJOR.MINOR that runs it with the loader and the libraries of its release:
#   PERF=DIR/perf-7.3 skidscan record
# usage: fetch.sh DIR [SUITE]...
#   SUITE  default: bullseye (perf 5.10), bookworm (6.1), trixie (6.12), trixie-backports and sid (7.x)
# Prints the path of each launcher. What cannot be had is named on standard error.
# exit status: 77 if there is not one
set -eu
export LC_ALL=C
[ $# -ge 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d' >&2; exit 64; }
here=$(dirname "$(realpath "$0")")
mkdir -p "$1"
launchers=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- bullseye bookworm trixie trixie-backports sid
command -v dpkg >/dev/null || { echo 'skipped: dpkg is missing; expected Debian or a derived system' >&2; exit 77; }
arch=$(dpkg --print-architecture)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/skidscan/perf
mkdir -p "$cache"
# Another run may fetch them now.
exec 9>"$cache/lock"
flock 9

# fetch SUITE: its perf below $cache/SUITE, with the log in $cache/SUITE.log
fetch() {
  "$here/../../scripts/fetch-debian-packages.sh" --arch "$arch" --into "$cache/$1" --suite "$1" \
    linux-perf >"$cache/$1.log" 2>&1 9>&- || return
  # The rest is what perf does not need, a half of it, and what only another request would need.
  rm -rf "$cache/$1/contents/usr/share" "$cache/$1/contents/var" "$cache/$1"/contents/usr/lib/python3* \
    "$cache/$1"/contents/usr/lib/*/perl* "$cache/$1"/contents/usr/lib/*/gconv \
    "$cache/$1/apt/archives" "$cache/$1/apt/lists" "$cache/$1"/apt/*.bin
}

quoted() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

# launcher SUITE: writes it and prints its path; fails with the reason on standard error
launcher() {
  contents=$cache/$1/contents
  # bullseye's package has the program as perf_5.10.
  perf=$(find "$contents/usr/bin" -name 'perf' -o -name 'perf_[0-9]*' | head -n 1)
  libraries=$(find "$contents/usr/lib" -maxdepth 1 -name '*-linux-gnu*' | head -n 1)
  loader=$(find "$libraries/" -maxdepth 1 -name 'ld-linux*.so.*' | head -n 1)
  if [ -z "$perf" ] || [ -z "$loader" ]; then
    echo "perf of $1: $contents has no perf or no loader" >&2
    return 1
  fi
  written=$launchers/perf-$1
  {
    echo '#!/bin/sh'
    echo "exec $(quoted "$loader") --inhibit-cache --library-path $(quoted "$libraries") $(quoted "$perf") \"\$@\""
  } >"$written"
  chmod +x "$written"
  if ! printed=$("$written" --version 2>&1); then
    echo "perf of $1: does not run: $printed" >&2
    return 1
  fi
  version=$(printf '%s\n' "$printed" | sed -n 's/^perf version \([0-9]*\.[0-9]*\).*/\1/p')
  mv "$written" "$launchers/perf-$version"
  echo "$launchers/perf-$version"
}

for suite; do
  {
    status=0
    fetch "$suite" || status=$?
    echo "$status" >"$cache/$suite.status"
  } &
done
wait
made=0
for suite; do
  if [ "$(cat "$cache/$suite.status")" != 0 ]; then
    sed "s/^/perf of $suite: /" "$cache/$suite.log" >&2
  elif launcher "$suite"; then
    made=$((made + 1))
  fi
done
if [ "$made" = 0 ]; then
  echo 'skipped: no perf can be fetched' >&2
  exit 77
fi
