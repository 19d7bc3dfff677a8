#!/bin/sh
# Runs a command of skidscan on an emulated CPU with PEBS, LBR, IBS or SPE (docs/lab.md): scripts/lab.sh --help.
exec python3 "$(dirname "$(realpath "$0")")/../tests/lab/run.py" "$@"
