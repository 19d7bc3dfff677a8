#!/bin/sh
# Holds `skidscan samples` against what a second reader found in recordings of others.
# usage: agree.sh SKIDSCAN RECORDINGS     (77: skipped, because the recordings are not here)
set -eu
skidscan=$1
recordings=$2
program=$recordings/../tools/agree.py
if [ ! -r "$program" ] || [ ! -r "$recordings/EXPECTED.tsv" ]; then
  echo "skipped: no recordings in $recordings (name their directory in SKIDSCAN_RECORDINGS)"
  exit 77
fi
# Recordings in pipe mode and compressed ones are not read yet.
table=$(mktemp)
trap 'rm -f "$table"' EXIT
awk -F '\t' 'NR == 1 || ($2 == "file" && $1 !~ /compressed/)' "$recordings/EXPECTED.tsv" >"$table"
python3 "$program" "$skidscan" "$recordings" "$table"
