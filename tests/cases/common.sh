# Functions for cases; each case begins with `. "$CASES/common.sh"`.

skidscan() { "$SKIDSCAN" "$@"; }

# Values of JSON on standard input, one a line.
pick() { "$PYTHON" "$CASES/pick.py" "$@"; }

# Skips the whole case for a reason. Only before its first output: a skip hides what differs before it.
skip() { echo "$*" > "$SKIP_REASON"; exit 80; }

# Skips the whole case unless all of these facts of the machine hold (tests/support/find_facts.cpp).
needs() {
  for fact; do
    why=$("$FACTS" "$fact") || skip "${why#skipped: }"
  done
}

# Prints those of the Python expressions that do not hold of "j", JSON on standard input.
holds() {
  "$PYTHON" -c 'import json, sys
j = json.load(sys.stdin)
for each in sys.argv[1:]:
    if not eval(each): print("not", each)' "$@"
}

# Runs a command, and again where SIGTRAP ends it: some virtual machines give programs the debug exceptions of
# perf's breakpoints.
again_after_trap() {
  for try in 1 2 3 4; do
    status=0
    sh -c '"$@"; exit $?' sh "$@" 2> messages || status=$?
    [ $status = 133 ] || break
  done
  [ $status = 0 ] || cat messages
  return $status
}

# perf record -o perf.data, leaving the user's build-id cache alone.
perf_record() { again_after_trap perf record --no-bpf-event -q -N -o perf.data "$@"; }
