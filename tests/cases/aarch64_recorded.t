What an emulated machine of aarch64 recorded: tests/data/aarch64/README.md.

  $ . "$CASES/common.sh"
  $ data=$CASES/../data/aarch64
  $ ln -s "$data" targets
  $ of() { # COMMAND FILE
  >   skidscan $1 "$data/$2" --symfs . --format json > json
  > }

Watchpoints stop at the trigger itself:

  $ of annotate access.data
  skidscan: ./targets/load: the recording holds no build-id of it; the file is taken as it is now
  $ holds < json 'j["codes"][0]["arch"] == "aarch64"'
  $ "$PYTHON" -c 'import json
  > for row in json.load(open("json"))["codes"][0]["rows"]:
  >     counts = [count["samples"] for count in row["counts"]]
  >     if any(counts): print(row["part"], row["begin"], row["text"], counts)'
  trigger 0x4010d0 ldr x1, [x10] [323, 323]
  $ events() { # KEY...: of each event
  >   "$PYTHON" -c 'import json, sys
  > for event in json.load(open("json"))["recordings"][0]["events"]:
  >     print(*(json.dumps(event[key]) for key in sys.argv[1:]))' "$@"
  > }
  $ of audit access.data
  $ events rule judged
  "data_watchpoint" 323
  "data_watchpoint" 323
  $ holds < json 'all(e["verdicts"]["conditional"] == 323 for e in j["recordings"][0]["events"])'

Faults are at the load that touches the page:

  $ of audit faults.data
  $ events rule samples
  "page_fault" 445
  $ holds < json 'j["recordings"][0]["events"][0]["verdicts"]["conditional"] == 445'

The core's events are not judged at any level:

  $ of audit cycles.data
  $ events rule not_judged samples
  "none" {"no_precise_levels": 808} 808
  "none" {"no_precise_levels": 808} 808
  "none" {} 0

There is no skid that could be taken out:

  $ of correct access.data
  $ events verdict samples in_place
  "nothing_to_correct" 323 323
  "nothing_to_correct" 323 323
  $ of correct cycles.data
  $ events event verdict reason | cut -c1-100
  "cycles" "refused" "every instruction takes cycles; a delay that does not depend on the code leaves 
  "cycles" "refused" "every instruction takes cycles; a delay that does not depend on the code leaves 
  "r3" "refused" "the kernel ignores the precise level of an Arm core PMU: samples are where the inter
  $ events advice | grep -c SPE
  3

Addresses of the kernel and of processes are distinguished: of 48 bits, the lower half is a process's.

  $ skidscan samples "$data/system.data" --columns mode,ip | sed 1d |
  >   awk '{ print $1, length($2) == 16 ? substr($2, 1, 4) : "" }' | sort -u
  kernel ffff
  user 

The instructions that the records of SPE contradict, of which each tenth PC is one instruction late:

Without the sampled file the first line says so, whatever the event is:

  $ cp "$CASES/../data/spe/late.data" alone.data
  $ skidscan audit alone.data | head -2
  none of 263 samples could be judged: the binary is missing, or is not an ELF
  file; --binary FILE and --symfs DIR take a copy of it

  $ mkdir -p files/spe; ln -s "$CASES/../data/spe" files/spe/0
  $ skidscan audit "$CASES/../data/spe/late.data" --symfs files > text
  $ sed -n '/^SPE/,/^$/p' text
  SPE        11 of 201 judged samples (5.47%, 3.08-9.53%) are at instructions that
             cannot be that of their SPE record; 62 undecided
             2 at loop+0xc (operations)
             2 at loop+0xac (operations)
             1 at loop+0x10 (operations)
             and 6 other instructions: --details
  
  $ skidscan audit "$CASES/../data/spe/late.data" --symfs files --format json > json
  $ pick < json recordings.0.events.0.spe_record.contradicted recordings.0.events.0.spe_record.places.0
  recordings.0.events.0.spe_record.contradicted = 11
  recordings.0.events.0.spe_record.places.0 = {"module": "/spe/0/operations", "function": "loop", "offset": 12, "address": "0x40012c", "samples": 2}
  $ holds < json "sum(place['samples'] for place in j['recordings'][0]['events'][0]['spe_record']['places']) == 11"

Samples of an emulated CPU, which has the implementer 0, are marked in each output:

  $ LC_ALL=C sed 's/0x00000000410fd0c0/0x00000000000fd0c0/' "$CASES/../data/spe/sound.data" > emulated.data
  $ for command in audit report correct annotate; do
  >   skidscan $command emulated.data --symfs files 2> none | grep EMULATED
  > done
  EMULATED   an emulated CPU (QEMU) took the samples; their skid is that of the
  EMULATED   an emulated CPU (QEMU) took the samples; their skid is that of the
  EMULATED   an emulated CPU (QEMU) took the samples; their skid is that of the
  EMULATED   an emulated CPU (QEMU) took the samples; their skid is that of the
  $ skidscan inspect emulated.data | grep EMULATED
    EMULATED           an emulated CPU (QEMU) took the samples
