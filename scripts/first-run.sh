#!/bin/sh
# Installs missing packages, builds skidscan, records the default set of this machine, prints the report
# and draws a figure.
set -eu
cd "$(dirname "$0")/.."

scripts/install-dependencies.sh run
scripts/configure.sh build -DSKIDSCAN_TESTS=OFF
cmake --build build
build/skidscan record
build/skidscan report --no-pager --plot skidscan.png
echo "figure: $PWD/skidscan.png" >&2
