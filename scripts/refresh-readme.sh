#!/bin/sh
# Updates the output in README.md (each block after `<!-- shown: NAME -->`) and docs/figures/skylake.svg.
# They come from the example, from reports of emulated machines in tests/data/emulated and from synthetic recordings,
# so they are the same on every machine.
# usage: refresh-readme.sh --write|--check SKIDSCAN
#   --write   updates README.md
#   --check   fails if README.md is out of date (77: the figure cannot be drawn here)
set -eu

what=${1:-}
case $what in --write | --check) ;; *) what= ;; esac
if [ -z "$what" ] || [ $# -ne 2 ]; then
  echo "usage: $0 --write|--check SKIDSCAN" >&2
  exit 64
fi
skidscan=$(realpath "$2")
[ "$(uname -m)" = x86_64 ] || { echo 'skipped: the output in README.md is for x86-64'; exit 77; }
cd "$(dirname "$0")/.."
source=$PWD
emulated=$source/tests/data/emulated
figure=docs/figures/skylake.svg
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export COLUMNS=80 LC_ALL=C.UTF-8

# The commands of README.md, with their synthetic recordings.
show_report() {
  ln -s "$source/examples/emulated-skylake.run" skidscan.run
  "$skidscan" report
}

show_compare() {
  cp "$emulated/skylake.json" before.json
  cp "$emulated/late.json" after.json
  "$skidscan" compare before.json after.json
}

show_audit() {
  "$skidscan" target -o reader >/dev/null
  cat >skids.json <<'END'
{ "schema": "skidscan.model/1", "name": "a tenth skids",
  "machine": {"vendor": "GenuineIntel", "family": 6, "model": 94, "stepping": 3},
  "events": [ { "event": "r20d1", "period": 1009, "levels": [
    {"level": 2, "exact_ip": 1, "offsets": {"kind": "empirical",
      "counts": [[0, 900], [8, 60], [24, 40]]}} ] } ] }
END
  "$skidscan" synth skids.json --target reader -o perf.data >/dev/null 2>&1
  "$skidscan" audit perf.data
}

names=$(sed -n 's/^<!-- shown: \([a-z]*\) -->$/\1/p' README.md)
for name in $names; do
  mkdir "$work/$name.d"
  (cd "$work/$name.d" && "show_$name") >"$work/$name"
done

# Replaces the block after each mark.
awk -v work="$work" '
  /^<!-- shown: / { print; file = work "/" $3; state = 1; next }
  state == 1 && /^```/ { print; while ((getline line < file) > 0) print line; state = 2; next }
  state == 2 && /^```/ { state = 0 }
  state != 2 { print }
  END { if (state != 0) { print "README.md: block without an end" > "/dev/stderr"; exit 1 } }
' README.md >"$work/README.md"

draws=yes
command -v gnuplot >/dev/null || draws=
if [ -n "$draws" ]; then
  "$skidscan" report "$source/examples/emulated-skylake.run" --plot "$work/figure.svg" >/dev/null
fi

if [ "$what" = --write ]; then
  cp "$work/README.md" README.md
  [ -z "$draws" ] || cp "$work/figure.svg" "$figure"
  exit 0
fi
status=0
diff -u README.md "$work/README.md" || status=1
version() { sed -n 's/^<desc>Produced by \(.*[^ ]\) *<\/desc>$/\1/p' "$1"; }
if [ -z "$draws" ]; then
  reason='gnuplot is missing'
elif [ "$(version "$figure")" != "$(version "$work/figure.svg")" ]; then
  reason="it was drawn by $(version "$figure"), this machine has $(version "$work/figure.svg")"
else
  reason=
  cmp "$figure" "$work/figure.svg" || status=1
fi
if [ "$status" -ne 0 ]; then
  echo "README.md or its figure is out of date: $0 --write SKIDSCAN" >&2
  exit 1
fi
[ -z "$reason" ] || { echo "skipped: README.md is current; its figure is not compared: $reason"; exit 77; }
