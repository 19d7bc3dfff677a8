Many inputs read by all cores: what comes out is what one core makes of them.

  $ . "$CASES/common.sh"
  $ needs cc taskset two-cpus

Events of a core PMU too, for which the catalogue is asked:

  $ cat > model.json <<'END'
  > {"schema": "skidscan.model/1", "name": "small",
  >  "machine": {"vendor": "GenuineIntel", "family": 6, "model": 94, "stepping": 3},
  >  "target": {"trigger": "load", "nops": 200},
  >  "events": [
  >    {"event": "r20d1", "period": 1009, "levels": [
  >      {"level": 0, "samples": 500, "offsets": {"kind": "normal_cycles", "mean": 9, "stddev": 4}},
  >      {"level": 2, "samples": 500, "hits": 0.9, "exact_ip": 0.95,
  >       "offsets": {"kind": "uniform", "lowest": -20, "highest": 120}}]},
  >    {"event": "access", "period": 7, "levels": [
  >      {"level": 1, "samples": 300, "offsets": {"kind": "constant", "offset": 1}}]}]}
  > END
  $ for seed in 1 2 3 4 5 6 7 8; do
  >   skidscan synth model.json --all-levels --repeat 2 --seed $seed -q -o run$seed
  > done
  $ cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
  $ same() { # ARGUMENT...: exit status on one core; output and messages that differ on all cores
  >   taskset -c $cpu "$SKIDSCAN" "$@" > one 2>&1; status=$?
  >   for round in 1 2 3; do
  >     skidscan "$@" > all 2>&1; [ $? = $status ] || echo "another exit status"
  >     cmp one all
  >   done
  >   return $status
  > }
  $ for format in text json csv; do same report --format $format run?; done
  $ same compare --format json run?
  $ same merge --as-repeats run?
  $ same audit --format json run?

All end at the first unreadable one:

  $ same report --hit no_such_function --runway nor_this run?
  [1]

Damage is reported in the order of the inputs:

  $ shorten() { head -c $1 "$2" > short; mv short "$2"; }
  $ shorten -1000 run2/r20d1.none.1.data
  $ shorten 50 run4/access.p.2.data
  $ shorten 20 run6/run.json
  $ rm run7/r20d1.pp.1.data
  $ "$PYTHON" -c 'import json
  > run = json.load(open("run8/run.json"))
  > run["measurements"][1]["state"] = "pending"
  > json.dump(run, open("run8/run.json", "w"))'
  $ inputs='run1 run2 run3 nothing-here.data run4 run5 run6 run7 run8'
  $ same report $inputs
  [2]
  $ same audit $inputs
  [2]
  $ skidscan report $inputs 2> err > text
  [2]
  $ grep -o -e 'run[0-9]' -e nothing-here err | uniq
  run2
  nothing-here
  run4
  run6
  run7
  run8

Pipes are read in their turn:

  $ skidscan synth model.json --pipe -o pipe.data -q
  $ mkfifo a b
  $ piped() { # COMMAND...
  >   (cat pipe.data > a; cat pipe.data > b) &
  >   "$@" report run1 a run2 b run3 --format csv
  >   wait
  > }
  $ piped taskset -c $cpu "$SKIDSCAN" > one 2> err
  $ piped skidscan 2> err | cmp one -
  $ cut -d, -f1 one | uniq -c
        1 run
      229 run1
      110 
      236 run2
      110 
      227 run3
