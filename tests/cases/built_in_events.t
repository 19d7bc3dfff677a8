The built-in events, and a clock that replaced cycles, in `skidscan report`, `annotate` and `audit`.

  $ . "$CASES/common.sh"
  $ needs samples no-core-pmu

Cycles are not recorded where perf would record a clock in their place:

  $ skidscan record -e cycles:u -p pp --samples 500 -o clock -q
  skidscan: cycles:u: this machine has no PMU that counts cycles, and perf would silently record cpu-clock in their place ('skidscan doctor' reports why); record cpu-clock itself
  [1]
  $ ls

A clock that replaced cycles is named:

  $ skidscan target -o target > layout
  $ perf_record -e cycles:pp -c 100003 -- ./target --seconds 0.5 > line
  $ mv perf.data clock
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
  $ grep -o 'recorded cpu-clock.* instead of cycles:pp' text | sed 's/:[a-zA-Z]* instead/ instead/'
  recorded cpu-clock instead of cycles:pp
  $ perf_record -e cycles:pp -c 100003 -- true
  $ skidscan report perf.data --format json |
  >   pick measurements.0.event.requested measurements.0.event.swapped measurements.0.trigger.kind
  measurements.0.event.requested = "cycles:pp"
  measurements.0.event.swapped = true
  measurements.0.trigger.kind = null

Five hundred samples decide nothing:

  $ breakpoints=; ! "$FACTS" breakpoints > why || breakpoints=access,execute,
  $ skidscan record --samples 500 -o few -e ${breakpoints}faults,cpu-clock -q
  $ skidscan report few --format json > json
  $ holds < json "len(j['measurements']) == (16 if '$breakpoints' else 8)" \
  >   "all(m['samples']['read'] >= 500 for m in j['measurements'])" \
  >   "all(m['contract']['verdict'] in ('undecided', 'not judged') for m in j['measurements'])"
  $ skidscan report few --fail-on broken --format csv > csv
  skidscan: --fail-on broken: no event of a PMU was recorded, so no precise level of a PMU is judged; --allow-not-judged accepts that
  [5]

Annotate lists them at their offset, at each level: a data breakpoint of x86 traps one instruction late.

  $ if [ "$(uname -m)" = x86_64 ]; then late=1; else late=0; fi
  $ skidscan annotate few -e ${breakpoints}faults -q --format json > json
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
  > events = sys.argv[2].split(",")
  > assert sorted(seen) == sorted(events * 4), seen
  > END
  $ "$PYTHON" offsets.py $late ${breakpoints}faults
  $ skidscan annotate few -e faults:pp -q --format json | pick columns.# columns.0.precise.requested
  columns.# = 1
  columns.0.precise.requested = 2
  $ COLUMNS=100 "$SKIDSCAN" annotate few -e faults > text 2> /dev/null
  $ grep -o -e '<- trigger' -e cpu-clock text
  <- trigger
  $ skidscan annotate few -e cycles 2> err
  [1]
  $ grep -o 'cpu-clock, [a-z, ]*faults' err | sed 's/execute, //'
  cpu-clock, faults

Audit finds no impossible sample. A few may be in the kernel or in what runs before the loop. The tracepoint of
page faults is no event of its own.

  $ skidscan audit few -e ${breakpoints}faults -q --format json > json
  $ cat > verdicts.py <<'END'
  > import json, sys
  > recordings = json.load(open("json"))["recordings"]
  > events = [event for recording in recordings for event in recording["events"]]
  > assert len(events) == 4 * len(sys.argv[1].split(","))
  > assert all(len(each["events"]) <= 1 for each in recordings)
  > for event in events:
  >     verdict = "can" if event["event"] == "execute" else "conditional"
  >     assert event["impossible"] == 0 and event["verdicts"][verdict] == event["judged"], event
  >     assert event["samples"] >= 500 and event["judged"] >= 0.99 * event["samples"], event
  > END
  $ "$PYTHON" verdicts.py ${breakpoints}faults
