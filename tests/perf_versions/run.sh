#!/bin/sh
# record, report and doctor with the perf of several Debian releases, 5.10 to 7.3. What record prints and what
# report reads must be the numbers of samples that 'perf script' of the same perf lists.
# usage: run.sh SKIDSCAN BUILD [SUITE]...
#   SKIDSCAN  the program
#   BUILD     a directory for the launchers of these perfs and for their runs, which stay when something fails
#   SUITE     see fetch.sh, which fetches the perfs into the user's cache
# Prints one line for each perf.
# exit status: 0 all checks passed, 1 one failed, 77 nothing can be fetched or recorded here
set -eu
export LC_ALL=C
[ $# -ge 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d' >&2; exit 64; }
here=$(dirname "$(realpath "$0")")
skidscan=$(realpath "$1")
mkdir -p "$2"
work=$(realpath "$2")
shift 2
command -v python3 >/dev/null || { echo 'skipped: python3 is missing'; exit 77; }

status=0
launchers=$("$here/fetch.sh" "$work/perfs" "$@") || status=$?
[ "$status" = 0 ] || exit "$status"

# The events that need no PMU and no breakpoints. How many samples of a clock come depends on the machine.
what='-e faults,cpu-clock -p none,pp --samples 200'

# step NAME COMMAND...: runs it with its output in $run/NAME; a failure is printed
step() {
  name=$1
  shift
  "$@" >"$run/$name" 2>&1 || {
    failed="$failed $name"
    tail -n 5 "$run/$name" | sed "s/^/  $name: /" >>"$run/why"
    return 1
  }
}

checked=0 wrong=0 unusable=''
while read -r perf; do
  run=$work/$(basename "$perf").run
  rm -rf "$run"
  mkdir "$run"
  if ! "$perf" record -q -e cpu-clock:u -c 1000000 -o "$run/probe.data" -- true >"$run/probe" 2>&1; then
    unusable=$(tail -n 1 "$run/probe")
    echo "${perf##*/}: skipped, it cannot record here: $unusable"
    continue
  fi
  failed=''
  # shellcheck disable=SC2086 # one argument per word
  if step record env PERF="$perf" "$skidscan" record $what -o "$run/recorded"; then
    step counts "$here/check.py" "$skidscan" "$perf" "$run/recorded" "$run/record" || true
  fi
  # 3: only the built-in events can be sampled.
  PERF=$perf "$skidscan" doctor --details >"$run/doctor" 2>&1 || [ $? -eq 3 ] || failed="$failed doctor"
  version=$("$perf" --version | sed 's/^perf version //')
  step version grep -F " $version (" "$run/doctor" || true
  checked=$((checked + 1))
  if [ -n "$failed" ]; then
    wrong=$((wrong + 1))
    echo "${perf##*/}: failed:$failed ($run)"
    cat "$run/why"
  else
    echo "${perf##*/}: record: $(cat "$run/counts"), as perf script lists them"
    rm -rf "$run"
  fi
done <<LAUNCHERS
$launchers
LAUNCHERS
if [ "$checked" = 0 ]; then
  echo "skipped: no perf can record here: $unusable"
  exit 77
fi
[ "$wrong" = 0 ]
