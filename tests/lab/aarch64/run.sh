#!/bin/sh
# The lab: skidscan and a PMU whose every sample can be computed. Boots Debian's arm64 kernel under qemu,
# whose emulated PMUv3 counts instructions one by one, records two runs and a group of events there with the program
# of the portable archive, records the same breakpoints on the host, and checks both (docs/lab.md).
# usage: run.sh SKIDSCAN ARCHIVE DIR     all output is in DIR; FACTS in the environment is build/tests/facts
#   ARCHIVE  of the target portable-aarch64
# exit status: 0 all checks passed, 1 a check failed, 77 skipped because a prerequisite is missing
set -eu
export LC_ALL=C

if [ $# -ne 3 ]; then
  echo "usage: $0 SKIDSCAN ARCHIVE DIR" >&2
  exit 64
fi
skidscan=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
guest=$here/../guest
archive=$2
mkdir -p "$3"
dir=$(realpath "$3")
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

[ -f "$archive" ] || skip "${archive##*/} is missing; cmake --build DIR --target portable-aarch64 makes it"
[ -n "$(find "$archive" -newer "$skidscan")" ] ||
  skip "${archive##*/} is older than the program; cmake --build DIR --target portable-aarch64 makes it again"

step "the guest's packages"
packages=$("$guest/packages.sh" aarch64) || exit

step 'guest'
rm -rf "$dir/skidscan" "$dir/host.run"
tar -xf "$archive" -C "$dir"
{
  echo "skidscan='$dir/skidscan/bin/skidscan' results='$dir/results'"
  cat "$here/commands"
} >"$dir/commands"
"$guest/initramfs.sh" aarch64 "$packages" "$dir/commands" "$dir/initrd" "$dir/skidscan"
"$guest/boot.sh" aarch64 "$packages" "$dir/initrd" "$dir" qemu-system-aarch64 -cpu cortex-a57,midr=0x001fd070
cat "$dir/results/commands.log"
[ "$(cat "$dir/results/status")" = 0 ] || fail "a command failed in the guest"

step 'the same breakpoints on the host'
if "$FACTS" breakpoints; then
  "$skidscan" record -q -e access,execute -p p,pp -o "$dir/host.run"
  for format in text json; do
    "$skidscan" compare "$dir/results/breakpoints.run" "$dir/host.run" --format "$format" \
      >"$dir/compare.$format"
  done
  "$skidscan" compare "$dir/results/breakpoints.run" "$dir/host.run" --plot "$dir/compare.png" \
    >/dev/null
fi

step 'checks'
python3 "$here/checks.py" "$skidscan" "$dir"
step 'done'
