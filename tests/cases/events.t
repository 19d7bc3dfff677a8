`skidscan events` as text and as JSON.

  $ . "$CASES/common.sh"
  $ needs x86-64
  $ of() { cpu=$1; shift; skidscan events --cpu "$cpu" "$@"; }

What is known of an event:

  $ of skl r20d1 > text
  $ sed 's/ V[0-9.][0-9.]*//' text
  CPU            skylake, from Intel's event file skylake
  
  event          MEM_LOAD_RETIRED.L3_MISS
  perf           cpu/event=0xd1,umask=0x20/ or r20d1
  description    Retired load uops which missed the L3
  precise        yes (Intel's event file skylake)
  level 3        same as level 2
  data address   in precise records
  counts         instructions
  caused by      conditional: GP_LOAD (when the access misses there), XMM_LOAD
                 (when the access misses there), YMM_LOAD (when the access misses
                 there), ZMM_LOAD, STR_LOAD (when the access misses there),
                 NT_LOAD (when the access misses there)
                 maybe: PREFETCH, LOCKED_LOAD (other than write-back memory),
                 OTHER_LOAD
                 unknown: OTHER
                 never: IO, MFENCE, CPUID, STORE, BRANCH, COND_BRANCH, JUMP,
                 IND_JUMP, CALL, IND_CALL, RETURN, DIV, VECTOR, FLUSH, LEA, NOP,
                 NOMEM
  trigger        load-dram (1 per iteration)
  erratum        SKL128, SKW118, KBL073, KBW73, Coffee Lake 070: counting only
                 user or only kernel mode (:u, :k) gives wrong counts and PEBS
                 records at the wrong instruction; count both

Of the CPUs of servers and clients, from Intel's event files, which need no libpfm4:

  $ for cpu in spr emr gnr skx lnl ptl adl 6-CF 6-55-4; do
  >   of $cpu MEM_LOAD_RETIRED.L3_MISS --format json 2> /dev/null > json
  >   echo $cpu $(pick < json events.# cpu.name events.0.encoding.raw events.0.precise \
  >     events.0.precise_source events.0.data_la events.0.pdist_counters events.0.level_3 |
  >     sed 's/.*= //')
  > done
  spr 1 "sapphirerapids" "r20d1" true "intel" true [0] "distinct"
  emr 1 "emeraldrapids" "r20d1" true "intel" true [0] "distinct"
  gnr 1 "graniterapids" "r20d1" true "intel" true [0] "distinct"
  skx 1 "skylakex" "r20d1" true "intel" true null "same as level 2"
  lnl 1 "lunarlake" "r20d1" true "intel" true [0, 1] "distinct"
  ptl 1 "pantherlake" "r20d1" true "intel" true [0, 1] "distinct"
  adl 1 "alderlake" "r20d1" true "intel" true [0] "distinct"
  6-CF 1 "emeraldrapids" "r20d1" true "intel" true [0] "distinct"
  6-55-4 1 "skylakex" "r20d1" true "intel" true null "same as level 2"

Of both core types of a hybrid CPU:

  $ of adl r20d1 > text
  $ grep -e cpu_core -e cpu_atom -e PDist text
  event          MEM_LOAD_RETIRED.L3_MISS, cpu_core
  perf           cpu_core/event=0xd1,umask=0x20/ or r20d1
  PDist          counter 0
  event          MEM_LOAD_UOPS_RETIRED.HITM, cpu_atom
  perf           cpu_atom/event=0xd1,umask=0x20/ or r20d1
  PDist          none
  $ of adl MEM_LOAD_RETIRED.L3_MISS > /dev/null
  skidscan: cpu_atom: the event files have no event 'MEM_LOAD_RETIRED.L3_MISS'

Triggers, and a filter by them:

  $ of skl r20d1 --format json | pick events.0.trigger
  events.0.trigger = [{"kind": "load-dram", "verdict": "can", "events_per_iteration": 1.0}]
  $ of skl --list --trigger div > list
  $ grep -o -e ARITH.DIVIDER_ACTIVE -e MEM_LOAD list
  ARITH.DIVIDER_ACTIVE
  $ of skl r20d1 --trigger div
  skidscan: --trigger filters --list; add it
  [64]

Requests to the L2 cache are explained bit by bit:

  $ of hsw r0424 > text
  $ sed -n '/origins/,/^ *[a-z]* *always/p' text
    origins      code read
    results      none
                 always zero: no result is in the umask
  $ of hsw r4124 > text
  $ sed -n '/manual error/,/counts/p' text
  manual error   manuals give umask 0x41 for what 0xc1 counts (rc124)
  $ of ivb r4124 > text
  $ grep origins text
  [1]

The same as JSON:

  $ of hsw r412e L2_RQSTS.DEMAND_DATA_RD_HIT r0424 r4124 --format json > json
  $ pick < json schema cpu.name cpu.description cpu.at_hand cpu.source events.# events.0.name \
  >   events.0.encoding events.0.precise events.0.l2_rqsts events.0.causes.# \
  >   events.1.encoding.raw events.1.manual_errors.# events.1.l2_rqsts.results.# \
  >   events.1.l2_rqsts.corrected_umask events.2.l2_rqsts.always_zero events.2.l2_rqsts.origins \
  >   events.3.manual_errors.# | sed 's/ V[0-9.][0-9.]*//'
  schema = "skidscan.events/1"
  cpu.name = "haswell"
  cpu.description = null
  cpu.at_hand = false
  cpu.source = "Intel's event file haswell"
  events.# = 4
  events.0.name = "LONGEST_LAT_CACHE.MISS"
  events.0.encoding = {"perf": "cpu/event=0x2e,umask=0x41/", "raw": "r412e", "config": "0x412e", "config1": "0x0"}
  events.0.precise = false
  events.0.l2_rqsts = null
  events.0.causes.# = 27
  events.1.encoding.raw = "rc124"
  events.1.manual_errors.# = 0
  events.1.l2_rqsts.results.# = 2
  events.1.l2_rqsts.corrected_umask = null
  events.2.l2_rqsts.always_zero = true
  events.2.l2_rqsts.origins = ["code read"]
  events.3.manual_errors.# = 1

Lists:

  $ of skl --list --precise > list
  $ grep -e 'r81d0' -e LONGEST_LAT_CACHE.MISS list
  r81d0       precise  MEM_INST_RETIRED.ALL_LOADS
  $ of skl --list longest | sed 's/ V[0-9.][0-9.]*//'
  # skylake, from Intel's event file skylake
  r412e       -        LONGEST_LAT_CACHE.MISS
  r4f2e       -        LONGEST_LAT_CACHE.REFERENCE

CPUs by the names of the kernel, QEMU, compilers and perf:

  $ for cpu in SKYLAKE_X Skylake-Server Skylake-Client Icelake-Server ICELAKE_D sapphirerapids_x ATOM_GRACEMONT \
  >     RAPTORLAKE_P EPYC-Milan znver4 amdzen5 EPYC; do
  >   of $cpu --list x > list || echo no $cpu
  >   sed -n '1s/[:,].*//p' list
  > done
  # skylakex
  # skylakex
  # skylake
  # icelakex
  # icelakex
  # sapphirerapids
  # alderlake_gracemont
  # alderlake
  # amd64_fam19h_zen3
  # amd64_fam19h_zen4
  # amd64_fam1ah_zen5
  # amd64_fam17h_zen1

Events of the kernel are named as such:

  $ for event in page-faults:u cpu-clock context-switches access mem:0x10:rw sched:sched_switch LLC-load-misses; do
  >   of skl $event 2>&1 | sed 's/ V[0-9.][0-9.]*/ V/'
  > done
  skidscan: 'page-faults:u': is a software event of the kernel, no event of the CPU: a sample is at the instruction that faulted; 'skidscan record -e faults' measures it (trigger fault)
  skidscan: 'cpu-clock': is a timer of the kernel, no event of the CPU: its samples are where the timer interrupted, and no instruction causes them
  skidscan: 'context-switches': is a software event of the kernel, no event of the CPU: its samples are where the kernel counts it, and no precise level changes them
  skidscan: 'access': is a breakpoint, no event of the CPU: execute breakpoints have no skid, and data breakpoints a known one; 'skidscan record -e access,execute' measures it
  skidscan: 'mem:0x10:rw': is a breakpoint, no event of the CPU: execute breakpoints have no skid, and data breakpoints a known one; 'skidscan record -e access,execute' measures it
  skidscan: 'sched:sched_switch': no such event in Intel's event file skylake V; 'skidscan events --list --cpu skylake PATTERN' lists them; a tracepoint is of the kernel: its samples are where the kernel's code has it
  skidscan: 'LLC-load-misses': is a generic cache event of perf, and it is not known which event the kernel takes for it on this CPU; 'skidscan events --for WHAT --cpu skylake' prints events of the CPU

Unknown names and CPUs:

  $ of skl NO_SUCH 2>&1 | sed 's/ V[0-9.][0-9.]*/ V/'
  skidscan: 'NO_SUCH': no such event in Intel's event file skylake V; 'skidscan events --list --cpu skylake PATTERN' lists them
  $ of skl NO_SUCH 2> /dev/null
  [64]
  $ of no-such cycles 2> err
  [64]
  $ grep -o 'neither.*' err
  neither Intel's event files nor libpfm4 as built for this architecture have it; 'skidscan events --help' states how CPUs are listed and newer event files read
  $ skidscan events --cpus > cpus
  $ grep -e '^skl ' -e '^spr ' -e zen5 -e '^arm_v2' cpus
  skl skylake kabylake kbl coffeelake cfl cometlake cml
  spr sapphirerapids
  amd64_fam1ah_zen5 zen5 amdzen5 znver5 turin
  arm_v2 neoverse_v2
  $ for cpu in $(awk '/^arm/ { next } { print $1 }' cpus); do of $cpu --list > list || echo no $cpu; test -s list || echo empty $cpu; done
  $ of zen4 ibs_op/cnt_ctl=1/
  skidscan: 'ibs_op/cnt_ctl=1/': IBS and SPE sample any operation that passes their filters, and have no events; 'skidscan events --for WHAT --cpu amd64_fam19h_zen4' prints filters for what is to be sampled
  [64]
  $ of hsw skl::L2_RQSTS:MISS
  skidscan: 'skl::L2_RQSTS:MISS' is an event of skl, not of hsw
  [64]
  $ of skl
  skidscan: no event is named; name one, or list them with --list
  [64]

This CPU, or a remedy:

  $ if skidscan events cycles > text 2> err; then tr -s '\n ' '  ' < text | grep -q 'this CPU'; else grep -q 'cpu.*perfmon' err; fi

Names from files are escaped:

  $ mkdir XYZ
  $ printf 'header\nGenuineIntel-6-CF,V1\033[2J,/XYZ/core.json,core,,,\n' > mapfile.csv
  $ cat > XYZ/core.json <<'END'
  > [{"EventName": "A\u001b[31m.B", "EventCode": "0x11", "UMask": "0x22", "PEBS": "1",
  >   "BriefDescription": "x\u0007y", "Errata": "E\u001b1"}]
  > END
  $ of xyz --perfmon . r2211 > text
  $ of xyz --perfmon . --list >> text
  $ of xyz --perfmon . r2211 --format json >> text
  $ of xyz --perfmon . NO_SUCH 2>> text
  [64]
  $ LC_ALL=C grep '[^ -~]' text
  [1]
  $ grep -e '^event' -e precise text | sort -u
        "precise": true,
        "precise_source": "perfmon",
  event          A\x1b[31m.B
  precise        yes (perfmon V1\x1b[2J, xyz)
  r2211       precise  A\x1b[31m.B

Near wordings are understood, others get the names; where this machine has no PMU, a note says so:

  $ skidscan events --for 'L3 cache miss' --cpu zen4 | grep '^to sample'
  to sample      L3 misses
  $ skidscan events --for 'l3 missses' --cpu zen4 2>&1 | grep -o 'did you mean L3 misses'
  did you mean L3 misses
  $ skidscan doctor --format json 2> /dev/null > doctor.json || true
  $ samplers=$(grep -c -e '"core": true' -e '"name": "\(ibs_op\|arm_spe_[0-9]*\)"' doctor.json || true)
  $ known=true  # a CPU without a table is answered with an error
  $ skidscan events --for loads > /dev/null 2> note || known=false
  $ notes=$(grep -c 'this machine has no PMU' note || true)
  $ if ! "$known"; then :; elif [ "$samplers" = 0 ]; then [ "$notes" = 1 ]; else [ "$notes" = 0 ]; fi
