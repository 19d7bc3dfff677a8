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
python3 "$program" "$skidscan" "$recordings"
