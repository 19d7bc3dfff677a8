`skidscan report` where a clock replaces cycles, and on few samples of the built-in events.

  $ . "$CASES/common.sh"
  $ needs_perf_record -e cpu-clock
  $ skidscan doctor --format json > doctor || true
  $ usable=$(grep -c '"usable": true' doctor)
  $ [ "$(pick exit_status < doctor) $usable" = 'exit_status = 3 4' ] ||
  >   skip 'this machine has a PMU, or no breakpoint fires on it'

A clock that replaced cycles is named, in plain recordings, too:

  $ skidscan record -e cycles -p pp --samples 500 -o clock -q
  $ skidscan report clock --format json > json
  $ pick < json measurements.0.event.requested measurements.0.event.swapped measurements.0.event.type \
  >   measurements.0.contract.verdict
  measurements.0.event.requested = "cycles:pp"
  measurements.0.event.swapped = true
  measurements.0.event.type = 1
  measurements.0.contract.verdict = "not judged"
  $ holds < json "'cpu-clock' in j['measurements'][0]['event']['recorded']" \
  >   "'instead of cycles:pp' in str(j['measurements'][0]['warnings'])"
  $ skidscan report clock > text
  $ grep -o 'recorded cpu-clock.* instead of cycles:pp' text
  recorded cpu-clock:ppH instead of cycles:pp
  $ perf_record -e cycles:pp -c 100003 -- true
  $ skidscan report perf.data --format json |
  >   pick measurements.0.event.requested measurements.0.event.swapped measurements.0.trigger.kind
  measurements.0.event.requested = "cycles:pp"
  measurements.0.event.swapped = true
  measurements.0.trigger.kind = null

Five hundred samples decide nothing:

  $ skidscan record --samples 500 -o few -e access,execute,faults,cpu-clock -q
  $ skidscan report few --format json > json
  $ pick < json measurements.#
  measurements.# = 16
  $ holds < json "all(m['samples']['read'] >= 500 for m in j['measurements'])" \
  >   "all(m['contract']['verdict'] in ('undecided', 'not judged') for m in j['measurements'])"
  $ skidscan report few --fail-on broken --format csv > csv
  skidscan: --fail-on broken: no event of a PMU was recorded, so no precise level is judged; --allow-not-judged accepts that
  [5]
