`--example`: the run of an emulated Skylake that comes with skidscan.

  $ . "$CASES/common.sh"
  $ skidscan report --example --format json > json

All precise levels of two events are recorded, and those with a skid constraint are judged:

  $ "$PYTHON" - <<'END'
  > import json
  > for m in json.load(open("json"))["measurements"]:
  >     print(m["event"]["label"], m["precise"]["requested"], m["contract"]["verdict"])
  > END
  MEM_INST_RETIRED.ALL_LOADS:u 0 not judged
  MEM_INST_RETIRED.ALL_LOADS:u 1 kept
  MEM_INST_RETIRED.ALL_LOADS:u 2 kept
  MEM_INST_RETIRED.ALL_LOADS:u 3 kept
  BR_INST_RETIRED.NEAR_TAKEN:u 0 not judged
  BR_INST_RETIRED.NEAR_TAKEN:u 1 kept
  BR_INST_RETIRED.NEAR_TAKEN:u 2 kept
  BR_INST_RETIRED.NEAR_TAKEN:u 3 kept

Every output is marked:

  $ holds < json 'all(m["cpu"]["emulated"] for m in j["measurements"])' \
  >   'not any(m["synthetic"] for m in j["measurements"])'
  $ skidscan report --example --format csv | "$PYTHON" -c '
  > import csv, sys
  > print({row["emulated"] for row in csv.DictReader(sys.stdin)})'
  {'true'}
  $ skidscan report --example --html page.html > text
  $ grep -c 'EMULATED   an emulated CPU (QEMU) took the samples' text
  1
  $ grep -q EMULATED page.html
  $ for command in annotate audit correct inspect; do
  >   skidscan $command --example | grep -o -m 1 'EMULATED  *an emulated CPU (QEMU) took the samples' | tr -s ' '
  > done
  EMULATED an emulated CPU (QEMU) took the samples
  EMULATED an emulated CPU (QEMU) took the samples
  EMULATED an emulated CPU (QEMU) took the samples
  EMULATED an emulated CPU (QEMU) took the samples

A gate does not pass with a measurement that has no samples, unless that is allowed:

  $ "$PYTHON" - <<'END'
  > import json
  > j = json.load(open("json"))
  > m = j["measurements"][-1]
  > m["samples"] = {name: 0 for name in m["samples"]}
  > m["basis"]["offsets"] = {unit: [] for unit in m["basis"]["offsets"]}
  > m["precise"].update(exact_ip_samples=0, exact_ip_hits=0, exact_ip_off_trigger=0)
  > json.dump(j, open("empty.json", "w"))
  > END
  $ skidscan report empty.json --fail-on broken > text
  skidscan: --fail-on broken: the skid constraint of precise_ip is met by all 5 judged measurements; no samples came of BR_INST_RETIRED.NEAR_TAKEN:u (1 of 8 measurements); --allow-not-judged accepts that
  [5]
  $ skidscan report empty.json --fail-on broken --allow-not-judged > text
  $ grep '^no samples' text
  no samples  BR_INST_RETIRED.NEAR_TAKEN:u ppp: accepted, and no samples came
  $ grep -c ' ppp ' text
  1

It is no input beside others:

  $ skidscan report --example skidscan.run
  skidscan: --example: cannot be combined with INPUT; try 'skidscan report --help'
  [64]
  $ skidscan annotate --example -i skidscan.run
  skidscan: --example: cannot be combined with INPUT; try 'skidscan annotate --help'
  [64]
  $ skidscan inspect perf.data --example
  skidscan: --example: cannot be combined with FILE; try 'skidscan inspect --help'
  [64]

Nor are its samples added to those of another CPU, or its skid taken for that of one:

  $ example=$(pick measurements.0.run < json | sed 's/.*= "//; s/"$//')
  $ sed 's/QEMU TCG CPU (Skylake-Client)/Intel(R) Core(TM) i7-6700 CPU @ 3.40GHz/' json > real.json
  $ skidscan merge "$example" real.json --allow-duplicates 2>&1 > both.json | head -n 1
  skidscan: not added up: MEM_INST_RETIRED.ALL_LOADS:u: CPU: QEMU TCG CPU (Skylake-Client) and Intel(R) Core(TM) i7-6700 CPU @ 3.40GHz
  $ pick measurements.# < both.json
  measurements.# = 16
  $ skidscan compare "$example" real.json | grep -o 'EMULATED   a: an emulated CPU'
  EMULATED   a: an emulated CPU

The program finds it from any prefix, and says so where it is missing:

  $ mkdir -p 'a prefix/bin' 'a prefix/share/skidscan'
  $ cp "$SKIDSCAN" 'a prefix/bin/skidscan'
  $ cp -R "$CASES/../../examples" 'a prefix/share/skidscan'
  $ run_of() { "$1" report --example --format json | pick measurements.0.run | sed "s|$PWD/||"; }
  $ run_of 'a prefix/bin/skidscan'
  measurements.0.run = "a prefix/share/skidscan/examples/emulated-skylake.run"
  $ mv 'a prefix' moved
  $ run_of moved/bin/skidscan
  measurements.0.run = "moved/share/skidscan/examples/emulated-skylake.run"
  $ ln -s moved/bin/skidscan link
  $ run_of ./link
  measurements.0.run = "moved/share/skidscan/examples/emulated-skylake.run"
  $ rm -r moved/share
  $ moved/bin/skidscan report --example 2>&1 | sed "s|$PWD/||"
  skidscan: moved/share/skidscan/examples/emulated-skylake.run: is missing; install or build skidscan again, or record a run on an emulated CPU (docs/lab.md)
