`skidscan report` where a clock replaces cycles, and on few samples of the built-in events; these in `annotate`.

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

Annotate lists them at their offset, at each level: a data breakpoint of x86 traps one instruction late.

  $ if [ "$(uname -m)" = x86_64 ]; then late=1; else late=0; fi
  $ skidscan annotate few -e access,execute,faults -q --format json > json
  $ cat > offsets.py <<'END'
  > import json, sys
  > listing = json.load(open("json"))
  > seen = []
  > for code in listing["codes"]:
  >     for number in (column["column"] for column in code["columns"]):
  >         column, offsets = listing["columns"][number], {}
  >         for row in code["rows"]:
  >             for count in row["counts"]:
  >                 if count["column"] == number and count["samples"]:
  >                     offsets.setdefault(row["first_offset"], []).append(count["samples"])
  >         event, read = column["event"]["label"], column["samples"]["read"]
  >         wanted = int(sys.argv[1]) if event == "access" else 0
  >         assert {at: sum(each) for at, each in offsets.items()} == {wanted: read}, offsets
  >         assert read >= 500 and code["kind"] == "target"
  >         seen.append(event)
  > assert sorted(seen) == ["access"] * 4 + ["execute"] * 4 + ["faults"] * 4, seen
  > END
  $ "$PYTHON" offsets.py $late
  $ skidscan annotate few -e access:pp -q --format json | pick columns.# columns.0.precise.requested
  columns.# = 1
  columns.0.precise.requested = 2
  $ COLUMNS=100 "$SKIDSCAN" annotate few -e access > text 2> /dev/null
  $ grep -o -e '<- trigger' -e execute text
  <- trigger
  $ skidscan annotate few -e cycles 2> err
  [64]
  $ grep -o 'access, cpu-clock, execute, faults' err
  access, cpu-clock, execute, faults
