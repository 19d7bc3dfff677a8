`skidscan inspect` against perf on the same recording.

  $ . "$CASES/common.sh"
  $ needs samples
  $ work='for i in 1 2 3; do ls -R /usr/lib; done'
  $ record() { perf_record "$@" -- sh -c "$work" > /dev/null; }

Records are counted as by perf report --stats: for all events, and samples of each event.

  $ record -F 2000 -g -e cpu-clock,page-faults,context-switches
  $ perf report --stats -i perf.data 2> /dev/null > of_perf
  $ awk '/Aggregated stats:/ { all = 1 } / stats:/ && !/Aggregated/ { all = 0 }
  >   $2 == "events:" && all { print $1, $3 }' of_perf | sort > wanted
  $ skidscan inspect perf.data --format json > json
  $ pick < json schema
  schema = "skidscan.inspect/1"
  $ "$PYTHON" -c 'import json
  > one = json.load(open("json"))["recordings"][0]
  > print("TOTAL", one["total_records"])
  > for each in one["records"]: print(each["name"].removeprefix("PERF_RECORD_"), each["count"])' |
  >   sort | diff wanted -
  $ awk '/ stats:/ { if (event) print samples + 0; event = !/Aggregated/; samples = 0 }
  >   $1 == "SAMPLE" { samples = $3 } END { print samples + 0 }' of_perf > wanted
  $ "$PYTHON" -c 'import json
  > for each in json.load(open("json"))["recordings"][0]["events"]: print(each["samples"])' | diff wanted -
  $ holds < json 'j["recordings"][0]["total_samples"] == sum(e["samples"] for e in j["recordings"][0]["events"]) > 0'

Events are listed as requested:

  $ record -c 100000 -e cpu-clock:ppu -e page-faults:k
  $ skidscan inspect perf.data --format json > json
  $ for key in name source period frequency precise_ip exclude_kernel; do
  >   pick < json recordings.0.events.0.$key
  > done
  recordings.0.events.0.name = "cpu-clock:ppu"
  recordings.0.events.0.source = "software"
  recordings.0.events.0.period = 100000
  recordings.0.events.0.frequency = null
  recordings.0.events.0.precise_ip = 2
  recordings.0.events.0.exclude_kernel = true
  $ pick < json recordings.0.events.1.exclude_user recordings.0.features.command_line |
  >   grep -o -e true -e 'for i in.*'
  true
  for i in 1 2 3; do ls -R /usr/lib; done"]
  $ holds < json "['IP', 'TID', 'TIME'] == j['recordings'][0]['events'][0]['sample_type'][:3]"

Several recordings, one of which cannot be read:

  $ echo 'no recording' > none.data
  $ skidscan inspect none.data perf.data --format json > json
  skidscan: none.data: at offset 0x0: no perf.data magic, expected PERFILE2; is it a recording of perf?
  [2]
  $ pick < json recordings.# recordings.0.file recordings.0.faults
  recordings.# = 1
  recordings.0.file = "perf.data"
  recordings.0.faults = []
  $ skidscan inspect perf.data perf.data > text
  $ grep -B 1 '^perf.data: file mode' text | sed 's/mode.*/mode/'
  perf.data: file mode
  --
  
  perf.data: file mode

A recording without samples is described, and nothing for the commands that read samples:

  $ perf_record -e faults -c 1000000000 -o idle.data -- true > /dev/null
  $ for command in inspect audit report annotate samples correct; do
  >   skidscan $command idle.data > text 2> errors && status=0 || status=$?
  >   echo "$command $status $(cat text errors | grep -c '^skidscan: .*no samples\|no samples were recorded')"
  > done
  inspect 0 1
  audit 1 1
  report 1 2
  annotate 1 1
  samples 1 1
  correct 1 1
An input without samples beside another is like one that was read in part:

  $ for command in inspect audit report annotate samples correct; do
  >   skidscan $command perf.data idle.data > text 2> errors && status=0 || status=$?
  >   echo "$command $status $(grep -c '^skidscan: idle.data: no samples' errors)"
  > done
  inspect 0 0
  audit 2 1
  report 2 1
  annotate 2 1
  samples 2 1
  correct 2 1
  $ for command in inspect audit report annotate samples correct; do
  >   skidscan $command perf.data nothing.data > text 2> errors || echo "$command $?"
  > done
  inspect 2
  audit 2
  report 2
  annotate 2
  samples 2
  correct 2

What could not be read is in the JSON, too:

  $ for command in inspect audit correct; do
  >   skidscan $command perf.data nothing.data --format json -q 2> errors | pick recordings.# unread
  > done
  recordings.# = 1
  unread = [{"input": "nothing.data", "reason": "no such file or directory"}]
  recordings.# = 1
  unread = [{"input": "nothing.data", "reason": "no such file or directory"}]
  recordings.# = 1
  unread = [{"input": "nothing.data", "reason": "no such file or directory"}]
