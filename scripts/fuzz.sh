#!/bin/sh
# Fuzzes every reader of untrusted input under AddressSanitizer and UndefinedBehaviorSanitizer.
# usage: fuzz.sh [SECONDS] [TARGET...]
#   SECONDS   for each target, default 60
#   TARGET    recording, pipe, features, note, symbols, tracepoints, instructions, perfstat,
#             report; default all
# Starts with the inputs in tests/fuzz/corpus and those of earlier runs in build-fuzz/corpus/TARGET, which
# are reduced to inputs with coverage of their own. Failing inputs are kept in build-fuzz/failures/TARGET;
# the exit status is then 1. Finally prints the executions and the coverage of each target; libFuzzer's
# output is in build-fuzz/TARGET.log.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- recording pipe features note symbols tracepoints instructions perfstat \
  report

cmake -S . -B build-fuzz -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O1 -g1' \
  -DSKIDSCAN_FUZZ=ON >/dev/null
# shellcheck disable=SC2046 # one target per word
cmake --build build-fuzz --target $(printf 'fuzz_%s ' "$@")

# AddressSanitizer's quarantine counts towards -rss_limit_mb; its default of 256 MiB is too much.
export ASAN_OPTIONS=quarantine_size_mb=64
limits='-max_len=65536 -rss_limit_mb=512 -timeout=10'
failed=
summary=$(printf '%-12s %12s %8s %8s' target executions edges features)
for target; do
  found=build-fuzz/corpus/$target
  failures=build-fuzz/failures/$target
  program=build-fuzz/tests/fuzz/fuzz_$target
  mkdir -p "$found" "$failures"
  printf '\n== %s for %ss\n' "$target" "$seconds"
  log=build-fuzz/$target.log
  # shellcheck disable=SC2086 # one limit per word
  if ! "$program" $limits -max_total_time="$seconds" -artifact_prefix="$failures/" \
    "$found" "tests/fuzz/corpus/$target" 2>"$log"; then
    failed="$failed $target"
    grep -v '^#[0-9]' "$log" | tail -n 60 >&2
  fi
  # Status lines: "#585796	DONE   cov: 1481 ft: 4339 corp: 564/618Kb …"
  line=$(awk -v target="$target" '
    /^#[0-9]+[ \t].* cov: [0-9]+ ft: [0-9]+/ {
      executions = substr($1, 2)
      for (i = 2; i < NF; ++i) {
        if ($i == "cov:") edges = $(i + 1)
        if ($i == "ft:") features = $(i + 1)
      }
    }
    END { printf "%-12s %12s %8s %8s", target, executions, edges, features }' "$log")
  echo "$line"
  summary="$summary
$line"
  rm -rf "$found.reduced"
  mkdir "$found.reduced"
  # shellcheck disable=SC2086
  "$program" $limits -merge=1 -artifact_prefix="$failures/merge-" "$found.reduced" "$found" \
    "tests/fuzz/corpus/$target" 2>/dev/null || true
  if [ -n "$(ls "$found.reduced")" ]; then
    rm -rf "$found"
    mv "$found.reduced" "$found"
  fi
done
printf '\n%s\n' "$summary"
[ -z "$failed" ] || { echo "failed:$failed; see build-fuzz/failures" >&2; exit 1; }
