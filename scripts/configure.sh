#!/bin/sh
# Configures a build as README.md's commands use it: optimized, without debug information. clang
# compiles skidscan in half of GCC's time; CXX names another compiler.
# usage: configure.sh DIR [CMAKE-OPTION...]
set -eu
cd "$(dirname "$0")/.."
dir=$1
shift
cmake -S . -B "$dir" -G Ninja -DCMAKE_CXX_COMPILER="${CXX:-clang++}" \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O2 -DNDEBUG' "$@" >/dev/null
