`skidscan audit` on recordings made from a placement.

  $ . "$CASES/common.sh"
  $ needs cc x86-64

Twice a load and an addition, once under a hostile name: a terminal's escape sequence, a comma and quotation
marks.

  $ evil=$(printf 'evil\033[31m,\\"x\\"')
  $ cat > program.s <<END
  >   .text
  >   .globl plain
  >   .type plain, @function
  > plain:
  >   movq (%rdi), %rax
  >   addq %rbx, %rax
  >   pause; ret
  >   .size plain, . - plain
  >   .globl "$evil"
  >   .type "$evil", @function
  > "$evil":
  >   movq (%rdi), %rax
  >   addq %rbx, %rax
  >   pause; ret
  >   .size "$evil", . - "$evil"
  >   .section .note.GNU-stack,"",@progbits
  > END
  $ cc -g -shared -Wl,--build-id=sha1 -o program program.s
  $ cat > places.json <<'END'
  > {"binary": "program", "buffers": {"cpus": 3},
  >  "machine": {"vendor": "GenuineIntel", "family": 6, "model": 94, "stepping": 3},
  >  "events": [
  >    {"event": "r20d1:u", "config": "0x20d1", "period": 1009, "levels": [
  >      {"level": 2, "places": [
  >        {"symbol": "plain", "samples": 3000},
  >        {"symbol": "plain", "offset": 3, "samples": 700},
  >        {"symbol": "plain", "offset": 6, "samples": 50},
  >        {"symbol": "plain", "offset": 1, "samples": 20},
  >        {"symbol": "evil\u001b[31m,\"x\"", "offset": 3, "samples": 11},
  >        {"symbol": "plain", "offset": 3, "samples": 5, "exact": false}]},
  >      {"level": 1, "kernel": 0.2, "places": [
  >        {"symbol": "plain", "offset": 3, "samples": 300},
  >        {"symbol": "plain", "offset": 6, "samples": 100}]}]},
  >    {"event": "r81d0", "config": "0x81d0", "period": 7, "levels": [
  >      {"level": 3, "places": [{"symbol": "plain", "samples": 900}]}]}]}
  > END
  $ "$PLACE_SAMPLES" places.json placed.data
  $ audited() { skidscan audit "$@" --format json -q > json; }
  $ events() { # KEY...: of each event
  >   "$PYTHON" -c 'import json, sys
  > for event in json.load(open("json"))["recordings"][0]["events"]:
  >     assert event["judged"] + sum(event["not_judged"].values()) == event["samples"]
  >     assert event["verdicts"]["never"] == event["impossible"]
  >     print(*(json.dumps(event[key]) for key in sys.argv[1:]))' "$@"
  > }

The impossible samples are found: 700 and 11 at the additions. At level 1 those after the addition are impossible,
those after the load are possible.

  $ audited placed.data
  $ pick < json schema recordings.0.synthetic recordings.0.events.0.requested
  schema = "skidscan.audit/1"
  recordings.0.synthetic = true
  recordings.0.events.0.requested = "r20d1:upp"
  $ events rule judged impossible not_judged
  "sampled" 3711 711 {"unknown_cause": 50, "not_exact": 5, "inside_instruction": 20}
  "predecessor" 400 100 {"kernel": 100}
  "sampled" 900 0 {}
  $ for key in function offset disassembly categories samples source.line; do
  >   pick < json recordings.0.events.0.instructions.0.$key
  > done
  recordings.0.events.0.instructions.0.function = "plain"
  recordings.0.events.0.instructions.0.offset = 3
  recordings.0.events.0.instructions.0.disassembly = "add rax, rbx"
  recordings.0.events.0.instructions.0.categories = ["NOMEM"]
  recordings.0.events.0.instructions.0.samples = 700
  recordings.0.events.0.instructions.0.source.line = 6
  $ pick < json recordings.0.events.0.instructions.0.source.file | grep -o program.s
  program.s
  $ pick recordings.0.events < json > plain
  $ for option in --pipe -z; do
  >   "$PLACE_SAMPLES" places.json placed.data --force $option
  >   audited placed.data; pick recordings.0.events < json | cmp - plain
  > done

