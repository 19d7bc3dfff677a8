#!/bin/sh
# Fuzzes every reader of untrusted input under AddressSanitizer and UndefinedBehaviorSanitizer, as many targets
# at a time as there are cores.
# usage: fuzz.sh [SECONDS] [TARGET...]
#   SECONDS   for each target, default 60
#   TARGET    a name in tests/fuzz/corpus; default all
#   FUZZ_SEEDS in the environment: a directory of further recordings to start from
# Starts with the inputs in tests/fuzz/corpus and those of earlier runs in build-fuzz/corpus/TARGET, which
# are reduced to inputs with coverage of their own. Failing inputs are kept in build-fuzz/failures/TARGET;
# the exit status is then 1. Finally prints the executions and the coverage of each target; libFuzzer's
# output is in build-fuzz/TARGET.log.
set -eu
cd "$(dirname "$0")/.."

# Fuzzes $1 for $2 seconds; writes its line of the summary to build-fuzz/$1.summary.
fuzz_target() {
  target=$1
  found=build-fuzz/corpus/$target
  failures=build-fuzz/failures/$target
  program=build-fuzz/tests/fuzz/fuzz_$target
  log=build-fuzz/$target.log
  mkdir -p "$found" "$failures"
  set -- "$found" "tests/fuzz/corpus/$target"
  case $target in recording | pipe | corrected) [ -z "${FUZZ_SEEDS:-}" ] || set -- "$@" "$FUZZ_SEEDS" ;; esac
  failed=
  # shellcheck disable=SC2086 # one limit per word
  if ! "$program" $limits -max_total_time="$seconds" -artifact_prefix="$failures/" "$@" 2>"$log"; then
    failed=failed
    grep -v '^#[0-9]' "$log" | tail -n 60 >&2
  fi
  # Status lines: "#585796	DONE   cov: 1481 ft: 4339 corp: 564/618Kb … exec/s: 9763 …"
  awk -v target="$target" -v failed="$failed" '
    /^#[0-9]+[ \t].* cov: [0-9]+ ft: [0-9]+/ {
      executions = substr($1, 2)
      for (i = 2; i < NF; ++i) {
        if ($i == "cov:") edges = $(i + 1)
        if ($i == "ft:") features = $(i + 1)
        if ($i == "exec/s:") rate = $(i + 1)
      }
    }
    END { printf "%-12s %12s %8s %8s %8s %s\n", target, executions, rate, edges, features, failed }' \
    "$log" | tee "build-fuzz/$target.summary"
  rm -rf "$found.reduced"
  mkdir "$found.reduced"
  # shellcheck disable=SC2086
  "$program" $limits -merge=1 -artifact_prefix="$failures/merge-" "$found.reduced" "$@" \
    2>/dev/null || true
  if [ -n "$(ls "$found.reduced")" ]; then
    rm -rf "$found"
    mv "$found.reduced" "$found"
  fi
}

# -entropic=0: libFuzzer would spend most of its time on weights of inputs.
# AddressSanitizer's quarantine counts towards -rss_limit_mb, and memory that is used again is in the caches.
export ASAN_OPTIONS=quarantine_size_mb=4:malloc_context_size=5
limits='-entropic=0 -max_len=65536 -rss_limit_mb=512 -timeout=10'
if [ "${1:-}" = --one ]; then
  seconds=$2
  fuzz_target "$3"
  exit
fi
seconds=${1:-60}
[ $# -eq 0 ] || shift
# shellcheck disable=SC2046 # one target per word
[ $# -gt 0 ] || set -- $(cd tests/fuzz/corpus && printf '%s\n' */ | tr -d /)

# Without traces of comparisons of numbers: a quarter more executions. Those of strings stay.
cmake -S . -B build-fuzz -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O2 -g1 -fno-sanitize-coverage=trace-cmp' \
  -DSKIDSCAN_FUZZ=ON >/dev/null
# shellcheck disable=SC2046 # one target per word
cmake --build build-fuzz --target $(printf 'fuzz_%s ' "$@")

printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 scripts/fuzz.sh --one "$seconds" || true
printf '\n%-12s %12s %8s %8s %8s\n' target executions per-s edges features
failed=
for target; do
  cat "build-fuzz/$target.summary"
  ! grep -q failed "build-fuzz/$target.summary" || failed="$failed $target"
done
[ -z "$failed" ] || { echo "failed:$failed; see build-fuzz/failures" >&2; exit 1; }
