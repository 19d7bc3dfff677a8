#!/bin/sh
# The lab: skidscan and a PMU whose every sample can be computed. Boots Debian's arm64 kernel under qemu,
# whose emulated PMUv3 counts instructions one by one, has perf record the events of two runs and a group of
# events there, records the same breakpoints on the host, and checks both (docs/lab.md).
# usage: run.sh SKIDSCAN DIR     all output is in DIR; FACTS in the environment is build/tests/facts
# exit status: 0 all checks passed, 1 a check failed, 77 skipped because a prerequisite is missing
set -eu
export LC_ALL=C

if [ $# -ne 2 ]; then
  echo "usage: $0 SKIDSCAN DIR" >&2
  exit 64
fi
skidscan=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
guest=$here/../guest
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

step "the guest's packages"
packages=$("$guest/packages.sh" aarch64) || exit

step 'targets'
rm -rf "$dir/targets" "$dir/host.run"
python3 "$here/session.py" commands "$skidscan" "$dir"

step 'guest'
"$guest/initramfs.sh" aarch64 "$packages" "$dir/commands" "$dir/initrd" "$dir/targets"
"$guest/boot.sh" aarch64 "$packages" "$dir/initrd" "$dir" qemu-system-aarch64 -cpu cortex-a57
cat "$dir/results/commands.log"
[ "$(cat "$dir/results/status")" = 0 ] || fail "a command failed in the guest"
python3 "$here/session.py" runs "$skidscan" "$dir"

step 'the same breakpoints on the host'
if "$FACTS" breakpoints; then
  "$skidscan" record -q -e access,execute -p p,pp --nops 1200 -o "$dir/host.run"
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
