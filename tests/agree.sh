#!/bin/sh
# Compares `skidscan samples` with the results of a second reader for third-party recordings.
# usage: agree.sh SKIDSCAN RECORDINGS     (77: skipped, the recordings are missing)
set -eu
skidscan=$1
recordings=$2
program=$recordings/../tools/agree.py
if [ ! -r "$program" ] || [ ! -r "$recordings/EXPECTED.tsv" ]; then
  echo "skipped: no recordings in $recordings (name their directory in SKIDSCAN_RECORDINGS)"
  exit 77
fi
python3 "$program" "$skidscan" "$recordings"
