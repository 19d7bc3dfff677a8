`skidscan compare` on runs whose skid is known.

  $ . "$CASES/common.sh"
  $ needs cc
  $ model() { # EVENT LEVELS [KERNEL]
  >   cat > model.json <<END
  > {"schema": "skidscan.model/1", "name": "test", "seed": 3, "target": {"trigger": "load", "nops": 300},
  >  "machine": {"kernel": "${3:-6.1}"}, "events": [{"event": "$1", "period": 7, "levels": [$2]}]}
  > END
  > }
  $ make() { skidscan synth model.json --all-levels -o "$@" > /dev/null; }
  $ on_the_spot='{"level": 2, "samples": 5000, "hits": 1, "offsets": {"kind": "constant", "offset": 0}}'
  $ one_late='{"level": 2, "samples": 5000, "offsets": {"kind": "constant", "offset": 1}}'
  $ model access:u "$on_the_spot"; make good; make same --seed 8
  $ model access:u "$one_late"; make worse
  $ model faults:u "$on_the_spot"; make other

A known difference: as an execute breakpoint traps, and as a data breakpoint does on x86.

  $ skidscan compare good worse same --format json > json
  $ pick < json schema rows.# rows.0.cells.1.outcome rows.0.cells.1.differences.mean.difference \
  >   rows.0.cells.1.differences.hit_ratio.difference \
  >   rows.0.cells.1.differences.distribution.wasserstein rows.0.cells.2.outcome
  schema = "skidscan.compare/1"
  rows.# = 1
  rows.0.cells.1.outcome = "worse"
  rows.0.cells.1.differences.mean.difference = 1.0
  rows.0.cells.1.differences.hit_ratio.difference = -1.0
  rows.0.cells.1.differences.distribution.wasserstein = 1.0
  rows.0.cells.2.outcome = "no difference shown"
  $ skidscan compare good worse --baseline worse --format json | pick baseline rows.0.cells.0.outcome
  baseline = "b"
  rows.0.cells.0.outcome = "better"

A run compared with itself is named, and not taken for another one of its machine.

  $ skidscan compare good good | grep -c 'the same run; 1 measurement'
  1
  $ skidscan compare good same | grep -c 'the same run'
  0
  [1]

The gate passes for equal and fails for worse and missing:

  $ gate() { skidscan compare "$1" --baseline good --fail-on worse > /dev/null; }
  $ gate same
  $ gate worse
  skidscan: --fail-on worse: 1 worse than the baseline, 0 missing, 0 that could not be compared
  [4]
  $ gate other
  skidscan: --fail-on worse: 0 worse than the baseline, 1 missing, 0 that could not be compared
  [4]
  $ skidscan compare good worse > text
  $ grep worse text
  1 comparison with a (baseline): 1 worse; worse: access:u pp
  b          worse
                     b           0%       0-0.08%       1    1  worse

Runs of two models differ where the models do:

  $ for model in pebs-sound vm-broken; do
  >   skidscan synth --like $model --all-levels -o $model > /dev/null
  > done
  $ skidscan compare pebs-sound vm-broken --details > text
  $ grep -e SYNTHETIC -e 'r81d0, pp' -e 'kept -> broken' -e cycles:u -e 'only in b' text
  SYNTHETIC  a, b: samples made by skidscan synth, not measured
  -- cycles:u --------------------------------------------------------------------
      contract      kept -> broken
    r81d0, pp: b against a: worse
      contract      kept -> broken
    r81d0, ppp: b against a: worse
      contract      kept -> broken
    cycles:u, none, pp: only in b
    r81d0, ppp: b: some skids are longer than the runway; mean and distribution
  $ skidscan compare pebs-sound vm-broken --format csv > csv
  $ grep -o -e side,inputs,cpu -e 'not in the baseline' csv | sort -u
  not in the baseline
  side,inputs,cpu

Repeats are compared over runs:

  $ uniform='{"level": 2, "samples": 3000, "hits": 0.7,
  >   "offsets": {"kind": "uniform", "lowest": 20, "highest": 60}}'
  $ model r81d0:u "$uniform"; make a.run --repeat 3; make b.run --repeat 3 --seed 4
  $ model r81d0:u "$uniform" 6.12; make c.run --repeat 2
  $ skidscan compare a.run b.run --format json |
  >   pick rows.0.cells.1.over rows.0.cells.1.measurements.# rows.0.cells.1.outcome
  rows.0.cells.1.over = "runs"
  rows.0.cells.1.measurements.# = 3
  rows.0.cells.1.outcome = "no difference shown"

