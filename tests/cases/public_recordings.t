Third-party recordings: read again from their reports, and audited.

  $ . "$CASES/common.sh"
  $ needs recordings

Reports of reports are the same:

  $ for recording in "$SKIDSCAN_RECORDINGS"/*.data; do
  >   skidscan report "$recording" --format json > report.json 2> /dev/null
  >   status=$?
  >   [ $status = 0 ] || [ $status = 2 ] || continue
  >   skidscan report report.json --format json > again.json 2> /dev/null
  >   [ $? = $status ] && cmp report.json again.json && echo same || echo "$recording"
  > done | sort -u
  same

None of their events is precise, so that no sample is impossible. Malformed ones are read or refused.

  $ find "$SKIDSCAN_RECORDINGS" -type f -path '*data*' ! -name 'LICENSE*' ! -path '*malformed*' > files
  $ while read -r file; do
  >   skidscan audit "$file" --format json > json 2> err
  >   status=$?
  >   [ $status = 0 ] || [ $status = 2 ] ||
  >     holds < json 'not any(e["samples"] for e in j["recordings"][0]["events"])' | sed "s|^|$file: $status: |"
  >   holds < json 'not any(e["impossible"] for e in j["recordings"][0]["events"])' | sed "s|^|$file: |"
  > done < files
  $ [ "$(wc -l < files)" -gt 10 ]
  $ find "$SKIDSCAN_RECORDINGS" -type f -path '*malformed*' ! -name 'LICENSE*' | while read -r file; do
  >   skidscan audit "$file" > text 2> err
  >   status=$?
  >   [ $status -le 2 ] || echo "$file: $status $(cat err)"
  > done

One has a counter that was throttled for most of the time, in 68 parts:

  $ for command in inspect audit report 'annotate --by function' 'samples --columns time'; do
  >   skidscan $command "$SKIDSCAN_RECORDINGS/quipper.perf.data.throttle-3.8" 2>&1 | tr -s '\n ' ' ' |
  >     grep -o 'one counter was stopped for 78.55% of the recorded time'
  > done | sort | uniq -c | sed 's/^ *//'
  5 one counter was stopped for 78.55% of the recorded time

A hardware trace beside samples is named with its size:

  $ for command in audit report 'annotate --by function'; do
  >   skidscan $command "$SKIDSCAN_RECORDINGS/quipper.perf.data.intel_pt-4.14" 2>&1 | tr -s '\n ' ' ' |
  >     grep -o 'beside samples, the recording has a hardware trace (intel_pt) of 149,968 bytes'
  > done | sort | uniq -c | sed 's/^ *//'
  3 beside samples, the recording has a hardware trace (intel_pt) of 149,968 bytes

A pipe of an old perf describes no machine, and has no heading for it:

  $ skidscan inspect "$SKIDSCAN_RECORDINGS/quipper.perf.data.piped.hw_and_sw-3.4" | grep -e '^[A-Z]'
  Samples
  $ skidscan inspect "$SKIDSCAN_RECORDINGS/quipper.perf.data.throttle-3.8" | grep -e '^[A-Z]'
  Samples
  Machine
  Recording
