#!/bin/sh
# The main job on a fresh machine: installs what is missing, builds skidscan, records the default
# set of this machine, prints the report and leaves a figure.
set -eu
cd "$(dirname "$0")/.."

scripts/install-dependencies.sh run
# Several sources at a time, as most of their compilation is the same headers; neither debug
# information nor warnings, which are scripts/check.sh's.
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O2 -DNDEBUG -w' -DSKIDSCAN_TESTS=OFF \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=8 >/dev/null
cmake --build build
build/skidscan record
build/skidscan report --plot skidscan.png
echo "figure: $PWD/skidscan.png" >&2
