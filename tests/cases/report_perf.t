`skidscan report` on recordings that perf makes here.

  $ . "$CASES/common.sh"
  $ needs cc samples

Functions are counted as perf script and awk do:

  $ classic=$CASES/../support/classic.c
  $ for option in -no-pie -pie; do
  >   cc -O1 $option -o classic "$classic"
  >   perf_record -e cpu-clock -c 100003 -- ./classic
  >   skidscan report perf.data --hit memreader --runway noprunway --format json > json
  >   perf script -F comm,pid,tid,time,event,ip,sym,symoff,dso -i perf.data |
  >     awk '/noprunway/ { skid++ } /memreader/ { hit++ } END { printf "hit %d skid %d\n", hit, skid }' > of_perf
  >   holds < json "'hit %(hit)d skid %(skid)d' % j['measurements'][0]['samples'] == '$(cat of_perf)'" \
  >     "j['measurements'][0]['samples']['skid'] > 100" "j['measurements'][0]['samples']['hit'] > 10"
  >   pick < json measurements.0.samples.before measurements.0.samples.censored
  > done
  measurements.0.samples.before = 0
  measurements.0.samples.censored = 0
  measurements.0.samples.before = 0
  measurements.0.samples.censored = 0

A program that was rebuilt is refused, and a function that is missing:

  $ perf_record -e cpu-clock -c 100003 -- ./classic 50
  $ cc -O2 -o classic "$classic"
  $ skidscan report perf.data --buildid-dir . --hit memreader --runway noprunway > text 2> err
  [1]
  $ cat text
  $ grep -o 'classic: build-id .* is not the recorded' err | sed 's/ [0-9a-f]* / ID /'
  classic: build-id ID is not the recorded
  $ skidscan report perf.data --hit no_such_function --runway nor_this 2> err
  [1]
  $ grep -o -m 1 no_such_function err
  no_such_function

Several inputs: readable ones are shown, and the others reported.

  $ mv perf.data other
  $ perf_record -e cpu-clock -c 100003 -- ./classic
  $ echo 'this is no recording' > text
  $ mkdir run; echo '{' > run/run.json
  $ skidscan report perf.data missing text run other --format json > json
  skidscan: missing: no such file or directory
  skidscan: text: at offset 0x0: no perf.data magic, expected PERFILE2; is it a recording of perf?
  skidscan: run/run.json: at offset 0x2: text that is not JSON, expected the description of a run
  [2]
  $ pick < json measurements.# measurements.0.file measurements.1.file
  measurements.# = 2
  measurements.0.file = "perf.data"
  measurements.1.file = "other"
  $ skidscan report missing text
  skidscan: missing: no such file or directory
  skidscan: text: at offset 0x0: no perf.data magic, expected PERFILE2; is it a recording of perf?
  [1]
  $ skidscan report - < /dev/null
  skidscan: -: at offset 0x0: a file of 0 bytes, expected a perf.data header of 104 bytes; is it a recording of perf?
  [1]
  $ perf_record -o dummy.data -e dummy -- true
  $ skidscan report perf.data dummy.data > text
  skidscan: dummy.data: no samples were recorded: no event occurred often enough for a sample
  [2]

Wrong usage: nothing is read before the arguments are right.

  $ skidscan report --hit x
  skidscan: --hit and --runway: only one is given; give both functions
  [64]
  $ skidscan report --plot figure.bmp
  skidscan: figure.bmp: not the name of a figure; expected .png, .svg or .pdf
  [64]
  $ skidscan report --help > text
  $ mkdir empty; cd empty; skidscan report
  skidscan: no skidscan.run and no perf.data here; make one with 'skidscan record' or 'perf record', or name a run or a recording
  [1]
