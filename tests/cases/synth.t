`skidscan synth`, and what `skidscan report` finds in its recordings.

  $ . "$CASES/common.sh"
  $ needs cc

The model has everything that one can have, at two events of which one was recorded instead of the requested one.

  $ cp "$CASES/synth_model.json" model.json

What report must say of the measurements, by the truth beside them: prints what differs.

  $ cat > differs.py <<'END'
  > import json, sys
  > truths, reports = (json.load(open(name)) for name in sys.argv[1:])
  > wanted = [(truth, each) for truth in truths["recordings"] for each in truth["measurements"]]
  > found = reports["measurements"]
  > if not found or len(found) != len(wanted):
  >     print(len(found), "measurements, expected", len(wanted))
  > for (recording, truth), seen in zip(wanted, found):
  >     for key, got, want in (
  >             ("synthetic", seen["synthetic"], True), ("samples", seen["samples"], truth["samples"]),
  >             ("level", seen["precise"]["recorded"], truth["precise_ip"]),
  >             ("exact", seen["precise"]["exact_ip_samples"], truth["exact_ip_samples"]),
  >             ("lost", seen["lost_records"], recording["lost"]),
  >             ("throttled", seen["throttled"], recording["throttled"]),
  >             ("offsets", [[bar["lo"], bar["count"]] for bar in seen["histogram"]["bins"]], truth["offsets"]),
  >             ("triggers", seen["triggers"] or truth["triggers"], truth["triggers"])):
  >         if got != want:
  >             print(recording["file"], key, got, "expected", want)
  > END
  $ report() { skidscan report "$1" --format json > report.json; }
  $ check() { report "$1"; "$PYTHON" differs.py "$2" report.json; }

Target and truth are beside a recording, in which report finds them:

  $ skidscan synth model.json -o a.data | grep -o '5585 synthetic samples of the model everything, seed 99'
  5585 synthetic samples of the model everything, seed 99
  $ check a.data a.data.truth.json
  $ pick measurements.3.event.swapped < report.json
  measurements.3.event.swapped = true

Elsewhere it is found by its build-id:

  $ mkdir elsewhere; mv a.data.target elsewhere/copy
  $ skidscan report a.data | head -1
  no target of skidscan is among the sampled files that were found; 'skidscan
  $ skidscan report a.data --binary elsewhere/copy --format json > found.json
  $ cmp found.json report.json
  $ mv elsewhere/copy a.data.target
  $ skidscan report a.data > text
  $ grep -o '^SYNTHETIC' text
  SYNTHETIC
  $ skidscan inspect a.data | grep -o -m 1 'skidscan synth'
  skidscan synth
  $ skidscan synth model.json -o - | skidscan report - --format json > report.json
  $ "$PYTHON" differs.py synth.data.truth.json report.json
  $ rm synth.data.*

Nothing is replaced without --force:

  $ cp a.data before
  $ skidscan synth model.json -o a.data --seed 5
  skidscan: a.data: exists; --force replaces it
  [1]
  $ cmp a.data before
  $ skidscan synth model.json -o a.data --force -q
  $ cmp a.data before
  $ skidscan synth model.json -o a.data --force --seed 5 -q
  $ cmp -s a.data before
  [1]

Outputs go through links. FIFOs and devices: the unit tests of files.

  $ echo old > file; ln -s file link
  $ skidscan synth model.json -o link
  skidscan: link: exists; --force replaces it
  [1]
  $ cat file
  old
  $ skidscan synth model.json -o link --force -q
  $ readlink link
  file
  $ check file link.truth.json

A target that exists:

  $ skidscan target --nops 100 -o t > /dev/null
  $ skidscan synth --like pebs-sound --target t -o b.data -q
  $ check b.data b.data.truth.json
  $ skidscan synth --like pebs-sound --target u -o c.data
  skidscan: u: no such file or directory
  [1]
  $ ls b.data.target c.data
  ls: cannot access 'b.data.target': No such file or directory
  ls: cannot access 'c.data': No such file or directory
  [2]

A run with a verdict for each level, whose flag follows the request, and no warning: the trigger causes the event,
once. Repeats differ.

  $ skidscan synth --like pebs-sound --all-levels --repeat 2 -o sound.run -q
  $ check sound.run sound.run/truth.json
  $ for m in 0 1 2 3 4 5 6 7; do
  >   pick < report.json measurements.$m.repeat measurements.$m.contract.verdict \
  >     measurements.$m.contract.certified measurements.$m.warnings | sed 's/.*= //' | paste -s -d ' '
  > done
  1 "not judged" null []
  1 "kept" null []
  1 "kept" null []
  1 "kept" null []
  2 "not judged" null []
  2 "kept" null []
  2 "kept" null []
  2 "kept" null []
  $ holds < report.json 'j["measurements"][0]["histogram"] != j["measurements"][4]["histogram"]'
  $ pick synthetic < sound.run/run.json
  synthetic = true
  $ skidscan synth --like pebs-sound --all-levels -o sound.run
  skidscan: sound.run: exists; replace it with --force, or name another with -o
  [1]

