Level 0 samples where the interrupt arrived, 12 to 19 instructions after a branch. Of a loop of two branches each sample
is of the one before it, so that those after the back-edge are not of the next trigger.

  $ . "$CASES/common.sh"
  $ needs cc
  $ model() { # LEVELS: of taken branches of a Skylake
  >   cat > model.json <<END
  > {"schema": "skidscan.model/1", "name": "two branches", "seed": 7,
  >  "target": {"arch": "x86_64", "trigger": "$2", "nops": 600, "lead_in_nops": 200},
  >  "machine": {"vendor": "GenuineIntel", "family": 6, "model": 94, "stepping": 3},
  >  "events": [{"event": "$3:u", "period": 36, "levels": [$1]}]}
  > END
  >   skidscan synth model.json --force -q -o m.data
  >   skidscan report m.data --format json > json
  > }
  $ model '{"level": 0, "samples": 6000, "offsets": {"kind": "uniform", "lowest": 13, "highest": 20},
  >   "other_triggers": 0.5}' branch-taken r20c4
  $ holds < json '[m["skid"]["instructions"][k] for m in j["measurements"] for k in ("min", "max")] == [13, 20]' \
  >   '2800 < j["measurements"][0]["samples"]["skid"] < 3200' \
  >   'j["measurements"][0]["samples"]["skid"] + j["measurements"][0]["samples"]["other_trigger"] == 6000'

At a precise level a sample there is before the trigger, and stays so:

  $ model '{"level": 2, "samples": 100, "offsets": {"kind": "constant", "offset": -182}}' branch-taken r20c4
  $ pick < json measurements.0.skid.instructions.p50 measurements.0.contract.verdict
  measurements.0.skid.instructions.p50 = -182
  measurements.0.contract.verdict = "broken"

A skid past the end of the runway of a lone trigger is longer than the runway:

  $ model '{"level": 0, "samples": 6000, "offsets": {"kind": "constant", "offset": 700}}' load r81d0
  $ pick < json measurements.0.skid.instructions.p50 measurements.0.skid.instructions.at_least.0 \
  >   measurements.0.samples.before
  measurements.0.skid.instructions.p50 = 600
  measurements.0.skid.instructions.at_least.0 = "p50"
  measurements.0.samples.before = 0

Events of every instruction are before the trigger there:

  $ model '{"level": 0, "samples": 6000, "offsets": {"kind": "constant", "offset": 700}}' load cycles
  $ holds < json 'j["measurements"][0]["samples"]["before"] == 6000'
