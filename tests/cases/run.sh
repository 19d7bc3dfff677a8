#!/bin/sh
# Runs one case with cram, in a temporary directory.
# usage: run.sh PYTHON SKIDSCAN RECORDINGS CASE.t     (77: skipped, with the reason)
# The environment's SKIDSCAN and SKIDSCAN_RECORDINGS go before the arguments.
# PLACE_SAMPLES of the environment is build/tests/place_samples, which some cases take.
set -eu
python=$1
cases=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SKIDSCAN="${SKIDSCAN:-$2}" SKIDSCAN_RECORDINGS="${SKIDSCAN_RECORDINGS:-$3}"
export PYTHONDONTWRITEBYTECODE=1 CASES="$cases" PYTHON="$python" SKIP_REASON="$work/skip_reason"
# A copy, because cram writes what differs next to the case.
cp "$cases/$4" "$work"
cd "$work"
"$python" -m cram --shell=/bin/sh "$4"
if [ -e "$SKIP_REASON" ]; then
  echo "skipped: $(cat "$SKIP_REASON")"
  exit 77
fi
