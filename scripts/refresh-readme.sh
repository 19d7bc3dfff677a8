#!/bin/sh
# Makes the output and the figure that README.md shows, from real runs on this machine.
# usage: refresh-readme.sh SKIDSCAN
set -eu
skidscan=$(realpath "$1")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$skidscan" record -q -o "$work/default.run"
"$skidscan" report "$work/default.run" --plot docs/figures/default-set.png >/dev/null
"$skidscan" record -q -e access -p p,pp -o "$work/skidscan.run"
(cd "$work" && LC_ALL=C.UTF-8 COLUMNS=80 "$skidscan" report) >"$work/report.txt"

awk -v report="$work/report.txt" '
  /^<!-- report begins/ { print; print "```"; while ((getline line < report) > 0) print line
                          print "```"; skipping = 1 }
  /^<!-- report ends/ { skipping = 0 }
  !skipping || /^<!-- report ends/ { if (!/^<!-- report begins/) print }
' README.md >"$work/README.md"
cp "$work/README.md" README.md