Runs of one machine by machine: all six are repeats, and there is nothing else.

  $ skidscan compare a.run b.run --by machine
  skidscan: all inputs are of one machine; compare them by input, or name recordings of another
  [64]
  $ skidscan compare a.run c.run b.run --by machine --format json |
  >   pick sides.# sides.0.inputs rows.0.cells.0.measurements.#
  sides.# = 2
  sides.0.inputs = ["a.run", "b.run"]
  rows.0.cells.0.measurements.# = 6

Reports in place of runs give the same but for the names of the inputs:

  $ rest() { skidscan compare "$@" --format json > json; sed '/"inputs": \[/,/\]/d' json; }
  $ model access:u "$on_the_spot"; make a.run --force --repeat 3
  $ model access:u "$one_late"; make b.run --force --repeat 2
  $ for name in a b; do skidscan report $name.run --format json > $name.json; done
  $ rest a.run b.run > of_runs
  $ pick rows.0.cells.1.measurements.# < json
  rows.0.cells.1.measurements.# = 2
  $ rest a.json b.json | cmp - of_runs
  $ pick sides.1.inputs < json
  sides.1.inputs = ["b.json"]
  $ rest a.run b.json | cmp - of_runs

Unreadable inputs are reported, and the rest compared, but not without the baseline:

  $ skidscan compare good nowhere same > text
  skidscan: nowhere: no such file or directory
  [2]
  $ grep -o 'none shown' text
  none shown
  $ skidscan compare good nowhere > /dev/null
  skidscan: nowhere: no such file or directory
  skidscan: nothing to compare with: all other inputs have no measurement
  [1]
  $ skidscan compare nowhere good same > /dev/null
  skidscan: nowhere: no such file or directory
  skidscan: nowhere: the baseline has no measurement
  [1]

Wrong usage:

  $ skidscan compare
  skidscan: compare: no input; name at least two runs, reports or recordings
  [64]
  $ skidscan compare good
  skidscan: good: a single run; name at least two inputs to compare
  [64]
  $ for effect in 2 -1 0.1, 0.1,x ,1 nan 0.1,-3; do
  >   skidscan compare good same --min-effect=$effect 2> err; echo "$? $(sed 's/from .*//' err)"
  > done
  64 skidscan: --min-effect 2: expected a share 
  64 skidscan: --min-effect -1: expected a share 
  64 skidscan: --min-effect 0.1,: expected a share 
  64 skidscan: --min-effect 0.1,x: expected a share 
  64 skidscan: --min-effect ,1: expected a share 
  64 skidscan: --min-effect nan: expected a share 
  64 skidscan: --min-effect 0.1,-3: expected a share 
  $ skidscan compare good same --min-effect 0.01,2 > /dev/null
  $ skidscan compare good same --plot f.bmp
  skidscan: f.bmp: not the name of a figure; expected .png, .svg or .pdf
  [64]

Hostile names do not reach the terminal, nor a shell:

  $ name=$(printf "a\033[2J\n\$(touch owned)'.run")
  $ model access:u "$on_the_spot" "$(printf '6.1\342\200\256 evil')"; make "$name"
  $ skidscan compare "$name" worse > text
  $ grep -o -e '6.1[^ ]* evil' -e '  worse$' text
  6.1\xe2\x80\xae evil
    worse
    worse
  $ LC_ALL=C grep '[^ -~]' text
  [1]
  $ ! command -v gnuplot > /dev/null || skidscan compare "$name" worse --plot f.svg > /dev/null
  $ test -e owned
  [1]

Events that have other names on another CPU are compared where they are named as a pair:

  $ skidscan synth --like pebs-sound --all-levels -o loads.run -q
  $ skidscan report loads.run --format json > loads.json
  $ sed 's/r81d0/r00d0/g; s/0x81d0/0xd0/; s/MEM_INST_RETIRED.ALL_LOADS/LOADS/; s/i7-6700HQ/other/' loads.json > other.json
  $ skidscan compare loads.json other.json | grep -o '^nothing to compare'
  nothing to compare
  $ for pair in r81d0=r00d0 MEM_INST_RETIRED.ALL_LOADS=LOADS; do
  >   skidscan compare loads.json other.json --pair $pair | head -1
  >   skidscan compare loads.json other.json --pair $pair --format csv | grep -o '[^,]* = [^,]*' | sort -u
  > done
  4 comparisons with a (baseline): 4 without a difference
  r81d0 = r00d0
  4 comparisons with a (baseline): 4 without a difference
  MEM_INST_RETIRED.ALL_LOADS = LOADS
  $ skidscan compare loads.json other.json --pair r81d0=r00d1
  skidscan: --pair r81d0=r00d1: no input has the event r00d1; expected two of r00d0, r81d0
  [64]
  $ skidscan compare loads.json loads.json --pair r81d0:p=r81d0:pp > /dev/null
  skidscan: --pair r81d0:p=r81d0:pp: loads.json has both events
  [64]
  $ skidscan compare loads.json other.json --pair r81d0=r00d0 --pair r00d0=LOADS
  skidscan: --pair r00d0=LOADS: r00d0 is in another pair
  [64]
  $ skidscan compare loads.json other.json --pair r81d0=MEM_INST_RETIRED.ALL_LOADS | grep -o '^nothing to compare'
  nothing to compare

