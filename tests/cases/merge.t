Reports as inputs of `skidscan report`, and `skidscan merge`.

  $ . "$CASES/common.sh"
  $ needs cc
  $ cat > model.json <<'END'
  > {"schema": "skidscan.model/1", "name": "small",
  >  "target": {"trigger": "store", "nops": 100, "lead_in_nops": 10, "gaps": [40]},
  >  "events": [{"event": "r2d0", "period": 1009, "levels": [
  >    {"level": 0, "samples": 800, "offsets": {"kind": "normal_cycles", "mean": 9, "stddev": 4}},
  >    {"level": 2, "samples": 900, "hits": 0.9, "exact_ip": 0.95,
  >     "offsets": {"kind": "uniform", "lowest": -20, "highest": 120},
  >     "elsewhere": {"kernel": 0.1, "foreign": 0.2}}]}]}
  > END
  $ for seed in 1 2 3; do
  >   skidscan synth model.json --all-levels --repeat 2 --seed $seed -o $seed.run > /dev/null
  >   skidscan report $seed.run --format json > $seed.json
  > done

A report replaces its recordings, also through pipes:

  $ for options in '--format json' '--format text' '--format csv' '--bin 7 --format csv'; do
  >   skidscan report 1.run $options > of_run
  >   skidscan report 1.json $options | cmp - of_run
  > done
  $ cat 1.json | skidscan report - --format json | cmp - 1.json
  $ skidscan report - --format json < 1.json | cmp - 1.json
  $ mkfifo fifo
  $ cat 1.json > fifo & skidscan report fifo --format json | cmp - 1.json
  $ skidscan report 1.json --format json | pick measurements.#
  measurements.# = 4
  $ skidscan report 1.json 2.run --format json | pick measurements.#
  measurements.# = 8

Recordings from pipes are read as before:

  $ skidscan synth model.json -o file.data > /dev/null
  $ skidscan synth model.json --pipe -o pipe.data > /dev/null
  $ samples() { skidscan report "$1" --format json > json; pick measurements.0.basis.offsets < json; }
  $ samples file.data > samples
  $ cat pipe.data | samples - | cmp - samples
  $ samples - < pipe.data | cmp - samples
  $ samples - < file.data | cmp - samples
  $ cat pipe.data > fifo & samples fifo | cmp - samples

A report that contradicts itself is refused, and one of an earlier version, one that was cut, and
options of measuring:

  $ edit() {
  >   "$PYTHON" -c "import json, sys; report = json.load(sys.stdin); $1; json.dump(report, sys.stdout)"
  > }
  $ edit "report['measurements'][0]['samples']['hit'] = 100000" < 1.json > wrong.json
  $ skidscan report wrong.json
  skidscan: wrong.json: 800 for "measurements[0].samples.read", expected the sum of the classes, 100789
  [1]
  $ skidscan report wrong.json 1.json > text
  skidscan: wrong.json: 800 for "measurements[0].samples.read", expected the sum of the classes, 100789
  [2]
  $ grep -c r2d0 text
  9
  $ edit "report['tool_version'] = '0.0.1'; [each.pop('basis') for each in report['measurements']]" \
  >   < 1.json > old.json
  $ skidscan report old.json
  skidscan: old.json: no "basis", as skidscan 0.0.1 wrote it for "measurements[0]", expected what the figures were computed from; write the report again: skidscan report RECORDING --format json
  [1]
  $ head -c 5000 1.json > cut.json
  $ skidscan report cut.json
  skidscan: cut.json: at offset 0x1388: text that is not JSON, expected a report: skidscan report --format json
  [1]
  $ skidscan report 1.json --hit f --runway g
  skidscan: 1.json: a report was measured before; --hit and --runway take its recordings
  [1]

The gate holds for reports, too:

  $ skidscan synth --like vm-broken -o vm.data > /dev/null
  $ skidscan report vm.data --format json > vm.json
  $ skidscan report vm.json --fail-on broken > /dev/null
  skidscan: --fail-on broken: the contract of 3 of 6 measurements is broken
  [4]

Names are escaped:

  $ edit "one = report['measurements'][0]; evil = 'evil\x1b[2J'
  > one['event'].update(label=evil, recorded=evil, requested=evil)
  > one['cpu']['model_name'] = one['file'] = one['run'] = evil; one['warnings'] = [evil]
  > one['warning_counts'] = {'event': 1, 'counts': 0, 'recording': 0}" < 1.json > evil.json
  $ for format in text csv json; do
  >   skidscan report evil.json --format $format > $format
  >   grep -m 1 -o evil $format
  >   grep "$(printf '\033')" $format
  > done
  evil
  evil
  evil
  evil
  evil
  evil
  evil
  evil
  [1]

Sums, repetition by repetition:

  $ skidscan merge 1.json 2.run > sum.json
  skidscan: 8 measurements of 2 inputs became 4
  $ for report in 1 2 sum; do
  >   pick < $report.json measurements.3.samples.read measurements.3.samples.hit \
  >     measurements.3.samples.skid measurements.3.samples.before measurements.3.samples.kernel \
  >     measurements.3.samples.other_user measurements.3.repeat | sed 's/.*= //' | xargs
  > done
  900 552 58 4 99 183 2
  900 564 53 3 115 159 2
  1800 1116 111 7 214 342 2
  $ pick < sum.json measurements.# measurements.3.parts measurements.3.run \
  >   measurements.3.merged_from.0.file measurements.3.merged_from.1.file
  measurements.# = 4
  measurements.3.parts = 2
  measurements.3.run = "1.run and 1 more"
  measurements.3.merged_from.0.file = "1.run/r2d0.pp.2.data"
  measurements.3.merged_from.1.file = "2.run/r2d0.pp.2.data"
  $ skidscan merge 1.json 2.json --pool | pick measurements.#
  skidscan: 8 measurements of 2 inputs became 2
  measurements.# = 2
  $ skidscan merge 1.run 2.json --as-repeats | pick measurements.# measurements.7.repeat
  skidscan: 8 measurements of 2 inputs became 8
  measurements.# = 8
  measurements.7.repeat = 4

