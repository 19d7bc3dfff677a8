#!/bin/sh
# The lab: skidscan and a PMU whose every sample can be computed. Boots Debian's arm64 kernel under qemu,
# whose emulated PMUv3 counts instructions one by one, records a kit and a group of events there, records
# the same kit's specification on the host, and checks both (docs/lab.md).
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

step 'kits'
rm -rf "$dir/kits" "$dir/host.run"
mkdir -p "$dir/kits"
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

step 'guest'
sed "s|@KITS@|$dir/kits|" "$here/commands" >"$dir/commands"
"$guest/initramfs.sh" aarch64 "$packages" "$dir/commands" "$dir/initrd" "$dir/kits"
"$guest/boot.sh" aarch64 "$packages" "$dir/initrd" "$dir" qemu-system-aarch64 -cpu cortex-a57
cat "$dir/results/commands.log"
[ "$(cat "$dir/results/status")" = 0 ] || fail "a command failed in the guest"

step 'the same breakpoints on the host'
if "$FACTS" breakpoints; then
  # shellcheck disable=SC2086
  "$skidscan" record -q $breakpoints -o "$dir/host.run"
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
