#!/bin/sh
# Configures the build of README.md's commands: optimized, without debug information. The default compiler
# is clang, which needs half of GCC's time; CXX selects another.
# usage: configure.sh DIR [CMAKE-OPTION...]
set -eu
cd "$(dirname "$0")/.."
dir=$1
shift
cmake -S . -B "$dir" -G Ninja -DCMAKE_CXX_COMPILER="${CXX:-clang++}" \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O2 -DNDEBUG' \
  -DSKIDSCAN_COLD_OPTIONS=-O1 -DSKIDSCAN_UNITY=16 "$@" >/dev/null
