Third-party recordings, read again from their reports.

  $ . "$CASES/common.sh"
  $ [ -e "$SKIDSCAN_RECORDINGS/EXPECTED.tsv" ] || skip "no recordings in $SKIDSCAN_RECORDINGS"
  $ for recording in "$SKIDSCAN_RECORDINGS"/*.data; do
  >   skidscan report "$recording" --format json > report.json 2> /dev/null
  >   status=$?
  >   [ $status = 0 ] || [ $status = 2 ] || continue
  >   skidscan report report.json --format json > again.json 2> /dev/null
  >   [ $? = $status ] && cmp report.json again.json && echo same || echo "$recording"
  > done | sort -u
  same
