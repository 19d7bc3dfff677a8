#!/bin/sh
# Runs clang-tidy on our code: all of it, or what changed since COMMIT. Every finding is an error.
# Takes a build directory, which knows how files are compiled; scripts/check.sh leaves build-check.
# usage: tidy.sh [COMMIT]
set -eu
cd "$(dirname "$0")/.."

scripts/install-dependencies.sh develop

build='build-check'
[ -f "$build/compile_commands.json" ] || build=build
[ -f "$build/compile_commands.json" ] || {
  echo "$0: neither build-check nor build knows how files are compiled; run cmake first" >&2
  exit 1
}

list() {
  if [ "$#" -gt 0 ]; then
    git diff -z --name-only --diff-filter=d "$1" -- 'src/*.cpp' 'runway/*.cpp' 'analysis/*.cpp' 'plots/*.cpp'
  else
    git ls-files -z -- 'src/*.cpp' 'runway/*.cpp' 'analysis/*.cpp' 'plots/*.cpp'
  fi
}

# What a passing file prints is no more than how many warnings of headers were left out. The largest
# first, so that all processors are busy to the end. The analyzer gives up on a function after
# 50,000 steps instead of 225,000, which takes 40% off the whole.
# shellcheck disable=SC2016 # the inner shell's variables
tidy='found=$(clang-tidy -p "$0" --quiet --extra-arg=-Wno-unknown-warning-option \
    --extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang \
    --extra-arg=max-nodes=50000 "$1" 2>&1) ||
  { printf "%s\n" "$found" >&2; exit 1; }'
list "$@" | xargs -0 -r ls -S | xargs -r -n 1 -P "$(nproc)" sh -c "$tidy" "$build"
