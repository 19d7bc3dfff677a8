Recordings of aarch64 in the hands of every command, on any host. They are synthetic, of a target that is built
for the test, so that what must be found is known.

  $ . "$CASES/common.sh"
  $ needs aarch64-linux-gnu-gcc
  $ skidscan synth --like arm-pmu -q -o a.data

Reports find the truth, and judge breakpoints only:

  $ skidscan report a.data --format json > json
  $ cat > report.py <<'END'
  > import json
  > truths = json.load(open("a.data.truth.json"))["recordings"][0]["measurements"]
  > found = json.load(open("json"))["measurements"]
  > assert len(found) == len(truths)
  > for one, truth in zip(found, truths):
  >     cpu, evidence = one["cpu"], one["contract"]["evidence"]
  >     assert (cpu["arch"], cpu["vendor"], cpu["model"]) == ("aarch64", "0x41", 0xd0c)
  >     assert one["samples"] == truth["samples"]
  >     event, level = truth["event"], truth["precise_ip"]
  >     if event == "access" and level > 0: assert "at its known offset 0, the trigger: " in evidence
  >     if level == 2: print(event, one["contract"]["verdict"])
  >     if event == "r3" or (event == "cycles" and level == 2): assert "Arm have no precise levels" in evidence
  >     if event == "cycles" and level == 2: assert "any instruction can cause this event" in evidence
  > END
  $ "$PYTHON" report.py | sort -u
  access not judged
  cycles not judged
  execute not judged
  r3 not judged
  $ skidscan report a.data --details > text
  $ grep TSC text
  [1]
  $ skidscan synth --all-levels --like arm-pmu -q -o a.run
  $ skidscan report a.run --details > text
  $ grep -o -e 'CNTVCT ticks' -e TSC text | sort -u
  CNTVCT ticks

Audits compare watchpoints with the sampled instruction:

  $ skidscan audit a.data --all --format json > json
  $ "$PYTHON" -c 'import json
  > for e in json.load(open("json"))["recordings"][0]["events"]:
  >     unjudged = e["not_judged"].get("no_precise_levels", 0)
  >     print(e["event"].split("/")[0], e["rule"], e["impossible"], e["judged"] == e["samples"], unjudged == e["samples"])' |
  >   sort -u
  cycles none 0 False True
  mem:0x401328:x execute_breakpoint 0 True False
  mem:0x420000 data_watchpoint 0 True False
  r3 none 0 False True

Annotated code is that of the target:

  $ skidscan annotate a.data -e mem:0x420000/8:rw -q --format json > json
  $ pick < json codes.0.arch
  codes.0.arch = "aarch64"
  $ holds < json 'all(r["counts"][0]["verdict"] is None for r in j["codes"][0]["rows"])' \
  >   'any(r["destination"] == "skid_loop" for r in j["codes"][0]["rows"])' \
  >   '[(r["text"], r["counts"][0]["samples"]) for r in j["codes"][0]["rows"] if r["first_offset"] == 0] == [("ldr x1, [x10]", 6000)]'

Samples have its symbols, and no labels of the assembler:

  $ skidscan samples a.data --columns event,sym,symoff > lines 2> /dev/null
  $ grep -c "mem:.*skid_trigger$(printf '\t')0" lines
  18000
  $ grep -F -e '$x' -e '$d' lines
  [1]

A model and a target of different architectures are refused; a model that names no vendor is of the
architecture of its target:

  $ skidscan target --arch aarch64 -o t > /dev/null
  $ skidscan synth --like pebs-sound --target t -o b.data
  skidscan: t: a target for aarch64, which no CPU of the model's vendor GenuineIntel runs
  [1]
  $ skidscan synth --like no-pebs --target t -q -o c.data
  $ skidscan report c.data --format json | pick measurements.0.cpu.arch
  measurements.0.cpu.arch = "aarch64"

A load writes nothing:

  $ cat > p.s <<'END'
  >   .globl main
  >   .type main, %function
  > main:
  >   ldr x0, [x1]
  >   ret
  >   .size main, . - main
  > END
  $ aarch64-linux-gnu-gcc -shared -nostdlib -Wl,--build-id=sha1 -o p.so p.s
  $ cat > places.json <<'END'
  > {"binary": "p.so", "machine": {"vendor": "0x41", "model": 3340, "stepping": 1},
  >  "events": [{"event": "write", "breakpoint": {"address": 4325376, "access": "w"}, "period": 7,
  >    "levels": [{"level": 0, "places": [{"symbol": "main", "samples": 30}]}]}]}
  > END
  $ "$PLACE_SAMPLES" places.json placed.data
  $ skidscan audit placed.data --format json |
  >   pick recordings.0.events.0.rule recordings.0.events.0.impossible recordings.0.events.0.instructions.0.function
  recordings.0.events.0.rule = "write_watchpoint"
  recordings.0.events.0.impossible = 30
  recordings.0.events.0.instructions.0.function = "main"