Text fits a terminal, and names are escaped:

  $ skidscan audit placed.data --all > text
  $ grep -o -e '811 of 5,011 judged samples (16.18%)' -e 'add rax, rbx \[NOMEM\]' -e '^SYNTHETIC' -e 'evil.x1b.31m' text | sort -u
  811 of 5,011 judged samples (16.18%)
  SYNTHETIC
  add rax, rbx [NOMEM]
  evil\x1b[31m
  $ grep -E '.{81}' text
  [1]
  $ for format in text json csv; do
  >   skidscan audit placed.data --format $format > $format
  >   grep "$(printf '\033')" $format
  > done
  [1]

CSV has a row for each finding:

  $ "$PYTHON" -c 'import csv, collections
  > rows = list(csv.DictReader(open("csv")))
  > assert all(None not in row and None not in row.values() for row in rows)
  > print(sorted(collections.Counter(row["row"] for row in rows).items()))
  > print({row["function"] for row in rows if "evil" in row["function"]})'
  [('event', 3), ('function', 4), ('instruction', 3), ('not_judged', 4), ('verdict', 15)]
  {'evil\\x1b[31m,"x"'}

As many findings are listed as requested:

  $ for options in '' '--top 1' '--min-share 0.1' --all; do
  >   audited placed.data $options
  >   pick < json recordings.0.events.0.instructions.# recordings.0.events.0.instructions_impossible \
  >     recordings.0.events.0.functions.# recordings.0.events.0.impossible | sed 's/.*= //' | xargs
  > done
  2 2 2 711
  1 2 1 711
  1 2 1 711
  3 2 2 711

Wrong usage, and inputs that are missing or cut:

  $ mkdir empty; (cd empty; skidscan audit)
  skidscan: no skidscan.run and no perf.data here; make one with 'skidscan record' or 'perf record', or name a run or a recording
  [1]
  $ skidscan audit nothing.data
  skidscan: nothing.data: no such file or directory
  [1]
  $ skidscan audit placed.data --symfs nowhere
  skidscan: --symfs nowhere: no such directory
  [64]
  $ skidscan audit placed.data --symfs placed.data
  skidscan: --symfs placed.data: is a file, expected a directory
  [64]
  $ skidscan audit placed.data --binary .
  skidscan: --binary .: is a directory, expected a file; --symfs takes a directory of files
  [64]
  $ cp placed.data ./-dash.data
  $ skidscan audit -dash.data
  skidscan: -dash.data: no such option; ./-dash.data names the file; try 'skidscan audit --help'
  [64]
  $ skidscan audit placed.data --debug-dir nowhere
  skidscan: --debug-dir nowhere: no such directory
  [64]
  $ skidscan audit placed.data nothing.data > text
  skidscan: nothing.data: no such file or directory
  [2]
  $ grep -o '811 of 5,011 judged' text
  811 of 5,011 judged
  $ "$PLACE_SAMPLES" places.json placed.data --force
  $ head -c "$(($(wc -c < placed.data) / 2))" placed.data > cut.data
  $ skidscan audit cut.data > text 2> err
  [2]

A binary that is missing is named once, and may be elsewhere:

  $ mv program elsewhere
  $ audited placed.data
  $ pick < json recordings.0.events.0.judged recordings.0.events.0.impossible_share.value
  recordings.0.events.0.judged = 0
  recordings.0.events.0.impossible_share.value = null
  $ holds < json '"/usr/lib/debug" in j["recordings"][0]["remarks"][0]' \
  >   'j["recordings"][0]["missing"][0]["file"].endswith("/program")' \
  >   'j["recordings"][0]["missing"][0]["samples"] > 4000'
  $ skidscan audit placed.data > text
  $ grep -o -e '5,081 samples are in 1 file whose code is missing' -e /usr/lib/debug text
  5,081 samples are in 1 file whose code is missing
  /usr/lib/debug
  $ audited placed.data --binary elsewhere
  $ pick < json recordings.0.missing recordings.0.events.0.impossible
  recordings.0.missing = []
  recordings.0.events.0.impossible = 711

A figure without blocks does not hide what the gate finds:

  $ skidscan audit placed.data --binary elsewhere --fail-on samples > text
  skidscan: --fail-on samples: 811 of 5,011 judged samples (16.18%) are where their event cannot be sampled
  [4]
  $ skidscan audit placed.data --binary elsewhere --fail-on samples --plot-script f.gp --top 0 > text
  skidscan: --fail-on samples: 811 of 5,011 judged samples (16.18%) are where their event cannot be sampled
  skidscan: figure: no block of code was judged; the details of 'skidscan audit' state why, for each event
  [4]
  $ mv elsewhere program

Loads of a block that are sampled unevenly:

  $ skidscan audit placed.data --fail-on biased > text
  skidscan: --fail-on biased: no block could be judged: no block of code with two instructions to compare has enough samples; --allow-not-judged accepts that
  [5]
  $ skidscan audit placed.data --fail-on biased --allow-not-judged > text
  skidscan: --fail-on biased: no block could be judged: no block of code with two instructions to compare has enough samples; --allow-not-judged accepts that
  $ cat > program.s <<'END'
  >   .text
  >   .globl loads
  >   .type loads, @function
  > loads:
  >   movq (%rdi), %rax
  >   movq 8(%rdi), %rax
  >   movq 16(%rdi), %rax
  >   ret
  >   .size loads, . - loads
  >   .section .note.GNU-stack,"",@progbits
  > END
  $ cc -shared -Wl,--build-id=sha1 -o program program.s
  $ cat > places.json <<'END'
  > {"binary": "program", "machine": {"vendor": "GenuineIntel", "family": 6, "model": 94, "stepping": 3},
  >  "events": [{"event": "loads", "config": "0x81d0", "period": 1009, "levels": [
  >    {"level": 2, "places": [{"symbol": "loads", "samples": 100},
  >                            {"symbol": "loads", "offset": 3, "samples": 800}]}]}]}
  > END
  $ "$PLACE_SAMPLES" places.json a.data
  $ audited a.data
  $ events impossible
  0
  $ pick recordings.0.events.0.bias < json | sed 's/^[^{]*//' > bias
  $ pick < bias blocks_judged blocks_biased blocks.0.function blocks.0.expected blocks.0.places.# \
  >   blocks.0.places.1.samples
  blocks_judged = 1
  blocks_biased = 1
  blocks.0.function = "loads"
  blocks.0.expected = 300.0
  blocks.0.places.# = 3
  blocks.0.places.1.samples = 800
  $ holds < bias 'abs(j["misplaced"]["value"] - 500 / 900) < 0.03' \
  >   'abs(j["blocks"][0]["largest_ratio"] - 800 / 300) < 1e-12'
  $ skidscan audit a.data --plot-script a.gp > text
  $ grep -o '100 800 0' text
  100 800 0
  $ grep -o -m 1 'execute equally often' a.gp
  execute equally often
  $ skidscan audit a.data --size 3.3in
  skidscan: --size: no figure is drawn; add --plot FILE or --plot-script FILE
  [64]
  $ skidscan audit a.data --fail-on biased --top 0 > text
  skidscan: --fail-on biased: 1 of 1 judged blocks (100%) is sampled unevenly
  [4]
  $ skidscan audit a.data --fail-on impossible > text
  $ skidscan audit a.data --plot-script n.gp --top 0 > text
  skidscan: figure: no block is listed, so none can be drawn
  [1]

The distance of a data breakpoint is known, one instruction after the trigger; a model with another is a broken
machine:

  $ for offset in 1 5; do
  >   echo '{"schema": "skidscan.model/1", "name": "breakpoint", "target": {"trigger": "load"}, "events": [
  >     {"event": "access", "period": 7, "levels": [
  >       {"level": 2, "samples": 4000, "offsets": {"kind": "constant", "offset": '$offset'}}]}]}' > model.json
  >   skidscan synth model.json --force -q -o a.data; audited a.data; events judged impossible
  > done
  4000 0
  4000 4000
