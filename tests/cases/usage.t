Usage errors, and output files that would replace others.

  $ . "$CASES/common.sh"
  $ needs cc

What is near is named:

  $ skidscan target --trigger mfense -o t
  skidscan: trigger kind 'mfense' does not exist; did you mean mfence?
  [64]
  $ skidscan events --list --cpu skylke 2> err
  [64]
  $ grep -o 'have it;.*' err
  have it; did you mean skylake, skylakex?
  $ skidscan events INST_RETIRED.ANYP --cpu skl 2> err
  [64]
  $ grep -o 'did you mean.*' err
  did you mean INST_RETIRED.ANY, INST_RETIRED.ANY_P, INST_RETIRED.NOP?
  $ skidscan synth --like pebs-sond -o s
  skidscan: --like pebs-sond: expected arm-pmu, gregg-2017, no-pebs, pebs-shadow, pebs-sound, vm-broken; did you mean pebs-sound? try 'skidscan synth --help'
  [64]
  $ skidscan samples --columns tiem
  skidscan: column 'tiem' does not exist; did you mean time?
  [64]
  $ skidscan samples --columns qqq
  skidscan: column 'qqq' does not exist; expected time, pid, tid, cpu, attr, event, period, addr, weight, data_src, mem, phys_addr, spe_op, spe_events, spe_target, spe_issue, spe_xlat, brstack, iregs, uregs, mode, exact, ip, sym, symoff, dso, trace, recording
  [64]
  $ skidscan correct --by lines
  skidscan: --by lines: expected instruction, line, function; did you mean line? try 'skidscan correct --help'
  [64]

Outputs beyond the limit of sizes are reported:

  $ (ulimit -f 8; skidscan events --cpu skl --list > events.txt)
  skidscan: standard output: file too large
  [1]

Outputs do not replace other files, nor inputs:

  $ skidscan report a.run --html -
  skidscan: --html -: standard output is in use; name a file
  [64]
  $ skidscan report a.run --html .
  skidscan: --html .: is a directory; name a file in it
  [64]
  $ skidscan report a.html --html ./a.html
  skidscan: --html ./a.html: is an input; name another file
  [64]
  $ skidscan compare a.run b.run --html x.svg --plot x.svg
  skidscan: --plot x.svg: is also the file of --html; name two files
  [64]
  $ skidscan synth --like pebs-sound --all-levels -o a.run -q
  $ cp -r a.run before
  $ for file in run.json truth.json r81d0.none.data target.load; do
  >   skidscan report a.run --html a.run/$file || echo "[$?]"
  > done
  skidscan: --html a.run/run.json: is part of the run a.run; name another file
  [64]
  skidscan: --html a.run/truth.json: is part of the run a.run; name another file
  [64]
  skidscan: --html a.run/r81d0.none.data: is part of the run a.run; name another file
  [64]
  skidscan: --html a.run/target.load: is part of the run a.run; name another file
  [64]
  $ diff -r a.run before
  $ skidscan merge a.run/r81d0.p.data -o a.run/r81d0.p.data
  skidscan: -o a.run/r81d0.p.data: is an input; name another file
  [64]

But a report among the inputs of merge may be replaced, and a page may be in a run:

  $ skidscan merge a.run/r81d0.p.data -q -o sum.json
  $ skidscan merge sum.json a.run/r81d0.pp.data -q -o sum.json
  $ skidscan report a.run --html a.run/page.html -q > text

The description of a run stands for the run:

  $ skidscan synth --like pebs-sound --all-levels -o one.run -q
  $ skidscan report one.run --format csv > of_run
  $ skidscan report one.run/run.json --format csv | sed 's,one.run/run.json,one.run,' | diff of_run -
  $ (cd one.run; skidscan report run.json > /dev/null)
  $ skidscan inspect one.run/run.json | grep -c 'file mode'
  4
  $ skidscan merge one.run/run.json -o one.run/run.json
  skidscan: -o one.run/run.json: is part of the run one.run; name another file
  [64]

Of recordings that cannot be read for the same reason one is named:

  $ for file in one.run/*.data; do : > $file; done
  $ skidscan report one.run 2> err
  [1]
  $ grep -c 'is it a recording of perf?' err
  1
  $ sed -n 's/[0-9]* more/N more/p' err
  skidscan: one.run: N more of its recordings cannot be read for the same reason

Without arguments it tells what can be done first:

  $ mkdir nothing; (cd nothing; skidscan | grep -c '^  skidscan '; skidscan | tail -1)
  7
  'skidscan --help' lists all commands.
  $ : > nothing/perf.data; (cd nothing; skidscan | tail -1)
  report, audit and annotate read perf.data here. 'skidscan --help' lists all commands.

Commands in messages can be pasted, whatever the name of the file is:

  $ name=$(printf -- "-it's\na run")
  $ skidscan synth --like no-pebs --all-levels -o "$name" | sed 's/.*with: //'
  skidscan report $'./-it\'s\x0aa run'