Sums are inputs again:

  $ skidscan merge 1.json 2.json -o 12.json
  skidscan: 8 measurements of 2 inputs became 4
  $ skidscan merge 12.json 3.json > in_steps
  skidscan: 8 measurements of 2 inputs became 4
  $ skidscan merge 1.json 2.json 3.json | cmp - in_steps
  skidscan: 12 measurements of 3 inputs became 4
  $ skidscan report 12.json > text
  $ grep -o '1.run and 1 more' text
  1.run and 1 more
  $ skidscan merge 1.json --pool 2> /dev/null | skidscan report - > /dev/null

Other configurations are not added up, nor a recording twice:

  $ edit "[each.update(kernel='9.9') for each in report['measurements']]" < 2.json > other.json
  $ skidscan merge 1.json other.json > sum.json
  skidscan: not added up: r2d0: kernel: synthetic and 9.9
  skidscan: not added up: r2d0:pp: kernel: synthetic and 9.9
  skidscan: 8 measurements of 2 inputs became 8
  skidscan: nothing was added up: no two measurements have the same configuration
  [1]
  $ pick measurements.# < sum.json
  measurements.# = 8
  $ skidscan merge 1.json other.json --as-repeats > /dev/null
  skidscan: not added up: r2d0: kernel: synthetic and 9.9
  skidscan: not added up: r2d0:pp: kernel: synthetic and 9.9
  skidscan: 8 measurements of 2 inputs became 8
  $ skidscan merge 1.json > /dev/null
  skidscan: 4 measurements of 1 input became 4
  $ skidscan merge 1.json 1.run -o twice.json
  skidscan: 1.json and 1.run: both contain the recording 1.run/r2d0.none.1.data, whose samples would count twice; leave one out, or add --allow-duplicates
  [1]
  $ test -e twice.json
  [1]

The other commands that add inputs up refuse it, too: under another path, as a copy, and beside its run. One input beside
itself is still compared:

  $ cp 1.run/r2d0.pp.1.data copy.data
  $ for command in 'report 1.run 1.run' 'report 1.json 1.run/r2d0.pp.1.data' 'report 1.run copy.data' \
  >     'audit copy.data copy.data' 'audit 1.run ./1.run/../copy.data' 'correct copy.data ./copy.data' \
  >     'compare --by machine 1.json 2.json 1.run'; do
  >   skidscan $command > text
  > done
  skidscan: 1.run and 1.run: both contain the recording 1.run/r2d0.none.1.data, whose samples would count twice; leave one out
  skidscan: 1.json and 1.run/r2d0.pp.1.data: both contain the recording 1.run/r2d0.pp.1.data, whose samples would count twice; leave one out
  skidscan: 1.run and copy.data: both contain the recording copy.data, whose samples would count twice; leave one out
  skidscan: copy.data and copy.data: both contain the recording copy.data, whose samples would count twice; leave one out
  skidscan: 1.run and ./1.run/../copy.data: both contain the recording ./1.run/../copy.data, whose samples would count twice; leave one out
  skidscan: copy.data and ./copy.data: both contain the recording ./copy.data, whose samples would count twice; leave one out
  skidscan: 1.json and 1.run: both contain the recording 1.run/r2d0.none.1.data, whose samples would count twice; leave one out
  [1]
  $ skidscan compare 1.run 1.run > text

Wrong usage, and inputs that are missing:

  $ skidscan merge
  skidscan: merge: no input; name reports, runs or recordings
  [64]
  $ skidscan merge 1.json --pool --as-repeats
  skidscan: --as-repeats: cannot be combined with --pool; try 'skidscan merge --help'
  [64]
  $ skidscan merge nothing.json
  skidscan: nothing.json: no such file or directory
  [1]
  $ skidscan merge 1.json nothing.json > /dev/null
  skidscan: nothing.json: no such file or directory
  skidscan: 4 measurements of 2 inputs became 4
  [2]
  $ edit "[(m.update(samples={name: 0 for name in m['samples']}),
  >   [trigger.update(samples=0, hits=0) for trigger in m['triggers']],
  >   m['basis'].update(offsets={unit: [] for unit in m['basis']['offsets']}),
  >   m['precise'].update(exact_ip_samples=0, exact_ip_hits=0, exact_ip_off_trigger=0))
  >   for m in report['measurements']]" < 1.json > none.json
  $ skidscan merge 1.json none.json > sum.json
  skidscan: none.json: no samples were recorded
  skidscan: 8 measurements of 2 inputs became 4
  [2]

Commands that read samples refuse reports:

  $ for command in audit annotate samples inspect; do
  >   skidscan $command 1.json 2>> err; echo "$command $?"
  > done
  audit 1
  annotate 1
  samples 1
  inspect 1
  $ sort -u err
  skidscan: 1.json: JSON text, such as a report of skidscan, expected a recording of perf; name the recording that it was made from; reports are for 'skidscan report', 'compare' and 'merge'