A broken machine breaks the contract, on which a gate can be set:

  $ skidscan synth --like vm-broken --all-levels -o vm.run -q
  $ LC_ALL=C.UTF-8 "$SKIDSCAN" report vm.run --fail-on broken > text
  skidscan: --fail-on broken: the contract of 3 of 6 measurements is broken
  [4]
  $ grep -o -e '^SYNTHETIC' -e 'u ≠' text | sort | uniq -c
        1 SYNTHETIC
        1 u \xe2\x89\xa0 (esc)

Several triggers have a bias between them:

  $ skidscan synth --like pebs-shadow --all-levels -o shadow.run -q
  $ check shadow.run shadow.run/truth.json
  $ holds < report.json 'j["measurements"][2]["bias"]["largest_ratio"] > 7' \
  >   'j["measurements"][3]["bias"]["largest_ratio"] < 1.2' 'len(j["measurements"][2]["triggers"]) == 5' \
  >   'all(abs(m["events_per_iteration"]["measured"] - 5) < 0.001 for m in j["measurements"][2:])'

A skid into the next iteration:

  $ skidscan synth --like no-pebs --all-levels -o no-pebs.run -q
  $ holds < no-pebs.run/truth.json 'j["recordings"][0]["measurements"][0]["wrapped"] > 0' \
  >   'j["recordings"][0]["measurements"][0]["samples"]["before"] == 0'
  $ report no-pebs.run
  $ holds < report.json '"the runway, which may be" in str(j["measurements"][0]["warnings"])'

Models to start from:

  $ skidscan synth --like no-pebs --print-model > mine.json
  $ skidscan synth mine.json -o mine.data -q

Event files of a CPU that is newer than the built-in tables judge it:

  $ cat > rapids.json <<'END'
  > {"schema": "skidscan.model/1", "name": "rapids", "target": {"trigger": "load-dram"},
  >  "machine": {"vendor": "GenuineIntel", "family": 6, "model": 254, "stepping": 2}, "events": [
  >    {"event": "r412e", "period": 1009, "levels": [
  >      {"level": 2, "samples": 5000, "hits": 1, "offsets": {"kind": "constant", "offset": 1}}]},
  >    {"event": "r20d1", "period": 1009, "levels": [
  >      {"level": 2, "samples": 5000, "hits": 1, "offsets": {"kind": "constant", "offset": 1}}]}]}
  > END
  $ mkdir -p perfmon/EMR
  $ cat > perfmon/mapfile.csv <<'END'
  > Family-model,Version,Filename,EventType,Core Type,Native Model ID,Core Role Name
  > GenuineIntel-6-FE,V1.02,/EMR/emr_core.json,core,,,
  > END
  $ cat > perfmon/EMR/emr_core.json <<'END'
  > {"Header": {}, "Events": [
  >   {"EventCode": "0x2e", "UMask": "0x41", "EventName": "LONGEST_LAT_CACHE.MISS", "Precise": "0"},
  >   {"EventCode": "0xd1", "UMask": "0x20", "EventName": "MEM_LOAD_RETIRED.L3_MISS", "Precise": "1"}]}
  > END
  $ skidscan synth rapids.json -o rapids.data -q
  $ for perfmon in '' '--perfmon perfmon'; do
  >   skidscan report rapids.data $perfmon --format json |
  >     pick measurements.0.contract.verdict measurements.1.contract.verdict
  > done
  measurements.0.contract.verdict = "not judged"
  measurements.1.contract.verdict = "not judged"
  measurements.0.contract.verdict = "not judged"
  measurements.1.contract.verdict = "kept"
  $ skidscan report rapids.data --perfmon nowhere
  skidscan: nowhere/mapfile.csv: no such file or directory
  [1]

Wrong arguments:

  $ skidscan synth
  skidscan: no model was named; name a file, or one of skidscan's own models with --like: arm-pmu, gregg-2017, no-pebs, pebs-shadow, pebs-sound, vm-broken
  [64]
  $ skidscan synth model.json --like no-pebs
  skidscan: two models were named; name a file, or one of skidscan's own models with --like: arm-pmu, gregg-2017, no-pebs, pebs-shadow, pebs-sound, vm-broken
  [64]
  $ skidscan synth --like nothing
  skidscan: --like nothing: expected arm-pmu, gregg-2017, no-pebs, pebs-shadow, pebs-sound, vm-broken; try 'skidscan synth --help'
  [64]
  $ skidscan synth --like no-pebs --repeat 2
  skidscan: --repeat: repeats all levels; add --all-levels
  [64]
  $ skidscan synth missing.json
  skidscan: missing.json: no such file or directory
  [1]
  $ echo '{"schema": "skidscan.model/1", "nam": 1}' > bad.json
  $ skidscan synth bad.json
  skidscan: bad.json: the key "nam", expected schema, name, description, source, seed, target, machine, ticks_per_nop, ticks_per_second, buffers, events
  [1]
  $ ls synth.data
  ls: cannot access 'synth.data': No such file or directory
  [2]