Where nothing is compared, no difference could be more than chance, and the exit status is that of a failure:

  $ skidscan compare loads.json other.json > text
  [1]
  $ skidscan compare loads.json other.json --details >> text
  [1]
  $ skidscan compare loads.json other.json --format json > json
  skidscan: nothing was compared: the inputs have no event with samples in common
  [1]
  $ grep -e chance -e Method text
  [1]
  $ skidscan compare loads.json loads.json > text
  $ grep -o 'more than chance' text
  more than chance
  $ "$PYTHON" - <<'END'
  > import json
  > j = json.load(open("loads.json"))
  > for m in j["measurements"]:
  >     m["samples"] = {name: 0 for name in m["samples"]}
  >     m["basis"]["offsets"] = {unit: [] for unit in m["basis"]["offsets"]}
  >     m["precise"].update(exact_ip_samples=0, exact_ip_hits=0, exact_ip_off_trigger=0)
  > json.dump(j, open("none.json", "w"))
  > END
  $ skidscan compare loads.json none.json > text
  skidscan: none.json: no samples were recorded
  [1]
  $ grep -o -e '^4 comparisons.*' -e chance text
  4 comparisons with a (baseline): 4 with too few samples
  $ skidscan report loads.json none.json --fail-on broken --allow-not-judged > text
  skidscan: none.json: no samples were recorded
  [2]
  $ skidscan compare loads.json none.json loads.json > text
  skidscan: none.json: no samples were recorded
  [2]
  $ grep -o 'more than chance' text
  more than chance

Where nothing is compared, pairs of events that count the same are named, IBS by its trigger:

  $ emulated="$CASES/../data/emulated"
  $ skidscan compare "$emulated/skylake.json" "$emulated/milan.json" | sed '/^$/q'
  nothing to compare: no event and level is in the baseline and another run;
  --pair MEM_INST_RETIRED.ALL_LOADS:u=ibs_op/cnt_ctl=1/ compares events that count
  the same; 4 only in the baseline; 2 without a baseline
  
  $ skidscan compare loads.json other.json | sed '/^$/q'
  nothing to compare: no event and level is in the baseline and another run;
  record the same events, or name two that count the same with --pair A=B; 4 only
  in the baseline; 4 without a baseline
  

What is undecided is not better, and the hit ratio of IBS is explained:

  $ skidscan compare "$emulated/skylake.json" "$emulated/milan.json" \
  >   --pair MEM_INST_RETIRED.ALL_LOADS:u=ibs_op/cnt_ctl=1/ > text
  $ sed '/^$/q' text
  2 comparisons with a (baseline): 1 not compared, 1 with too few samples; 2 only
  in the baseline
  
  $ grep -A 1 'hit ratio of' text
    hit ratio of IBS and SPE, in b: of the samples with an address in the
    trigger's data, those on the trigger

The same events are compared where others have alike ones under other names, and these are named:

  $ "$PYTHON" - "$emulated" > both.json << end
  > import json, sys
  > both, ibs = (json.load(open(f"{sys.argv[1]}/{cpu}.json")) for cpu in ("skylake", "milan"))
  > for measurement in ibs["measurements"]:
  >   measurement |= {key: both["measurements"][0][key] for key in ("cpu", "kernel")}
  > both["measurements"] += ibs["measurements"]
  > json.dump(both, sys.stdout)
  > end
  $ sed 's/cnt_ctl=1//g' both.json > other.json
  $ skidscan compare both.json other.json | grep -A 4 '^Not in all'
  Not in all runs
    ibs_op/cnt_ctl=1/, none, p: missing in b
    ibs_op//, none, p: only in b
    --pair ibs_op/cnt_ctl=1/=ibs_op// compares events that count the same
  
  $ skidscan compare both.json other.json --pair ibs_op/cnt_ctl=1/=ibs_op// | head -1
  6 comparisons with a (baseline): 2 with too few samples, 4 without a difference
