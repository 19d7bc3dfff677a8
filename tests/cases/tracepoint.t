Payloads of tracepoints in `skidscan samples`, compared with perf; page faults checked by them.

  $ . "$CASES/common.sh"
  $ needs page-fault-tracepoint samples-of-all

Payloads are printed as perf prints them. Its plugins print some events in words of their own, which are not
those of the recording; it pads between its columns.

  $ events='-e exceptions:page_fault_user'
  $ perf record -q -o probe -e sched:sched_process_exec -- true 2> /dev/null &&
  >   events="$events -e sched:sched_process_exec"
  $ perf_record -a -c 1 $events -- sh -c 'ls /; ls / | cat; echo x > /dev/null' > /dev/null
  $ TRACEEVENT_PLUGIN_DIR=/nonexistent perf script -i perf.data -F trace 2> /dev/null |
  >   sed 's/^ *//' | sort > of_perf
  $ skidscan samples -q perf.data --columns trace | sed '1d; s/^ *//' | sort | cmp - of_perf
  $ [ "$(wc -l < of_perf)" -gt 100 ]

Fields are named in JSON lines:

  $ perf_record $events -e cpu-clock -- /bin/sh -c '/bin/true; /bin/true'
  $ skidscan samples -q perf.data --columns event,tid,trace --format jsonl | sed '1s/^/[/; $!s/$/,/; $s/$/]/' > json
  $ execs='[s for s in j if s["event"] == "sched:sched_process_exec"]'
  $ faults='[s for s in j if s["event"] == "exceptions:page_fault_user"]'
  $ holds < json "len($execs) >= 2 or '$events'.find('exec') < 0" 'any(s["trace"] is None for s in j)' \
  >   "all(s['trace']['pid'] == s['tid'] and s['trace']['filename'][0] == '/' for s in $execs)" \
  >   "all(type(s['trace']['ip']) == int for s in $faults)" \
  >   "all(s['trace'] is None for s in j if ':' not in s['event'])"

Every sampled page fault of a target agrees with the tracepoint, which is no measurement of its own:

  $ skidscan record -e faults -p none,pp --check-ip --samples 1000 -o run -q
  $ skidscan report run --format json > json
  $ pick < json measurements.#
  measurements.# = 2
  $ all() { # EXPRESSION on "m": of all measurements
  >   holds < json "all($1 for m in j['measurements'])"
  > }
  $ all "m['ip_check']['tracepoint'] == 'exceptions:page_fault_user'"
  $ all "m['ip_check']['compared'] >= 1000"
  $ all "m['ip_check']['agreeing'] == m['ip_check']['compared']"
  $ all "m['ip_check']['compared'] + m['ip_check']['unpaired'] == m['samples']['read'] - m['samples']['kernel']"
  $ all "m['period']['effective'] == 7 and not m['event']['swapped'] and not m['warnings']"
  $ all "m['samples']['hit'] == m['judged_samples']"
  $ skidscan report run > text
  $ grep -o '^IP check' text
  IP check

So do page faults of any program and period:

  $ perf_record -c 1 -e page-faults/period=3/ -e exceptions:page_fault_user -- sh -c 'ls /; ls /' > /dev/null
  $ skidscan report perf.data --format json > json
  $ pick < json measurements.# measurements.0.event.requested
  measurements.# = 1
  measurements.0.event.requested = "page-faults/period=3/"
  $ all "m['ip_check']['agreeing'] == m['ip_check']['compared'] > 10"

Without page faults there is nothing to check:

  $ skidscan record -e cpu-clock --check-ip
  skidscan: the check of IPs needs page faults, of which none are recorded; add -e faults
  [64]

Payloads of another machine are all printed:

  $ piped=$SKIDSCAN_RECORDINGS/linuxtracepoints.TestOutput_pipe.data
  $ if [ -e "$piped" ]; then
  >   skidscan samples "$piped" --columns trace | sed 's/.*=.*/a payload/' | sort | uniq -c
  > else
  >   printf '%7d a payload\n%7d trace\n' 551 1
  > fi
      551 a payload
        1 trace
